"""Values far from the others in size, or growing: found in the first examples, and said."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

from bearsketch.advice import how_to_shuffle
from bearsketch.batch import Batch
from bearsketch.escape import visible
from bearsketch.keys import key_name

# A step that suits a value of 40 is 1,600 times too small for one of 1.
LARGE, TIMES_OTHERS, SHARE, MOST_NAMED = 4.0, 4.0, 0.5, 3
# And one that suits a value of 1 is 400 times too small for one of 0.05.
TIMES_SMALLER = 20.0
# Means so many times the spread of the values are told, of features that such a share of the
# examples has.
MEAN_SPREADS, COMMON, LEAST_COMMON = 3.0, 0.9, 50
# Values that grow from nearly every example to the next, if there are so many of them.
GROWS, LEAST_GROWING = 0.95, 50
MOST_ENTRIES = 20_000  # looked at: enough to tell, and little memory

Naming = Callable[[int], str]
Some = npt.NDArray[np.bool_]
_FAR = (
    "lie around a mean far from 0, which one pass learns slowly and may give the wrong sign: "
    "subtract the mean"
)


def odd_scale(
    batches: Collection[Batch], any_scale: bool = False, naming: Naming | None = None
) -> str | None:
    """Say which features have values that spoil the learning, or None.

    They are those with values above 4 that grow from one example to the next, as the number of a
    row does; those 4 times above the median of all values, if they make more than half of the sum
    of squares; and where these do no harm, those that lie around a mean far from 0. Then there are
    those that nearly every example has with a value 20 times below the median.

    Parameters
    ----------
    batches : collection of Batch
        The first examples.
    any_scale : bool
        Whether the learner allows for large values.
    naming : callable, optional
        From a key to its name, where batches do not know it.

    Examples
    --------
    >>> small = Batch.from_rows([["a", "b", "c"]] * 5)
    >>> odd_scale([small]) is None
    True
    >>> print(odd_scale([small, Batch.from_rows([{"income": 50_000.0, "a": 1.0}])])[:73])
    values of 'income' (about 5e+04) are far larger than the others (about 1)
    """
    if not any(batch.n_entries for batch in batches):
        return None
    look = _Look(batches, naming)
    typical = look.typical()
    if any(np.abs(batch.values).max(initial=0.0) > LARGE for batch in batches):
        found = _too_large(look, typical, any_scale)
        if found is not None:
            return found
    small = look.common() & (look.rms < typical / TIMES_SMALLER) & (look.spreads > 0.0)
    if not small.any():
        return None
    return (
        f"values of {look.shown(small)} are far smaller than the others (about {typical:.3g}), so "
        "that one pass hardly learns their weights: multiply them, so that they are near 1"
    )


def _too_large(look: _Look, typical: float, any_scale: bool) -> str | None:
    grow = look.growing()
    if grow.any():
        return (
            f"values of {look.shown(grow)} grow along the data, as a row number or a time does, "
            f"which can spoil learning in one pass: leave them out, or shuffle the examples"
            + how_to_shuffle()
        )
    if any_scale:
        far = look.far_from_zero()
        return f"values of {look.shown(far)} {_FAR}" if far.any() else None
    large = look.rms > max(LARGE, TIMES_OTHERS * typical)
    if not large.any() or large.all() or look.share(large) <= SHARE:
        return None
    return (
        f"values of {look.shown(large)} are far larger than the others "
        f"(about {look.typical(~large):.3g}), "
        "which spoils the learning of all: divide them, so that they are near 1, or leave them out"
    )


class _Look:
    """A bounded number of entries from all along the batches, by feature."""

    def __init__(self, batches: Collection[Batch], naming: Naming | None) -> None:
        self._batches, self._naming = batches, naming
        # The same share of each batch: what grows is small in the first.
        share = MOST_ENTRIES // len(batches)
        keys = np.concatenate([batch.keys[:share] for batch in batches])
        self.values = np.concatenate([batch.values[:share] for batch in batches]).astype(np.float64)
        sizes = [min(batch.n_entries, share) for batch in batches]
        starts = np.cumsum([0, *(batch.n_entries for batch in batches)])
        parts = zip(starts, sizes, strict=False)
        self._entries = np.concatenate([before + np.arange(size) for before, size in parts])
        whole = [np.searchsorted(b.indptr, n, "right") for b, n in zip(batches, sizes, strict=True)]
        self.examples = int(sum(whole)) - len(batches)
        self._keys, self._first, self._of_entry, self.counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        self._squares = np.bincount(self._of_entry, self.values**2)
        self.rms = np.sqrt(self._squares / self.counts)
        self.means = np.bincount(self._of_entry, self.values) / self.counts
        off = (self.values - self.means[self._of_entry]) ** 2
        self.spreads = np.sqrt(np.bincount(self._of_entry, off) / self.counts)

    def typical(self, some: Some | None = None) -> float:
        """Median size of the values, or of those of some features.

        That of NumPy would load numpy.ma at every start.
        """
        values = self.values if some is None else self.values[some[self._of_entry]]
        middle = len(values) // 2
        return float(np.partition(np.abs(values), middle)[middle])

    def share(self, some: Some) -> float:
        """Share of some features in the sum of squares."""
        return float(self._squares[some].sum() / self._squares.sum())

    def growing(self) -> Some:
        """Large features with values that are larger than the ones before, nearly always."""
        order = np.argsort(self._of_entry, kind="stable")
        feature, value = self._of_entry[order], self.values[order]
        larger = (feature[1:] == feature[:-1]) & (value[1:] > value[:-1])
        times = np.bincount(feature[1:], larger, minlength=len(self.counts))
        often = (self.counts >= LEAST_GROWING) & (times >= GROWS * (self.counts - 1))
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
        key = int(self._keys[feature])
        if self._naming is not None:
            return self._naming(key)
        return _name(self._batches, int(self._entries[self._first[feature]]), key)


def _name(batches: Collection[Batch], entry: int, key: int) -> str:
    for batch in batches:
        if entry < batch.n_entries:
            if batch.names is None:
                return key_name(key, batch.naming)
            start, stop = batch.names.offsets[entry], batch.names.offsets[entry + 1]
            return bytes(batch.names.data[start:stop]).decode("utf-8", "backslashreplace")
        entry -= batch.n_entries
    raise IndexError(entry)
