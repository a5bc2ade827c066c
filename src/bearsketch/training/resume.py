"""What a checkpoint keeps of a :class:`~bearsketch.training.loop.Training`, and how to continue."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bearsketch.learners import Learner, make_learner, state
from bearsketch.metrics import Scores, make_scores
from bearsketch.model_file import Arrays
from bearsketch.training.checkpoint import Saved
from bearsketch.training.order import Order
from bearsketch.training.task import Task

if TYPE_CHECKING:
    from bearsketch.reading import Stream
    from bearsketch.training.loop import Training

_COUNTS = ("n_pass", "examples", "held_out", "done", "batches")


class TrainingRun:
    """A training run as a keeper sees it."""

    def __init__(self, training: Training) -> None:
        self._training = training

    @property
    def n_pass(self) -> int:
        """Number of the pass, from 1."""
        return self._training.n_pass

    @n_pass.setter
    def n_pass(self, number: int) -> None:
        self._training.n_pass = number

    @property
    def batches(self) -> int:
        """Batches so far in this pass."""
        return self._training.batches

    @batches.setter
    def batches(self, number: int) -> None:
        self._training.batches = number

    def asked(self) -> dict[str, Any]:
        """Collect what a resumed run must have been asked in the same words."""
        training = self._training
        wanted = {name: _plain(value) for name, value in training._wanted.items()}
        run = {"passes": training.passes, "holdout": training.holdout}
        return {**version(), **wanted, **run, **reading(training.stream)}

    def inputs(self) -> list[list[Any]]:
        """Tell what the inputs are now."""
        from bearsketch.reading.remember import input_record

        return input_record(self._training.stream)

    def config(self, saved: Saved) -> dict[str, Any]:
        """Give the configuration of the learner that this run would make."""
        task = _task(saved)
        with warnings.catch_warnings(action="ignore"):  # they came when the first one was made
            learner = make_learner(
                loss=task.loss, classes=task.reserved or task.classes, **self._training._parts
            )
        return learner.config.to_json()

    def capture(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and record of a run between two batches."""
        return capture(self._training)

    def restore(self, saved: Saved) -> None:
        """Put the run where it was captured."""
        restore(self._training, saved)
        self._training.resumed = saved.path


def version() -> dict[str, str]:
    """Name the release: another one may round in another way."""
    from bearsketch import __version__

    return {"version": __version__}


def reading(stream: Stream) -> dict[str, str]:
    """All options a stream was opened with."""
    options = stream.options
    return {f"option {spec.name}": repr(getattr(options, spec.name)) for spec in fields(options)}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list | np.ndarray) else value


def capture(training: Training) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and record of a run between two batches."""
    arrays, record = state.dump(training.learner, exact=True)
    first = getattr(training, "_first_scores", None)
    for name, scores in (("now", training.scores), ("first", first)):
        if scores is not None:
            arrays |= {f"training.{name}.{what}": x for what, x in scores.histogram().items()}
    if training.order is not None:
        arrays["training.order"] = training.order.to_array()
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
    if training.classes is not None:
        training.order = Order(saved.learner.config.n_classes)
        training.order.restore(saved.arrays["training.order"])


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
