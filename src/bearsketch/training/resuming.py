"""Continuing with a run that stopped, to the same bytes as if it had not.

A checkpoint holds the learner exactly and what the run has counted. The part of the stream that
was learned is read again and not learned: so every count, every type of a column and every limit
comes out as before, for any format, compression or pipe, and a sum over what was read tells data
that changed.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import fields
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bearsketch.batch import Batch, Position
from bearsketch.exceptions import DivergedError, IncompatibleError, ModelFileError
from bearsketch.learners import state
from bearsketch.model_file import Arrays
from bearsketch.training.checkpoint import Checkpoints, Saved, read_run
from bearsketch.training.interrupt import Interrupted, Interrupts
from bearsketch.training.progressive import Progressive

if TYPE_CHECKING:
    from bearsketch.training.session import Session


_COUNTS = ("n_pass", "examples", "held_out", "done", "batches")


class Checkpointing:
    """Writes the checkpoints of a session and restores it from one; without a folder, nothing."""

    def __init__(self, session: Session, checkpoints: Checkpoints | None) -> None:
        self._session, self._checkpoints = session, checkpoints
        self._interrupts = Interrupts()
        self._opened = ExitStack()
        self._digest = 0
        self._since = 0
        self._inputs: list[list[Any]] = []

    def __enter__(self) -> Self:
        if self._checkpoints is not None:
            self._opened.enter_context(self._checkpoints)
            self._opened.enter_context(self._interrupts)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._opened:
            if isinstance(error, Interrupted) and self._checkpoints is not None:
                self._save_at(error)

    def _save_at(self, stopped: Interrupted) -> None:
        assert self._checkpoints is not None
        with contextlib.suppress(Interrupted), self._interrupts.held():
            if self._since:
                self._write()
        path = self._checkpoints.written
        told = (
            "no example was learned yet"
            if path is None
            else f"continue from {path} with {{resume=True}}"
        )
        stopped.args = (f"interrupted; no model was written; {told}",)

    def held(self) -> AbstractContextManager[None]:
        """Put off signals while the state is not whole."""
        if self._checkpoints is None:
            return contextlib.nullcontext()
        return self._interrupts.held()

    @contextlib.contextmanager
    def learning(self, batch: Batch) -> Iterator[None]:
        """Learn a batch: signals wait, and what diverges says where, and what is left of it."""
        with self.held():
            try:
                yield
            except DivergedError as error:
                place = "" if batch.position is None else _shown(batch.position)
                left = None if self._checkpoints is None else self._checkpoints.written
                hint = error.hint if left is None else f"{error.hint} Last checkpoint: {left}."
                raise DivergedError(place + error.message, code=error.code, hint=hint) from None

    def learned(self, batch: Batch, examples: int) -> None:
        """Enter a batch that was learned, and write a checkpoint when it is time."""
        if self._checkpoints is None:
            return
        self._session.batches += 1
        self._digest = _digest(self._digest, batch)
        self._since += examples
        if self._checkpoints.due(self._since):
            self._write()

    def between(self) -> AbstractContextManager[None]:
        """Two passes, or the end: a signal before it is taken, one inside waits for a batch."""
        with self.held():
            pass
        return self._interrupts.held(raises=False)

    def begin_pass(self) -> None:
        """Another pass begins."""
        self._digest = 0

    def finish(self) -> None:
        """All passes are over, and the data will be read once more to test the model."""
        if self._checkpoints is not None:
            self._session.n_pass += 1
            self._session.batches = 0
            self._write()

    def _write(self) -> None:
        assert self._checkpoints is not None
        arrays, record = capture(self._session)
        inputs = json.dumps(self._inputs).encode()
        arrays["training.inputs"] = np.frombuffer(inputs, dtype=np.uint8)
        record["training"] |= {"digest": self._digest, "asked": self._asked()}
        self._checkpoints.write(arrays, record)
        self._since = 0

    def resume(self) -> bool:
        """Restore the run from the newest checkpoint; False where there is none."""
        if self._checkpoints is None:
            return False
        self._inputs = self._input_record()
        saved = self._checkpoints.newest(read_run) if self._checkpoints.resume else None
        if saved is None:
            return False
        try:
            self._check(saved)
            restore(self._session, saved)
            self._digest = int(saved.record["digest"])
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, IncompatibleError):
                raise
            raise ModelFileError(
                f"{saved.path} is not a usable checkpoint: its parts do not agree ({error})",
                code="CKPT-CONTENTS",
            ) from None
        return True

    def _asked(self) -> dict[str, Any]:
        """Collect what a resumed run must have been asked in the same words."""
        from bearsketch import __version__  # another release may round in another way

        session = self._session
        own = {"passes": session.passes, "holdout": session.holdout}
        return {"version": __version__, **session.labelling.asked(), **own, **_reading(session)}

    def _input_record(self) -> list[list[Any]]:
        """Name, size, time of change and a hash of both ends of each input of a stream."""
        from bearsketch.reading.remember import input_record

        return [] if self._session.stream is None else input_record(self._session.stream)

    def _check(self, saved: Saved) -> None:
        then = saved.record["asked"]
        for name, now in self._asked().items():
            _agree(saved, name.replace("_", " "), then.get(name), now)
        inputs = json.loads(saved.arrays["training.inputs"].tobytes())
        _agree(saved, "the number of inputs", len(inputs), len(self._inputs))
        for before, after in zip(inputs, self._inputs, strict=True):
            parts = zip(("name", "size", "time", "ends"), before, after, strict=True)
            for what, theirs, mine in parts:
                _agree(saved, f"{what} of input {after[0]}", theirs, mine)
        then = saved.learner.config.to_json()
        for name, now in self._session.labelling.config(saved).items():
            _agree(saved, name, then[name], now)

    def skip(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Read what was learned before, check that it is the same, and hand over the rest."""
        rest = iter(batches)
        digest = read = 0
        for batch in itertools.islice(rest, self._session.batches):
            digest = _digest(digest, batch)
            read += 1
        if (read, digest) != (self._session.batches, self._digest):
            raise IncompatibleError(
                "the data are not those that the checkpoint was learned from",
                code="CKPT-DATA",
                hint="Give the same data from their start, also where they come from a pipe.",
            )
        return rest


def capture(session: Session) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and record of a session between two batches."""
    arrays, record = state.dump(session.learner, exact=True)
    parts = {"now": session.progressive}
    if session.n_pass > 1:
        parts["first"] = session.first
    plain: dict[str, Any] = {}
    for name, part in parts.items():
        found, plain[name] = part.dump()
        arrays |= {f"training.{name}.{what}": array for what, array in found.items()}
    counts = {name: getattr(session, name) for name in _COUNTS}
    record["training"] = {**counts, **plain, "labels": session.labelling.capture()}
    return arrays, record


def restore(session: Session, saved: Saved) -> None:
    """Put a session where :func:`capture` found it; raises ValueError or the like on nonsense."""
    record = saved.record
    for name in _COUNTS:
        setattr(session, name, _count(record[name]))
    if session.n_pass != saved.learner.counters["passes"] + 1:
        raise ValueError("the number of the pass")
    if session.n_pass > session.passes + bool(session.holdout):
        raise ValueError("all passes are over")
    if (session.n_pass > 1) != ("first" in record):
        raise ValueError("scores of the first pass")
    session.task, session.learner = session.labelling.restore(saved), saved.learner
    session.progressive = session.first = _progressive(saved, "now")
    if session.n_pass > 1:
        session.first = _progressive(saved, "first")
    session.resumed = saved.path


def _progressive(saved: Saved, name: str) -> Progressive:
    config, start = saved.learner.config, f"training.{name}."
    found = Progressive(config.loss, config.n_classes)
    own = {key.removeprefix(start): x for key, x in saved.arrays.items() if key.startswith(start)}
    found.restore(own, saved.record[name])
    return found


def _count(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**63:
        raise ValueError(f"{number!r} is no count")
    return number


def _reading(session: Session) -> dict[str, str]:
    """All options a stream was opened with."""
    if session.stream is None:
        return {}
    options = session.stream.options
    return {f"option {spec.name}": repr(getattr(options, spec.name)) for spec in fields(options)}


def _shown(end: Position) -> str:
    return f"before {end.source}:{end.line}: "


def _agree(saved: Saved, what: str, then: Any, now: Any) -> None:
    if then != now:
        raise IncompatibleError(
            f"{what} was {then!r} when {saved.path} was written, and is {now!r} now",
            code="CKPT-OTHER",
            hint="Resume with the options and the data of the run that stopped, or start another "
            "one in another folder.",
        )


def _digest(before: int, batch: Batch) -> int:
    """Sum over all that was read so far; an entry costs two additions."""
    labels = b"" if batch.labels is None else np.ascontiguousarray(batch.labels).tobytes()
    sums = (
        len(batch),
        int(batch.keys.sum(dtype=np.uint64)),
        int(batch.values.view(np.uint32).sum(dtype=np.uint64)),
        zlib.crc32(np.ascontiguousarray(batch.indptr - batch.indptr[:1]).tobytes()),
        0 if batch.weights is None else zlib.crc32(batch.weights.tobytes()),
    )
    return zlib.crc32(struct.pack("<5Q", *sums) + labels, before)
