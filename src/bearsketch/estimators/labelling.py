"""Labels of an estimator's session: its classes and their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bearsketch.batch import Batch
from bearsketch.estimators.targets import Array, ClassMap, first_classes
from bearsketch.exceptions import DataError
from bearsketch.learners import Learner
from bearsketch.learners.labels import Label
from bearsketch.reading.expected import Expected
from bearsketch.training.first_rows import FirstRows
from bearsketch.training.progressive import Numbers
from bearsketch.training.task import Task, named_labels

if TYPE_CHECKING:
    from bearsketch.estimators.base import SketchEstimator
    from bearsketch.training.checkpoint import Saved

SIDES = (-1, 0, 1)  # a label that may be one of two


class EstimatorLabels:
    """What a session asks about labels, answered by an estimator.

    Parameters
    ----------
    estimator : SketchEstimator
    seed : int
    classes : array-like, optional
        As they were declared.
    known : ClassMap, optional
        Classes that are known already.
    columns : int, optional
        Columns of a matrix.
    numbered : bool
        Whether batches have class numbers for labels.
    """

    needs_rows = True

    def __init__(
        self,
        estimator: SketchEstimator,
        seed: int,
        classes: Any = None,
        *,
        known: ClassMap | None = None,
        columns: int | None = None,
        numbered: bool = False,
    ) -> None:
        self._estimator, self._seed, self._classes = estimator, seed, classes
        self._known, self._columns, self._numbered = known, columns, numbered
        self._found: Array | None = None

    @property
    def every_class(self) -> bool:
        """Whether the classes are those that come."""
        return self._classes is None and self._known is None

    @property
    def _open(self) -> bool:
        return self.every_class and self._estimator._classifies()

    def enough(self, first: FirstRows) -> bool:
        """Whether the different labels so far tell the classes."""
        if not self._open:
            return True
        new = np.unique(np.asarray(first.batches[-1].labels))
        found = new if self._found is None else np.unique(np.concatenate([self._found, new]))
        self._found = found
        return are_enough(found, self._estimator.max_classes)

    def start(self, first: FirstRows | None) -> tuple[Task, Learner]:
        """Make the learner by the first labels, unless classes say all."""
        estimator = self._estimator
        if first is None or not first.batches:
            raise DataError("the stream must hold examples, got none", code="DATA-EMPTY")
        found = self._known
        if self._found is not None:
            found = first_classes(self._found, estimator.max_classes)
        estimator._start(found or estimator._class_map(self._classes), self._columns, self._seed)
        return self._task(), estimator.learner_

    def _task(self) -> Task:
        return Task(self._estimator.learner_.config.loss, None, 0, "")

    def expected(self) -> Expected | None:
        """Give the labels that were declared."""
        return named_labels("auto" if self._estimator._classifies() else "squared", self._classes)

    def encode(self, batch: Batch) -> Numbers:
        """Class numbers of a batch; may add classes."""
        labels = np.asarray(batch.labels)
        return labels if self._numbered else self._estimator._encode(labels)

    def label(self, number: int) -> Label:
        """Label of a class."""
        known = self._estimator._known_classes()
        assert known is not None
        found: Label = known.classes[known.numbers == number][0].item()
        return found

    def classes(self) -> list[Label] | None:
        """Labels of the classes by number."""
        if not self._estimator._classifies():
            return None
        order = np.argsort(self._estimator._class_numbers)
        found: list[Label] = self._estimator.classes_[order].tolist()
        return found

    def settle(self, learner: Learner, *, over: bool) -> Learner:
        """Name the other class, where 1 is all that came of two."""
        known = self._estimator._known_classes()
        if known is not None:
            self._estimator._set_classes(known.settled())
        return learner

    def record(self, own: dict[str, Any]) -> dict[str, Any]:
        """Give the record as it is."""
        return own

    def asked(self) -> dict[str, Any]:
        """Collect parameters and declared classes."""
        given = {name: repr(value) for name, value in self._estimator.get_params().items()}
        classes = None if self._classes is None else np.asarray(self._classes).tolist()
        return {**given, "classes": classes}

    def config(self, saved: Saved) -> dict[str, Any]:
        """Give nothing that the parameters do not say."""
        return {}

    def capture(self) -> Any:
        """Give the classes so far, by number."""
        return self.classes()

    def restore(self, saved: Saved) -> Task:
        """Put the estimator where it was captured."""
        estimator, config, seen = self._estimator, saved.learner.config, saved.record["labels"]
        estimator._forget_columns()
        estimator.learner_ = saved.learner
        if seen is not None:
            values = np.array(seen)
            order = np.argsort(values)
            estimator._set_classes(ClassMap(values[order], order, config.n_classes, config.loss))
        return self._task()


def are_enough(labels: Array, max_classes: int | None) -> bool:
    """Whether labels tell the classes: not while they may be one side of two.

    Without a ``max_classes``, not either before there are both: there may be more of others.

    Examples
    --------
    >>> [are_enough(np.array(seen), None) for seen in ([1], [0, 1], ["a", "b", "c"])]
    [False, True, False]
    """
    one_side = labels.dtype.kind in "biuf" and len(labels) == 1 and labels[0] in SIDES
    return not one_side and (max_classes is not None or first_classes(labels) is not None)
