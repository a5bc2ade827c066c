"""Labels of a session: what decides the task, and turns labels into the numbers of a loss."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bearsketch.batch import Batch
from bearsketch.exceptions import DataError, LimitError
from bearsketch.learners import Learner, make_learner
from bearsketch.learners.describe import class_labels
from bearsketch.learners.labels import Label
from bearsketch.learners.narrow import keep_classes
from bearsketch.reading.expected import Expected, shown_label
from bearsketch.training.first_rows import FirstRows, plain_label
from bearsketch.training.from_model import earlier_runs
from bearsketch.training.progressive import Numbers
from bearsketch.training.task import Task, decide, expected_labels, found_labels, named_labels

if TYPE_CHECKING:
    from bearsketch.training.checkpoint import Saved


class Labelling(Protocol):
    """What a session asks about labels."""

    @property
    def needs_rows(self) -> bool:
        """Whether the first rows must be seen before a learner can be had."""

    @property
    def every_class(self) -> bool:
        """Whether all classes should come, so that one alone is odd."""

    def enough(self, first: FirstRows) -> bool:
        """Whether these first rows tell the task."""

    def start(self, first: FirstRows | None) -> tuple[Task, Learner]:
        """Decide the task and make the learner."""

    def expected(self) -> Expected | None:
        """Give the labels that examples may have, before and after the first rows."""

    def encode(self, batch: Batch) -> Numbers:
        """Class numbers, or targets, of a batch."""

    def label(self, number: int) -> Label:
        """Label of a class."""

    def classes(self) -> list[Label] | None:
        """Labels of the classes by number, as far as they are known."""

    def settle(self, learner: Learner, *, over: bool) -> Learner:
        """Give the learner of a pass, or of a run, that is over."""

    def record(self, own: dict[str, Any]) -> dict[str, Any]:
        """Add what the model file is to remember to the record of a run."""

    def asked(self) -> dict[str, Any]:
        """Collect what a resumed run must have been asked in the same words, as JSON takes it."""

    def config(self, saved: Saved) -> dict[str, Any]:
        """Give the configuration that this run would have for the task of a saved one."""

    def capture(self) -> Any:
        """Give what a checkpoint keeps, as JSON takes it."""

    def restore(self, saved: Saved) -> Task:
        """Inverse of :meth:`capture`; raises ValueError or the like on nonsense."""


class NewLabels:
    """Labels of a new model, which the first rows decide.

    Parameters
    ----------
    loss, classes, max_classes
        See :func:`bearsketch.training.task.decide`.
    **parts
        Of :func:`bearsketch.make_learner`.
    """

    needs_rows = True

    def __init__(
        self,
        *,
        loss: str = "auto",
        classes: Sequence[Label] | None = None,
        max_classes: int | None = None,
        **parts: Any,
    ) -> None:
        self._wanted: dict[str, Any] = {
            "loss": loss,
            "classes": classes,
            "max_classes": max_classes,
        }
        self._parts = parts
        self._task: Task | None = None
        self._learner: Learner
        self._numbers: dict[Any, int] = {}

    @property
    def every_class(self) -> bool:
        """Whether the classes were found, and not named."""
        return self._wanted["classes"] is None

    def enough(self, first: FirstRows) -> bool:
        """Whether the labels are known beforehand."""
        return self._wanted["classes"] is not None or self._wanted["loss"] == "squared"

    def start(self, first: FirstRows | None) -> tuple[Task, Learner]:
        """Decide the task by the labels, and make its learner."""
        assert first is not None
        task = self._task = decide(first.labels, **self._wanted)
        if task.reserved:
            self._numbers = {label: number for number, label in enumerate(task.classes or ())}
        self._learner = self._make(task)
        return task, self._learner

    def _make(self, task: Task) -> Learner:
        return make_learner(loss=task.loss, classes=task.reserved or task.classes, **self._parts)

    def expected(self) -> Expected | None:
        """Give the labels that were named, or found."""
        if self._task is None or self._wanted["classes"] is not None:
            return named_labels(self._wanted["loss"], self._wanted["classes"])
        return found_labels(self._task)

    def encode(self, batch: Batch) -> Numbers:
        """Class numbers (or targets) of a batch; a class that is new gets a reserved place."""
        assert batch.labels is not None
        if self._task is not None and self._task.reserved:
            for label in sorted(set(batch.labels.tolist())):
                if label not in self._numbers:
                    self._admit(label, batch, self._task.reserved)
            return np.array([self._numbers[label] for label in batch.labels.tolist()], dtype=float)
        labels = self._learner.labels
        labels.met(batch.labels)
        return labels.encode(batch.labels)

    def _admit(self, label: Any, batch: Batch, reserved: int) -> None:
        if len(self._numbers) >= reserved:
            raise LimitError(
                f"{_place(batch, label)}label {shown_label(label)} would be class "
                f"{len(self._numbers) + 1}, and room was kept for {reserved}",
                code="LABEL-CLASSES",
                hint="Raise {max_classes}.",
            )
        self._numbers[plain_label(label)] = len(self._numbers)

    def label(self, number: int) -> Label:
        """Label of a class."""
        return list(self._numbers)[number] if self._numbers else self._learner.labels.label(number)

    def classes(self) -> list[Label] | None:
        """Labels of the classes seen or named so far."""
        return list(self._numbers) if self._numbers else class_labels(self._learner)

    def settle(self, learner: Learner, *, over: bool) -> Learner:
        """Leave out the classes that room was kept for and that did not come."""
        if over and self._numbers:
            learner = self._learner = keep_classes(learner, list(self._numbers))
        return learner

    def record(self, own: dict[str, Any]) -> dict[str, Any]:
        """Add how many classes room was kept for."""
        return {**own, "max_classes": self._wanted["max_classes"]}

    def asked(self) -> dict[str, Any]:
        """Collect loss and classes."""
        return {name: _plain(value) for name, value in self._wanted.items()}

    def config(self, saved: Saved) -> dict[str, Any]:
        """Give the configuration of the learner that this run would make."""
        with warnings.catch_warnings(action="ignore"):  # they came when the first one was made
            return self._make(_task_of(saved)).config.to_json()

    def capture(self) -> Any:
        """Give the task and the numbers of classes."""
        task = self._task
        assert task is not None
        plain = [task.loss, task.classes, task.reserved, task.reason]
        return {"task": plain, "numbers": list(self._numbers)}

    def restore(self, saved: Saved) -> Task:
        """Take up the task and the numbers of a checkpoint."""
        self._task, self._learner = _task_of(saved), saved.learner
        numbers = saved.record["labels"]["numbers"]
        self._numbers = {label: number for number, label in enumerate(numbers)}
        return self._task


class ModelLabels:
    """Labels of a model that there is: nothing is left to decide.

    Parameters
    ----------
    learner : Learner
    place : str
        Where the examples are, for a message about a label.
    every_class : bool
        Whether all classes should come, so that one alone is odd.
    origin : str
        Tells the model from another that a run may have begun with.
    """

    needs_rows = False

    def __init__(
        self, learner: Learner, place: str = "", *, every_class: bool = False, origin: str = ""
    ) -> None:
        self.learner, self._place, self.every_class = learner, place, every_class
        self._origin, self._before = origin, earlier_runs(learner.run)

    def enough(self, first: FirstRows) -> bool:
        """Nothing has to be seen."""
        return True

    def start(self, first: FirstRows | None) -> tuple[Task, Learner]:
        """Give the model itself."""
        config, classes = self.learner.config, self.learner.labels.classes
        return Task(config.loss, classes, 0, "as the model"), self.learner

    def expected(self) -> Expected | None:
        """Give the labels of the model."""
        if self.learner.config.loss == "squared":
            return None
        others = "Train a model that knows the class"
        return expected_labels(self.learner.labels.classes, "of the model", others)

    def encode(self, batch: Batch) -> Numbers:
        """Class numbers of a batch; the model may know of another label than these data have."""
        assert batch.labels is not None
        labels = self.learner.labels
        try:
            numbers = labels.encode(batch.labels)
        except DataError as error:
            if not self._place:
                raise
            message = f"{self._place}: {error.message}"
            raise DataError(message, code=error.code, hint=error.hint) from None
        labels.met(batch.labels)
        return numbers

    def label(self, number: int) -> Label:
        """Label of a class."""
        return self.learner.labels.label(number)

    def classes(self) -> list[Label] | None:
        """Labels of the classes."""
        return class_labels(self.learner)

    def settle(self, learner: Learner, *, over: bool) -> Learner:
        """Give the learner as it is."""
        return learner

    def record(self, own: dict[str, Any]) -> dict[str, Any]:
        """Add the runs that the model has behind it."""
        return {**own, "before": self._before} if self._before else own

    def asked(self) -> dict[str, Any]:
        """Name the model."""
        return {"init": self._origin}

    def config(self, saved: Saved) -> dict[str, Any]:
        """Give the configuration of the model."""
        return self.learner.config.to_json()

    def capture(self) -> Any:
        """Give nothing: the model has all of it."""
        return {}

    def restore(self, saved: Saved) -> Task:
        """Take the learner of a checkpoint for the model."""
        self.learner = saved.learner
        return self.start(None)[0]


def _task_of(saved: Saved) -> Task:
    loss, classes, reserved, reason = saved.record["labels"]["task"]
    return Task(loss, None if classes is None else tuple(classes), reserved, reason)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list | np.ndarray) else value


def _place(batch: Batch, label: Any) -> str:
    if batch.places is None or batch.labels is None:
        return ""
    source, line = batch.places.of(int(np.argmax(batch.labels == label)))
    return f"{source}:{line}: "
