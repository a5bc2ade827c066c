"""Scales of the first examples: columns to learn at mean 0 and size 1, and values that do harm."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch, pack_names
from bearsketch.escape import visible
from bearsketch.keys import key_name
from bearsketch.learners import Learner
from bearsketch.scaling import MOST_SIZES, Reals, Scaling
from bearsketch.training.warnings import RunWarning, listed

LARGE = 4.0
# Means so many times the spread of the values are far from 0; what such a share of the examples
# has is common.
MEAN_SPREADS, COMMON, LEAST_COMMON = 3.0, 0.9, 50
# Values that grow from nearly every example to the next, if there are so many of them.
GROWS, LEAST_GROWING = 0.95, 50
MOST_ENTRIES = 50_000  # looked at: enough to tell, and little memory
# Of long rows, so many in all where that is not too much of them.
LONG_ROWS, MOST_LONG = 40, 1_000_000
# And of still longer ones as many as scales need.
LEAST_ROWS, MOST_LONGEST = 20, 2_500_000

Naming = Callable[[int], str]
Some = npt.NDArray[np.bool_]

# A step that suits a value of 40 is 1,600 times too small for one of 1.
TIMES_OTHERS, SHARE = 4.0, 0.5
# And one that suits a value of 1 is 400 times too small for one of 0.05.
TIMES_SMALLER = 20.0

LEAST_EXAMPLES = 20
# A feature that such a share of the examples has is a column: rows grow to twice their length at
# most where those that lack it get an entry.
MOST_HAVE = 0.5
# Other features are words and categories, if all but such a share of all entries are 1; rows of
# unlike values, such as words by their importance, stay as they are unless they fill such a share
# of a table.
OTHER_VALUES, FILLED = 0.1, 0.25
# What has about mean 0 and size 1 is left as it is, but for outliers.
NEAR_MEAN, NEAR_SIZES = 0.25, (0.5, 2.0)
SAME = 1e-12  # spread by the mean of values that are all the same

# A larger share of outliers is no error, but what the data is like.
OUTLIERS = 0.01
_NORMAL = 1.4826  # spread of normal numbers by their median distance


def find_scaling(
    batches: Collection[Batch], *, center: bool = True, missing_columns: Collection[str] = ()
) -> Scaling | None:
    """Find columns of numbers, and large numbers.

    Columns come to mean 0 and size 1, and keep theirs where that is about so; what is no column,
    but has large values that at least 20 of the examples show, is only divided by its size. What
    grows along the data, as a row number does, has neither mean nor size, and is left alone.

    Parameters
    ----------
    batches : collection of Batch
        The first examples; those of weight 0 count for nothing.
    center : bool
        Whether means may go into an intercept; else columns are only divided.
    missing_columns : collection of str
        Those where a value that is not there is missing; of others it is 0.

    Returns
    -------
    Scaling or None

    Examples
    --------
    >>> rows = [{"age": 30.0 + 7 * i % 40, "member": 1.0} for i in range(100)]
    >>> found = find_scaling([Batch.from_rows(rows)])
    >>> found.shown()[0], round(float(found.means[0]), 1), round(float(found.sizes[0]), 1)
    ('age', 49.3, 11.6)
    """
    weighed = [_weighed(batch) for batch in batches]
    if not any(batch.n_entries for batch in weighed):
        return None
    seen = FirstValues(weighed, clip=True)
    if seen.examples < LEAST_EXAMPLES:
        return None
    common = seen.counts >= MOST_HAVE * seen.examples
    common &= _is_table(seen, common)
    large = (seen.counts >= LEAST_EXAMPLES) & (seen.rms > LARGE)
    if not (common | large).any():
        return None
    missing = common & _named(seen, set(missing_columns) if center else set())
    means, sizes = _moments(seen, common & center, missing)
    low, high = NEAR_SIZES
    near = (np.abs(means) <= NEAR_MEAN * sizes) & (sizes >= low) & (sizes <= high)
    means[near], sizes[near], missing[near] = 0.0, 1.0, False
    sizes_differ = (
        np.bincount(seen.of_entry, np.abs(seen.values)) < (1.0 - SAME) * seen.counts * seen.rms
    )
    numbers = common & sizes_differ
    some = (common | large) & (numbers | ~near) & (sizes > 0.0)
    if some.any():
        some &= ~seen.growing()
    chosen = np.flatnonzero(some)
    if not len(chosen):
        return None
    names = pack_names([seen.given_name(int(i)) or b"" for i in chosen])
    own = means[chosen], sizes[chosen], missing[chosen].astype(np.uint8)
    return Scaling(seen.keys[chosen], *own, names)


def scale_values(
    learner: Learner, batches: Collection[Batch], source: Any = None, naming: Naming | None = None
) -> list[RunWarning]:
    """Scale the columns of a new learner by its first examples; warn of values that do harm.

    Parameters
    ----------
    learner : Learner
    batches : collection of Batch
    source : Stream, optional
        Where they come from.
    naming : callable, optional
        See :func:`scale_warning`.
    """
    some = sample_rows(batches)
    learner.scaling = find_scaling(
        some,
        center=learner.config.intercept,
        missing_columns=getattr(source, "missing_columns", ()),
    )
    scaled = some
    if learner.scaling is not None:  # as they are learned
        scaled = [learner.scaling.apply(part, MOST_SIZES) for part in some]
    drops = getattr(source, "format", None) not in ("vw", "svmlight")
    found = [scale_warning(scaled, naming, drops=drops)]
    if learner.config.loss == "squared":
        found.append(target_warning(batches))
    return [warning for warning in found if warning is not None]


def scale_warning(
    batches: Collection[Batch],
    naming: Naming | None = None,
    *,
    drops: bool = True,
) -> RunWarning | None:
    """Warn of features whose values spoil the learning.

    They are those with values above 4 that grow from one example to the next, as the number of a
    row does; those 4 times above the median of all values, if they make more than half of the sum
    of squares; and where these do no harm, those that lie around a mean far from 0. Then there are
    those that nearly every example has with a value 20 times below the median.

    Parameters
    ----------
    batches : collection of Batch
        The first examples.
    naming : callable, optional
        From a key to its name, where batches do not know it.
    drops : bool
        Whether an option can leave features of this data out.

    Examples
    --------
    >>> small = Batch.from_rows([["a", "b", "c"]] * 5)
    >>> scale_warning([small]) is None
    True
    >>> found = scale_warning([small, Batch.from_rows([{"income": 50_000.0, "a": 1.0}])])
    >>> found.facts["kind"], found.facts["columns"]
    ('large', "'income' (about 5e+04)")
    """
    if not any(batch.n_entries for batch in batches):
        return None
    seen = FirstValues(batches, naming)
    typical = seen.typical()
    if any(np.abs(batch.values).max(initial=0.0) > LARGE for batch in batches):
        found = _too_large(seen, typical, drops)
        if found is not None:
            return found
    small = seen.common() & (seen.rms < typical / TIMES_SMALLER) & (seen.spreads > 0.0)
    return _scale_warning(seen, "small", small, others=typical) if small.any() else None


def _too_large(seen: FirstValues, typical: float, drops: bool) -> RunWarning | None:
    growing = seen.growing()
    if growing.any():
        return _scale_warning(seen, "growing", growing, drops=drops)
    large = seen.rms > max(LARGE, TIMES_OTHERS * typical)
    if not large.any() or large.all() or seen.share(large) <= SHARE:
        far = seen.far_from_zero()
        return _scale_warning(seen, "far", far) if far.any() else None
    return _scale_warning(seen, "large", large, others=seen.typical(~large), drops=drops)


def _scale_warning(seen: FirstValues, kind: str, columns: Some, **facts: Any) -> RunWarning:
    return RunWarning("DATA-SCALE", {"kind": kind, "columns": seen.shown(columns), **facts})


class FirstValues:
    """A bounded number of entries from all along the batches, by feature.

    Parameters
    ----------
    batches : collection of Batch
    naming : callable, optional
        From a key to its name, where batches do not know it.
    clip : bool
        Whether outliers of common features are brought nearer to the others.
    """

    def __init__(
        self, batches: Collection[Batch], naming: Naming | None = None, *, clip: bool = False
    ) -> None:
        self._batches, self._naming = sample_rows(batches), naming
        self.examples = sum(map(len, self._batches))
        self._starts = np.cumsum([0, *(batch.n_entries for batch in self._batches)])
        keys = np.concatenate([batch.keys for batch in self._batches])
        values = np.concatenate([batch.values for batch in self._batches])
        self.values = values.astype(np.float64)
        self.keys, self._first, self.of_entry, self.counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        del keys, values
        if clip:
            some = self.common()[self.of_entry]
            self.values[some] = clip_outliers(self.of_entry[some], self.values[some])
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
        return listed([f"'{visible(self._name(i))}' (about {self.rms[i]:.3g})" for i in ranked])

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


def sample_rows(batches: Collection[Batch]) -> list[Batch]:
    """Rows from all along the batches, with a bounded number of entries; at least one of each.

    The same share of each batch: what grows is small in the first.
    """
    parts = max(len(batches), 1)

    def within(batch: Batch, entries: int) -> int:
        return int(np.searchsorted(batch.indptr, entries // parts, "right")) - 1

    rows = [
        max(
            within(b, MOST_ENTRIES),
            min(within(b, MOST_LONG), -(-LONG_ROWS // parts)),
            min(within(b, MOST_LONGEST), -(-LEAST_ROWS // parts)),
            1,
        )
        for b in batches
    ]
    return [b.rows(0, min(n, len(b))) for b, n in zip(batches, rows, strict=True)]


def clip_outliers(groups: npt.NDArray[Any], values: Reals) -> Reals:
    """Values, with outliers brought to 20 sizes from the middle of their group.

    The middle is the median, and the size the median distance of those that differ from it, so that
    an outlier says nothing about either. At most one in a hundred of a group is one, or one alone.

    Parameters
    ----------
    groups : array of int, shape (n,)
        From 0.
    values : array of float64, shape (n,)

    Examples
    --------
    >>> ages = np.append(20.0 + np.arange(60.0), 99_999.0)
    >>> float(clip_outliers(np.zeros(61, dtype=np.intp), ages).max())
    524.432
    """
    counts = np.bincount(groups)
    middle = _middles(groups, values, counts)[groups]
    off = values - middle
    differ = off != 0.0
    some, far = groups[differ], np.abs(off[differ])
    sizes = _middles(some, far, np.bincount(some, minlength=len(counts)))
    most = MOST_SIZES * _NORMAL * sizes[groups]
    outliers = np.abs(off) > most
    rare = np.bincount(groups, outliers) <= np.maximum(OUTLIERS * counts, 1.0)
    outliers &= (rare & (counts >= LEAST_EXAMPLES))[groups]
    return np.where(outliers, middle + np.copysign(most, off), values)


def target_warning(batches: Collection[Batch]) -> RunWarning | None:
    """Warn of the target that is furthest beyond the others."""
    labels = np.concatenate([np.asarray(batch.labels, dtype=np.float64) for batch in batches])
    known = labels[np.isfinite(labels)]
    if not len(known):
        return None
    held = clip_outliers(np.zeros(len(known), dtype=np.intp), known)
    furthest = int(np.argmax(np.abs(known - held)))
    if held[furthest] == known[furthest]:
        return None
    row = int(np.flatnonzero(labels == known[furthest])[0])
    facts = {
        "value": float(known[furthest]),
        "place": _place(batches, row),
        "far": int((held != known).sum()),
        "known": len(known),
        "low": float(known[held == known].min()),
        "high": float(known[held == known].max()),
    }
    return RunWarning("DATA-TARGET", facts)


def _middles(groups: npt.NDArray[Any], values: Reals, counts: npt.NDArray[Any]) -> Reals:
    """Median of each group, the upper of two; of an empty one anything."""
    if not len(values):
        return np.zeros(len(counts))
    ordered: Reals = values[np.lexsort((values, groups))]
    middle: Reals = ordered[np.minimum(np.cumsum(counts) - counts + counts // 2, len(values) - 1)]
    return middle


def _place(batches: Collection[Batch], row: int) -> str:
    for batch in batches:
        if row < len(batch):
            return "" if batch.places is None else "{}:{}".format(*batch.places.of(row))
        row -= len(batch)
    return ""


def _weighed(batch: Batch) -> Batch:
    if batch.weights is None or (batch.weights > 0.0).all():
        return batch
    return batch.keep(batch.weights > 0.0)


def _is_table(seen: FirstValues, common: Some) -> bool:
    others = ~common[seen.of_entry] & (np.abs(seen.values) != 1.0)
    filled = len(seen.values) >= FILLED * seen.examples * len(seen.keys)
    return filled or int(others.sum()) <= OTHER_VALUES * len(seen.values)


def _named(seen: FirstValues, names: set[str]) -> Some:
    """Features that have one of these names."""
    found = np.zeros(len(seen.keys), dtype=bool)
    if names:
        raw = {name.encode("utf-8", "surrogateescape") for name in names}
        found[:] = [seen.given_name(i) in raw for i in range(len(found))]
    return found


def _moments(seen: FirstValues, centered: Some, missing: Some) -> tuple[Reals, Reals]:
    """Means and sizes of features, values that are not there being 0 unless they are missing.

    The mean is 0 where a column is not centered, or all its values are the same, as in a category.
    """
    share = np.where(missing, 1.0, seen.counts / seen.examples)
    mean = share * seen.means
    spread = np.sqrt(share * seen.spreads**2 + share * (1.0 - share) * seen.means**2)
    divided = ~centered | (seen.spreads <= SAME * np.abs(seen.means))
    return np.where(divided, 0.0, mean), np.where(divided, seen.rms, spread)
