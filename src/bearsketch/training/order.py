"""The labels of a pass in their order: long runs of one label are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Places
from bearsketch.metrics import NumberScores
from bearsketch.training.warnings import RunWarning

Reals = npt.NDArray[np.float64]

# Fewer changes of label than this share of those in a random order are warned of, from so many
# examples on.
FEW_CHANGES, LEAST_EXAMPLES = 0.1, 1000


class Order:
    """How often the label changes from one example to the next, and how often each class comes.

    Its size is that of the classes, however many examples there are. Examples that are pieces of
    one record (``--window``) are neighbours with one label in any order of the records, so that
    the changes are those of records, where there are enough of them to tell.

    Examples
    --------
    >>> order = Order(2)
    >>> order.add(np.repeat([0.0, 1.0], 1000))
    >>> order.changes, order.by_chance
    (1, 1000.0)
    """

    def __init__(self, n_classes: int) -> None:
        self.changes = self.records = 0
        self._last = self._line = -1
        self._counts, self._weights = np.zeros((2, n_classes))

    def add(
        self,
        numbers: npt.NDArray[Any],
        weights: Reals | None = None,
        places: Places | None = None,
    ) -> None:
        """Enter the class numbers of examples, in their order; changes ignore the weights."""
        if len(numbers) == 0:
            return
        if places is None:
            self.records, self._line = self.records + len(numbers), -1
        else:
            self.records += _changes(places.lines) + (int(places.lines[0]) != self._line)
            self._line = int(places.lines[-1])
        self.changes += _changes(numbers) + (self._last not in (-1, int(numbers[0])))
        self._last = int(numbers[-1])
        numbers = numbers.astype(np.intp)
        counts = np.bincount(numbers, None, len(self._counts))
        self._counts += counts
        self._weights += counts if weights is None else np.bincount(numbers, weights, len(counts))

    def join(self, later: Order) -> None:
        """Enter what another has counted; the change from this one to it is not known."""
        self.changes += later.changes
        self.records += later.records
        self._last = self._line = -1
        self._counts = self._counts + later._counts
        self._weights = self._weights + later._weights

    @property
    def examples(self) -> int:
        """Examples so far."""
        return int(self._counts.sum())

    @property
    def only(self) -> int | None:
        """Number of the class that all examples have; None where there are several, or none."""
        found = np.flatnonzero(self._counts)
        return int(found[0]) if len(found) == 1 else None

    @property
    def by_chance(self) -> float:
        """Changes to expect of these labels in a random order."""
        shares = self._counts / max(self.examples, 1)
        n = self.records if self.records >= LEAST_EXAMPLES else self.examples
        return n * (1.0 - float((shares**2).sum()))

    def guessing(self) -> tuple[float, float]:
        """Log-loss of always giving each class its share: its mean and spread over examples."""
        shares = self._weights[self._weights > 0.0] / max(float(self._weights.sum()), 1e-300)
        mean = -float((shares * np.log(shares)).sum())
        return mean, float(np.sqrt((shares * (np.log(shares) + mean) ** 2).sum()))

    def warning(self, passes: int = 1) -> RunWarning | None:
        """Warn of labels that come in long runs."""
        if self.examples < LEAST_EXAMPLES or self.changes >= FEW_CHANGES * self.by_chance:
            return None
        facts = {"runs": self.changes + 1, "examples": self.examples, "expected": self.by_chance}
        return RunWarning("DATA-ORDER", {"passes": passes, **facts})

    def to_array(self) -> Reals:
        """All it needs to continue."""
        numbers = [self.changes, self._last, self.records, self._line]
        return np.concatenate([numbers, self._counts, self._weights])

    def restore(self, array: Reals) -> None:
        """Inverse of :meth:`to_array`; raises ValueError on nonsense."""
        n = len(self._counts)
        if array.shape != (4 + 2 * n,) or not np.isfinite(array).all():
            raise ValueError("labels must be counted once for each class")
        self.changes, self._last, self.records, self._line = map(int, array[:4])
        self._counts, self._weights = array[4:].reshape(2, n).copy()


def _changes(values: npt.NDArray[Any]) -> int:
    return int(np.count_nonzero(values[1:] != values[:-1]))


def smooth_targets(scores: NumberScores, passes: int = 1) -> RunWarning | None:
    """Warn of targets that hardly change from one example to the next."""
    rough = scores.roughness
    if rough is None or scores.examples < LEAST_EXAMPLES or rough >= FEW_CHANGES:
        return None
    return RunWarning("DATA-ORDER", {"passes": passes, "rough": rough})
