"""Values of the first examples, by feature."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.escape import visible
from bearsketch.keys import key_name
from bearsketch.training.wild import hold_wild

LARGE, MOST_NAMED = 4.0, 3
# Means so many times the spread of the values are far from 0; what such a share of the examples
# has is common.
MEAN_SPREADS, COMMON, LEAST_COMMON = 3.0, 0.9, 50
# Values that grow from nearly every example to the next, if there are so many of them.
GROWS, LEAST_GROWING = 0.95, 50
MOST_ENTRIES = 50_000  # looked at: enough to tell, and little memory
# Of long rows, so many in all where that is not too much of them.
LONG_ROWS, MOST_LONG = 40, 400_000

Naming = Callable[[int], str]
Some = npt.NDArray[np.bool_]


class Look:
    """A bounded number of entries from all along the batches, by feature.

    Parameters
    ----------
    batches : collection of Batch
    naming : callable, optional
        From a key to its name, where batches do not know it.
    tame : bool
        Whether wild values of common features are brought nearer to the others.
    """

    def __init__(
        self, batches: Collection[Batch], naming: Naming | None = None, *, tame: bool = False
    ) -> None:
        self._batches, self._naming = some_rows(batches), naming
        self.examples = sum(map(len, self._batches))
        self._starts = np.cumsum([0, *(batch.n_entries for batch in self._batches)])
        keys = np.concatenate([batch.keys for batch in self._batches])
        values = np.concatenate([batch.values for batch in self._batches])
        self.values = values.astype(np.float64)
        self.keys, self._first, self.of_entry, self.counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        if tame:
            held = hold_wild(self.of_entry, self.values)
            self.values = np.where(self.common()[self.of_entry], held, self.values)
        self._squares = np.bincount(self.of_entry, self.values**2)
        self.rms = np.sqrt(self._squares / self.counts)
        self.means = np.bincount(self.of_entry, self.values) / self.counts
        off = (self.values - self.means[self.of_entry]) ** 2
        self.spreads = np.sqrt(np.bincount(self.of_entry, off) / self.counts)

    def typical(self, some: Some | None = None) -> float:
        """Median size of the values, or of those of some features.

        That of NumPy would load numpy.ma at every start.
        """
        values = self.values if some is None else self.values[some[self.of_entry]]
        middle = len(values) // 2
        return float(np.partition(np.abs(values), middle)[middle])

    def share(self, some: Some) -> float:
        """Share of some features in the sum of squares."""
        return float(self._squares[some].sum() / self._squares.sum())

    def growing(self) -> Some:
        """Large features with values that are larger than the ones before, nearly always."""
        order = np.argsort(self.of_entry, kind="stable")
        feature, value = self.of_entry[order], self.values[order]
        same, change = feature[1:] == feature[:-1], np.sign(np.diff(value))
        rises, falls = (
            np.bincount(feature[1:], same & (change == way), minlength=len(self.counts))
            for way in (1, -1)
        )
        often = (rises >= LEAST_GROWING - 1) & (rises >= GROWS * (rises + falls))
        return (self.rms > LARGE) & often

    def common(self) -> Some:
        """Features that nearly every example has."""
        return (self.counts >= LEAST_COMMON) & (self.counts >= COMMON * self.examples)

    def far_from_zero(self) -> Some:
        """Large features that nearly every example has, with a mean far above their spread."""
        far = (np.abs(self.means) > MEAN_SPREADS * self.spreads) & (self.spreads > 0.0)
        return (self.rms > LARGE) & self.common() & far

    def shown(self, some: Some) -> str:
        """Names of some features, the largest first, each with the size of its values."""
        ranked = np.flatnonzero(some)[np.argsort(-self._squares[some], kind="stable")]
        named = [
            f"'{visible(self._name(i))}' (about {self.rms[i]:.3g})" for i in ranked[:MOST_NAMED]
        ]
        more = len(ranked) - MOST_NAMED
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")

    def _name(self, feature: int) -> str:
        key = int(self.keys[feature])
        if self._naming is not None:
            return self._naming(key)
        given = self.given_name(feature)
        if given is None:
            return key_name(key, self._batches[0].naming)
        return given.decode("utf-8", "backslashreplace")

    def given_name(self, feature: int) -> bytes | None:
        """Name that came with a feature; None where batches have none."""
        entry = int(self._first[feature])
        number = int(np.searchsorted(self._starts, entry, "right")) - 1
        names = self._batches[number].names
        if names is None:
            return None
        return bytes(names[entry - int(self._starts[number])])


def some_rows(batches: Collection[Batch]) -> list[Batch]:
    """Rows from all along the batches, with a bounded number of entries; at least one of each.

    The same share of each batch: what grows is small in the first.
    """
    parts = max(len(batches), 1)

    def within(batch: Batch, entries: int) -> int:
        return int(np.searchsorted(batch.indptr, entries // parts, "right")) - 1

    rows = [
        max(within(b, MOST_ENTRIES), min(within(b, MOST_LONG), -(-LONG_ROWS // parts)), 1)
        for b in batches
    ]
    return [b.rows(0, min(n, len(b))) for b, n in zip(batches, rows, strict=True)]
