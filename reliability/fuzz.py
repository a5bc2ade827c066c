"""Fuzzing: the native targets by libFuzzer, and those that need Python by loops of edits."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from bearsketch.exceptions import BearError
from bearsketch.io import Limits, open_stream
from bearsketch.training.loop import Training
from reliability import files

NATIVE = ("vw", "svmlight", "fasta", "fastq", "text", "jsonl", "csv", "chunks", "learner")
FOUND = Path("build/fuzz/found")


def native(target: str, runs: int, seconds: int) -> dict[str, Any]:
    """Run one libFuzzer target (``make fuzz`` builds it); executions and crashes."""
    corpus = Path(f"build/fuzz/corpus/{target}")
    corpus.mkdir(parents=True, exist_ok=True)
    FOUND.mkdir(parents=True, exist_ok=True)
    before = set(FOUND.iterdir())
    begun = time.monotonic()
    ran = subprocess.run(
        [
            f"build/fuzz/fuzz/fuzz_{target}",
            f"-runs={runs}",
            f"-max_total_time={seconds}",
            "-timeout=10",
            "-max_len=2000",
            "-print_final_stats=1",
            "-verbosity=0",
            f"-artifact_prefix={FOUND}/{target}-",
            str(corpus),
            f"tests/corpus/{target}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    executed = re.search(r"number_of_executed_units:\s*(\d+)", ran.stderr)
    return {
        "executions": int(executed[1]) if executed else 0,
        "seconds": round(time.monotonic() - begun, 1),
        "crashes": len(set(FOUND.iterdir()) - before) + (ran.returncode not in (0, 77)),
    }


def loop(once: Any, runs: int, deadline: float, seed: int) -> dict[str, Any]:
    """Call a target with fresh random numbers; what it raises is a crash, kept by its number."""
    rng = np.random.default_rng(seed)
    begun = time.monotonic()
    done, crashes, outcomes = 0, [], {}
    while done < runs and time.monotonic() < deadline:
        try:
            kind = once(rng)
        except Exception as error:
            crashes.append(f"execution {done}, seed {seed}: {type(error).__name__}: {error}"[:300])
            kind = "crash"
        outcomes[kind] = outcomes.get(kind, 0) + 1
        done += 1
    return {
        "executions": done,
        "seconds": round(time.monotonic() - begun, 1),
        "crashes": len(crashes),
        "first": crashes[:3],
        "outcomes": outcomes,
    }


def model_load(rng: np.random.Generator) -> str:
    return files.sealed_edit(_model(), rng)


def checkpoint_load(rng: np.random.Generator) -> str:
    return files.sealed_edit(_checkpoint(), rng)


_kept: dict[str, bytes] = {}


def _model() -> bytes:
    if "model" not in _kept:
        _kept["model"] = files.small_model()
    return _kept["model"]


def _checkpoint() -> bytes:
    if "checkpoint" not in _kept:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            _kept["checkpoint"] = files.small_checkpoint(Path(folder), learner="bear", memory="1k")
    return _kept["checkpoint"]


TEXT = b"".join(b"%d |w s%d n%d:%d.5\n" % (i % 2, i % 2, i % 7, i % 3) for i in range(40))
TOKENS = (b" |", b":", b"\n", b"1e38", b"-3e38", b"nan", b"0", b"-1", b"1e-45", b"\x00", b"#", b"|")


def mixed(rng: np.random.Generator) -> bytes:
    """Lines of VW with odd tokens put in."""
    changed = bytearray(files.edit(TEXT, rng))
    for _ in range(int(rng.integers(0, 6))):
        at = int(rng.integers(len(changed) + 1))
        changed[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
    return bytes(changed)


def train_small(rng: np.random.Generator) -> str:
    """A whole run on edited lines: a documented error, or a model of finite numbers."""
    learner = ("bear+", "bear", "mission", "newton", "awm")[int(rng.integers(5))]
    skip = {"on_error": "skip", "max_errors": 10**9} if rng.integers(2) else {}
    try:
        with open_stream(
            io.BytesIO(mixed(rng)), "vw", rows=20, include_unlabelled=False, **skip
        ) as stream:
            step = "auto" if rng.integers(3) else float(10.0 ** rng.integers(-3, 12))
            training = Training(
                stream, learner=learner, width=16, k=3, batch_size=4, step_size=step, threads=1
            )
            training.run()
    except BearError as error:
        return type(error).__name__
    data = training.learner.to_bytes()  # refuses to hold what is not finite
    assert files.Learner.from_bytes(data).to_bytes() == data
    return "trained"


def decompress(rng: np.random.Generator) -> str:
    """Edited gzip: the bytes that zlib gives, or refused; never more than the limit."""
    raw = mixed(rng)
    packed = gzip.compress(raw, mtime=0)
    if rng.integers(4):
        packed = files.edit(packed, rng)
    try:
        with open_stream(
            io.BytesIO(packed),
            "text",
            label_from="none",
            on_error="skip",
            max_errors=10**9,
            allow_empty=True,
            limits=Limits(input_bytes=1 << 20),
        ) as stream:
            lines = sum(1 for _ in stream)
    except BearError as error:
        return type(error).__name__
    if packed[:2] == b"\x1f\x8b":
        gzip.decompress(packed)  # what we took, the reference takes
    return "read" if lines else "empty"


PYTHON = {
    "model_load": model_load,
    "checkpoint_load": checkpoint_load,
    "train_small": train_small,
    "decompress": decompress,
}
