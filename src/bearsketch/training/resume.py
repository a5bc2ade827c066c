"""Going on with a run that stopped, to the same bytes as if it had not.

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
import warnings
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import fields
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bearsketch.batch import Batch
from bearsketch.exceptions import IncompatibleError, ModelFileError
from bearsketch.learners import Learner, make_learner, state
from bearsketch.metrics import Scores, make_scores
from bearsketch.training.checkpoint import Checkpoints, Saved
from bearsketch.training.interrupt import Interrupted, Interrupts
from bearsketch.training.task import Task

if TYPE_CHECKING:
    from bearsketch.training.loop import Training

_COUNTS = ("n_pass", "examples", "held_out", "done", "batches")


class Keeper:
    """Writes the checkpoints of a run and restores it from one; without a folder, does nothing."""

    def __init__(self, training: Training, checkpoints: Checkpoints | None) -> None:
        self._training, self._checkpoints = training, checkpoints
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
        told = "no example was learned yet" if path is None else f"go on from {path} with --resume"
        stopped.args = (f"interrupted; no model was written; {told}",)

    def held(self) -> AbstractContextManager[None]:
        """Put off signals while the state is not whole."""
        if self._checkpoints is None:
            return contextlib.nullcontext()
        return self._interrupts.held()

    def learned(self, batch: Batch, examples: int) -> None:
        """Enter a batch that was learned, and write a checkpoint when it is time."""
        if self._checkpoints is None:
            return
        self._training.batches += 1
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
        """Another trip over the stream begins."""
        self._digest = 0

    def finish(self) -> None:
        """All passes are over, and the data will be read once more to test the model."""
        if self._checkpoints is not None:
            self._training.n_pass += 1
            self._training.batches = 0
            self._write()

    def _write(self) -> None:
        assert self._checkpoints is not None
        arrays, record = capture(self._training)
        inputs = json.dumps(self._inputs).encode()
        arrays["training.inputs"] = np.frombuffer(inputs, dtype=np.uint8)
        record["training"] |= {"digest": self._digest, "asked": _asked(self._training)}
        self._checkpoints.write(arrays, record)
        self._since = 0

    def resume(self) -> bool:
        """Restore the run from the newest checkpoint; False where there is none."""
        if self._checkpoints is None:
            return False
        from bearsketch.io.remember import input_record

        self._inputs = input_record(self._training.stream)
        saved = self._checkpoints.newest() if self._checkpoints.resume else None
        if saved is None:
            return False
        try:
            self._check(saved)
            restore(self._training, saved)
            self._digest = int(saved.record["digest"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            if isinstance(error, IncompatibleError):
                raise
            raise ModelFileError(
                f"{saved.path} is not a usable checkpoint: its run does not fit together ({error})",
                code="CKPT-CONTENTS",
            ) from None
        self._training.resumed = saved.path
        return True

    def _check(self, saved: Saved) -> None:
        then = saved.record["asked"]
        for name, now in _asked(self._training).items():
            _agree(saved, name.replace("_", " "), then.get(name), now)
        inputs = json.loads(saved.arrays["training.inputs"].tobytes())
        _agree(saved, "the number of inputs", len(inputs), len(self._inputs))
        for before, after in zip(inputs, self._inputs, strict=True):
            parts = zip(("name", "size", "time", "ends"), before, after, strict=True)
            for what, theirs, mine in parts:
                _agree(saved, f"{what} of input {after[0]}", theirs, mine)
        task = _task(saved)
        with warnings.catch_warnings(action="ignore"):
            wanted = make_learner(
                loss=task.loss, classes=task.reserved or task.classes, **self._training._parts
            )
        then = saved.learner.config.to_json()
        for name, now in wanted.config.to_json().items():
            _agree(saved, name, then[name], now)

    def skip(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Read what was learned before, check that it is the same, and hand over the rest."""
        rest = iter(batches)
        digest = read = 0
        for batch in itertools.islice(rest, self._training.batches):
            digest = _digest(digest, batch)
            read += 1
        if (read, digest) != (self._training.batches, self._digest):
            raise IncompatibleError(
                "the data are not those that the checkpoint was learned from",
                code="CKPT-DATA",
                hint="Give the same data from their start, also where they come from a pipe.",
            )
        return rest


def _agree(saved: Saved, what: str, then: Any, now: Any) -> None:
    if then != now:
        raise IncompatibleError(
            f"{what} was {then!r} when {saved.path} was written, and is {now!r} now",
            code="CKPT-OTHER",
            hint="Resume with the options and the data of the run that stopped, or start another "
            "one in another folder.",
        )


def _asked(training: Training) -> dict[str, Any]:
    """Collect what a resumed run must have been asked in the same words."""
    from bearsketch import __version__

    options = training.stream.options
    reading = {f"option {spec.name}": repr(getattr(options, spec.name)) for spec in fields(options)}
    wanted = {name: _plain(value) for name, value in training._wanted.items()}
    run = {"passes": training.passes, "holdout": training.holdout}
    return {"version": __version__, **wanted, **run, **reading}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list | np.ndarray) else value


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


def capture(training: Training) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and record of a run between two batches."""
    arrays, record = state.dump(training.learner, exact=True)
    first = getattr(training, "_first_scores", None)
    for name, scores in (("now", training.scores), ("first", first)):
        if scores is not None:
            arrays |= {f"training.{name}.{what}": x for what, x in scores.histogram().items()}
    task = training.task
    record["training"] = {
        **{name: getattr(training, name) for name in _COUNTS},
        "task": [task.loss, task.classes, task.reserved, task.reason],
        "numbers": list(training._numbers),
        "sums": [training._loss, training._weight, training._first_loss],
        "scores": training.scores.sums(),
        "first_scores": None if first is None else first.sums(),
        "curve": training.curve.to_json(),
    }
    return arrays, record


def restore(training: Training, saved: Saved) -> None:
    """Put a run where :func:`capture` found it; raises ValueError or the like on nonsense."""
    record = saved.record
    for name in _COUNTS:
        setattr(training, name, _count(record[name]))
    if training.n_pass != saved.learner.counters["passes"] + 1:
        raise ValueError("the number of the pass")
    if training.n_pass > training.passes + bool(training.holdout):
        raise ValueError("all passes are over")
    if (training.n_pass > 1) != (record["first_scores"] is not None):
        raise ValueError("scores of the first pass")
    training.task = _task(saved)
    training._numbers = {label: number for number, label in enumerate(record["numbers"])}
    training._loss, training._weight = (float(x) for x in record["sums"][:2])
    training._first_loss = None if record["sums"][2] is None else float(record["sums"][2])
    training.learner = saved.learner
    training.scores = _scores(saved, "now", record["scores"])
    if record["first_scores"] is not None:
        training._first_scores = _scores(saved, "first", record["first_scores"])
    training.curve.restore(record["curve"])


def _count(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**63:
        raise ValueError(f"{number!r} is no count")
    return number


def _task(saved: Saved) -> Task:
    loss, classes, reserved, reason = saved.record["task"]
    return Task(loss, None if classes is None else tuple(classes), reserved, reason)


def _scores(saved: Saved, name: str, sums: dict[str, Any]) -> Scores:
    learner: Learner = saved.learner
    scores = make_scores(learner.config.loss, learner.config.n_classes)
    parts = {what: saved.arrays.get(f"training.{name}.{what}") for what in ("bins", "mass")}
    scores.restore(sums, parts["bins"], parts["mass"])
    return scores
