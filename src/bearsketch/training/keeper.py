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
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from bearsketch.batch import Batch, Position
from bearsketch.exceptions import DivergedError, IncompatibleError, ModelFileError
from bearsketch.model_file import Arrays
from bearsketch.training.checkpoint import Checkpoints, Saved, read_run
from bearsketch.training.interrupt import Interrupted, Interrupts


class Run(Protocol):
    """What a keeper has to know of the run it keeps."""

    n_pass: int
    batches: int

    def asked(self) -> dict[str, Any]:
        """Collect what a resumed run must have been asked in the same words, as JSON takes it."""

    def inputs(self) -> list[list[Any]]:
        """Name, size, time of change and a hash of both ends of each input."""

    def capture(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and record of the learner and of the run, which has ``training`` of its own."""

    def config(self, saved: Saved) -> dict[str, Any]:
        """Give the configuration of this run's learner, for the task the saved one detected."""

    def restore(self, saved: Saved) -> None:
        """Put the run where it was captured; raises ValueError or the like on nonsense."""


class Keeper:
    """Writes the checkpoints of a run and restores it from one; without a folder, does nothing."""

    def __init__(self, run: Run, checkpoints: Checkpoints | None) -> None:
        self._run, self._checkpoints = run, checkpoints
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

    @property
    def n_pass(self) -> int:
        """Number of the pass, from 1."""
        return self._run.n_pass

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
        self._run.batches += 1
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
        """Another pass over the stream begins."""
        self._run.n_pass += 1
        self._run.batches = self._digest = 0

    def finish(self) -> None:
        """All passes are over, and the data will be read once more to test the model."""
        if self._checkpoints is not None:
            self._run.n_pass += 1
            self._run.batches = 0
            self._write()

    def _write(self) -> None:
        assert self._checkpoints is not None
        arrays, record = self._run.capture()
        inputs = json.dumps(self._inputs).encode()
        arrays["training.inputs"] = np.frombuffer(inputs, dtype=np.uint8)
        record["training"] |= {"digest": self._digest, "asked": self._run.asked()}
        self._checkpoints.write(arrays, record)
        self._since = 0

    def resume(self) -> bool:
        """Restore the run from the newest checkpoint; False where there is none."""
        if self._checkpoints is None:
            return False
        self._inputs = self._run.inputs()
        saved = self._checkpoints.newest(read_run) if self._checkpoints.resume else None
        if saved is None:
            return False
        try:
            self._check(saved)
            self._run.restore(saved)
            self._digest = int(saved.record["digest"])
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, IncompatibleError):
                raise
            raise ModelFileError(
                f"{saved.path} is not a usable checkpoint: its run does not fit together ({error})",
                code="CKPT-CONTENTS",
            ) from None
        return True

    def _check(self, saved: Saved) -> None:
        then = saved.record["asked"]
        for name, now in self._run.asked().items():
            _agree(saved, name.replace("_", " "), then.get(name), now)
        inputs = json.loads(saved.arrays["training.inputs"].tobytes())
        _agree(saved, "the number of inputs", len(inputs), len(self._inputs))
        for before, after in zip(inputs, self._inputs, strict=True):
            parts = zip(("name", "size", "time", "ends"), before, after, strict=True)
            for what, theirs, mine in parts:
                _agree(saved, f"{what} of input {after[0]}", theirs, mine)
        then = saved.learner.config.to_json()
        for name, now in self._run.config(saved).items():
            _agree(saved, name, then[name], now)

    def skip(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Read what was learned before, check that it is the same, and hand over the rest."""
        rest = iter(batches)
        digest = read = 0
        for batch in itertools.islice(rest, self._run.batches):
            digest = _digest(digest, batch)
            read += 1
        if (read, digest) != (self._run.batches, self._digest):
            raise IncompatibleError(
                "the data are not those that the checkpoint was learned from",
                code="CKPT-DATA",
                hint="Give the same data from their start, also where they come from a pipe.",
            )
        return rest


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
