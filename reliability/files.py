"""Damage to model files and checkpoints: every cut, every flipped bit, random edits."""

from __future__ import annotations

import hashlib
import io
import time
from pathlib import Path
from typing import Any

import numpy as np

from bearsketch import Batch, ModelFileError, make_learner, model_file
from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.session import Session


def small_model() -> bytes:
    learner = make_learner(k=2, width=8, batch_size=4)
    rows = [["free", "prize"], ["meeting", "notes"], ["free"], ["notes"]]
    learner.learn(Batch.from_rows(rows, [1, -1, 1, -1]))
    return learner.to_bytes()


CHECKPOINT_TEXT = b"".join(b"%d |w s%d n%d\n" % (i % 2, i % 2, i % 50) for i in range(400))


def small_checkpoint(folder: Path, **options: Any) -> bytes:
    """Last checkpoint of a short run."""
    text = io.BytesIO(CHECKPOINT_TEXT)
    with open_stream(text, "vw", rows=20, include_unlabelled=False) as stream:
        kept = Checkpoints(folder, 100, resume=True)
        Session(stream, checkpoint=kept, **{"memory": "256", "k": 2, **options}).run()
    assert kept.written is not None
    found = kept.written.read_bytes()
    kept.forget()
    return found


def refused(data: bytes) -> bool:
    try:
        model_file.unpack(data)
    except ModelFileError:
        return True
    return False


def cuts_and_flips(sound: bytes) -> dict[str, int]:
    """Every length, and every bit of a file."""
    cuts = sum(refused(sound[:length]) for length in range(len(sound)))
    flips = 0
    changed = bytearray(sound)
    for at in range(len(sound)):
        for bit in range(8):
            changed[at] ^= 1 << bit
            flips += refused(bytes(changed))
            changed[at] ^= 1 << bit
    return {
        "bytes": len(sound),
        "cuts": len(sound),
        "cuts_refused": cuts,
        "flips": 8 * len(sound),
        "flips_refused": flips,
    }


def edit(sound: bytes, rng: np.random.Generator) -> bytes:
    """Copy of a file with some bytes replaced, inserted, deleted or copied."""
    changed = bytearray(sound)
    for _ in range(int(rng.integers(1, 4))):
        start, length = int(rng.integers(len(changed))), int(rng.integers(1, 24))
        kind = int(rng.integers(4))
        noise = rng.bytes(length)
        if kind == 0:
            changed[start : start + length] = noise
        elif kind == 1:
            changed[start:start] = noise
        elif kind == 2:
            del changed[start : start + length]
        else:
            other = int(rng.integers(len(changed) or 1))
            changed[start : start + length] = changed[other : other + length]
        if not changed:
            break
    return bytes(changed)


def random_edits(sound: bytes, n: int, deadline: float, seed: int = 0) -> dict[str, int]:
    """Edits without a new checksum: all refused."""
    rng = np.random.default_rng(seed)
    tried = found = 0
    while tried < n and time.monotonic() < deadline:
        changed = edit(sound, rng)
        if changed != sound:
            tried += 1
            found += refused(changed)
    return {"edits": tried, "edits_refused": found}


def reseal(data: bytes) -> bytes | None:
    """Put the right checksum into an edited file, where it still has a place for one."""
    at = data.rfind(model_file.DIGEST_MARK)
    at += len(model_file.DIGEST_MARK)
    if at < len(model_file.DIGEST_MARK) or at + 64 > len(data):
        return None
    blank = data[:at] + model_file.NO_DIGEST + data[at + 64 :]
    return blank[:at] + hashlib.sha256(blank).hexdigest().encode() + blank[at + 64 :]
