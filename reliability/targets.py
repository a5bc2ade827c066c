"""Fuzz targets that need Python: each is one execution on an input drawn at random."""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import io
import json
import lzma
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bearsketch import Batch, Learner, make_learner, model_file
from bearsketch.exceptions import BearError, DivergedError, IncompatibleError
from bearsketch.learners import state
from bearsketch.learners.average import average
from bearsketch.reading import Stream, open_stream
from bearsketch.reading.codecs import MAGIC_BYTES, _zstd_module, codec_of, decode
from bearsketch.reading.limits import Limits
from bearsketch.training.checkpoint import Saved
from bearsketch.training.resuming import Checkpointing
from bearsketch.training.session import Session
from reliability import files

PROBE = Batch([0, 2, 3], [3, 4, 5], [1.0, -1.0, 2.0], labels=[1, 0])
TEXT = b"".join(b"%d |w s%d n%d:%d.5\n" % (i % 2, i % 2, i % 7, i % 3) for i in range(40))
TOKENS = (b" |", b":", b"\n", b"1e38", b"-3e38", b"nan", b"0", b"-1", b"1e-45", b"\x00", b"#", b"|")


def _check_finite(learner: Learner) -> None:
    assert all(
        np.isfinite(array).all()
        for array in state.dump(learner)[0].values()
        if array.dtype.kind == "f"
    )


ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 7, 2**31, 2**63, 2**64, 10**400, -0.5, 1e308, 5e-324, "", "1", "int8"),
    *([], {}, [1], [[]], {"a": 1}, "\x00", "x" * 300),
)


def _damaged(sound: bytes, rng: np.random.Generator) -> bytes:
    """Half of the time edit bytes, mostly with a right checksum; else change what the file says."""
    if rng.integers(2):
        return _tampered(sound, rng)
    changed = files.edit(sound, rng)
    return (files.reseal(changed) if rng.integers(8) else None) or changed


@functools.cache
def _opened(sound: bytes) -> tuple[model_file.Arrays, str]:
    arrays, record = model_file.unpack(sound)
    return arrays, json.dumps(record)


def _tampered(sound: bytes, rng: np.random.Generator) -> bytes:
    """A sealed file with one array or one entry of its record changed."""
    arrays, text = _opened(sound)
    record = json.loads(text)
    if rng.integers(2):
        node: Any = record
        while True:
            name = list(node)[rng.integers(len(node))] if isinstance(node, dict) else None
            name = int(rng.integers(len(node))) if name is None else name
            if not isinstance(node[name], dict | list) or not node[name] or not rng.integers(4):
                break
            node = node[name]
        node[name] = ODD[rng.integers(len(ODD))]
        return model_file.pack(arrays, record)
    names = list(arrays)
    name = names[rng.integers(len(names))]
    return model_file.pack({**arrays, name: _changed(arrays[name], rng)}, record)


def _changed(array: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    kind = rng.integers(8)
    if kind == 0:
        return array[: len(array) // 2]
    if kind == 1:
        return np.concatenate([array, array])
    if kind == 2:
        return array.astype(("float32", "float64", "uint64", "uint8")[rng.integers(4)])
    data = bytearray(array.tobytes())
    for _ in range(1 + rng.integers(3) if data else 0):
        data[rng.integers(len(data))] = rng.integers(256)
    return np.frombuffer(bytes(data), dtype=array.dtype).reshape(array.shape)


@functools.cache
def _model() -> bytes:
    return files.small_model()


def model_load(rng: np.random.Generator) -> str:
    """Refused, or a model that is finite and saves as it is."""
    try:
        learner = Learner.from_bytes(_damaged(_model(), rng))
        learner.predict_margin(PROBE) if learner.naming == "id" else learner.weights_of([3, 4])
        again = learner.to_bytes()
    except BearError:
        return "refused"
    assert Learner.from_bytes(again).to_bytes() == again
    _check_finite(learner)
    return "used"


def _stream() -> Stream:
    text = io.BytesIO(files.CHECKPOINT_TEXT)
    return open_stream(text, "vw", rows=20, include_unlabelled=False)


_PARTS = {"learner": "bear", "memory": "1k", "k": 2}


@functools.cache
def _checkpoint() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return files.small_checkpoint(Path(folder), **_PARTS)


@functools.cache
def _more_rows() -> Batch:
    with _stream() as stream:
        return next(iter(stream))


class _OneCheckpoint:
    """What a session asks of a folder, for a checkpoint in memory."""

    resume = True

    def __init__(self, saved: Saved) -> None:
        self._saved = saved

    def newest(self, read: object) -> Saved:
        return self._saved


def checkpoint_load(rng: np.random.Generator) -> str:
    """Refused, or a run that goes on from there: one training step leaves finite numbers."""
    try:
        arrays, plain = model_file.unpack(_damaged(_checkpoint(), rng))
        record, fill_in = state.read(arrays, plain, "checkpoint")
        learner = Learner(record.config, record.labels)
        fill_in(learner)
    except BearError:
        return "refused"
    saved = Saved(Path("checkpoint"), learner, arrays, plain.get("training", {}))
    resumed = _resumes(saved)
    try:
        learner.learn(_more_rows())
    except DivergedError:
        pass
    except BearError:
        return "refused a step"
    _check_finite(learner)
    return "resumed" if resumed else "another run's"


@functools.cache
def _run() -> Session:
    """One run for all checkpoints, as each sets everything anew."""
    return Session(_stream(), **_PARTS)


def _resumes(saved: Saved) -> bool:
    try:
        return Checkpointing(_run(), _OneCheckpoint(saved)).resume()  # type: ignore[arg-type]
    except BearError:
        return False


def mixed(rng: np.random.Generator) -> bytes:
    """Lines of VW with odd tokens put in."""
    changed = bytearray(files.edit(TEXT, rng))
    for _ in range(int(rng.integers(0, 6))):
        at = int(rng.integers(len(changed) + 1))
        changed[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
    return bytes(changed)


# How each kind is written, and a decoder of the library that is the reference.
CODECS: tuple[tuple[Callable[[bytes], bytes], Callable[[], Any]], ...] = (
    (lambda data: gzip.compress(data, mtime=0), lambda: zlib.decompressobj(wbits=31)),
    (lambda data: bytes(_zstd_module().compress(data)), lambda: _zstd_module().ZstdDecompressor()),
    (lzma.compress, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    (bz2.compress, bz2.BZ2Decompressor),
)


def _reference(kind: int, data: bytes) -> bytes:
    """All members, each at once, with zeros between and behind them."""
    found = b""
    while data:
        decoder = CODECS[kind][1]()
        found += decoder.decompress(data)
        assert decoder.eof
        data = decoder.unused_data.lstrip(b"\0")
    return found


@functools.cache
def _packed() -> list[list[bytes]]:
    """Inputs of each kind: one member, two, zeros behind, nothing in it."""
    raw = [TEXT, TEXT[:100], b"1 | a\n" * 2000, bytes(range(256)), b""]
    found = []
    for pack, _ in CODECS:
        one = [pack(data) for data in raw]
        found.append([*one, one[0] + one[1], one[1] + bytes(9), one[2] + one[4] + one[1]])
    return found


READ_LIMIT = 1 << 20


def decompress(rng: np.random.Generator) -> str:
    """Edited files: the bytes that the reference gives, or refused; chunks stay small."""
    kind = int(rng.integers(len(CODECS)))
    choices = _packed()[kind]
    data = choices[int(rng.integers(len(choices)))]
    if rng.integers(8):
        data = files.edit(data, rng)
    source = io.BytesIO(data)
    head = source.read(MAGIC_BYTES + int(rng.integers(40)))
    codec = codec_of(head, "input")
    if codec is None:
        return "plain"
    got = bytearray()
    try:
        for chunk in decode(codec, head, source.read, "input", Limits()):
            assert 0 < len(chunk) <= READ_LIMIT
            got += chunk
            if len(got) > READ_LIMIT:
                return "long"
    except BearError as error:
        return error.code
    assert _reference(kind, data) == got
    return "read"


def _rows(rng: np.random.Generator) -> Batch:
    """Two to five examples of up to six features, one value in sixteen a wild one."""
    n = int(rng.integers(2, 6))
    counts = rng.integers(0, 7, n)
    keys = [np.sort(rng.choice(40, count, replace=False)) for count in counts]
    values = rng.normal(size=int(counts.sum())).astype(np.float32)
    wild = rng.integers(0, 16, len(values)) == 0
    values[wild] *= np.float32(10.0) ** rng.integers(-30, 30, int(wild.sum())).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Batch(indptr, np.concatenate(keys), values, labels=rng.integers(0, 2, n))


_KEYS = np.arange(40, dtype=np.uint64)
_KINDS = (
    {"learner": "bear+"},
    {"learner": "bear+", "precision": "int8"},
    {"learner": "bear"},
    {"learner": "mission"},
    {"learner": "awm", "precision": "float64"},
)


@functools.cache
def _made(kind: int, seed: int) -> Learner:
    return make_learner(width=16, k=3, batch_size=4, seed=seed, **_KINDS[kind])


def _part(kind: int, seed: int, rng: np.random.Generator) -> Learner:
    made = _made(kind, seed)
    learner = Learner(made.config, made.labels)
    with contextlib.suppress(DivergedError):
        learner.learn(_rows(rng))
    return learner


_parts: dict[int, list[Learner]] = {}


def _two_parts(kind: int, rng: np.random.Generator) -> tuple[Learner, Learner]:
    """Two of 64, one of which is made anew every other time: averaging leaves them as they are."""
    if kind not in _parts:
        _parts[kind] = [_part(kind, 0, rng) for _ in range(64)]
    kept = _parts[kind]
    i, j = rng.integers(len(kept), size=2)
    if rng.integers(2):
        kept[i] = _part(kind, 0, rng)
    return kept[i], kept[j]


def merge(rng: np.random.Generator) -> str:
    """Two parts, averaged in either order: the same finite weights; another seed is refused."""
    kind = int(rng.integers(len(_KINDS)))
    one, other = _two_parts(kind, rng)
    if rng.integers(16) == 0:
        try:
            average([one, _part(kind, 1, rng)])
        except IncompatibleError:
            return "refused"
        raise AssertionError("parts of two seeds were averaged")
    forth, back = average([one, other]), average([other, one])
    weights = forth.weights_of(_KEYS)
    assert np.isfinite(weights).all()
    assert np.array_equal(weights, back.weights_of(_KEYS))
    return "averaged"


def whole_run(rng: np.random.Generator) -> str:
    """A run from the text to the model file: a documented error, or a model of finite numbers."""
    learner = ("bear+", "bear", "mission", "newton", "awm")[int(rng.integers(5))]
    skip = {"on_error": "skip", "max_errors": 10**9} if rng.integers(2) else {}
    text = io.BytesIO(mixed(rng))
    try:
        with open_stream(text, "vw", rows=20, include_unlabelled=False, **skip) as stream:
            step = "auto" if rng.integers(3) else float(10.0 ** rng.integers(-3, 12))
            training = Session(
                stream, learner=learner, width=16, k=3, batch_size=4, step_size=step, threads=1
            )
            training.run()
    except BearError as error:
        return type(error).__name__
    data = training.learner.to_bytes()  # refuses to hold what is not finite
    assert Learner.from_bytes(data).to_bytes() == data
    return "trained"


PYTHON = {"model_load": model_load, "checkpoint_load": checkpoint_load, "decompress": decompress}
# Each takes a millisecond or more: for as long as there is time.
SLOW = {"merge": merge, "whole_run": whole_run}
