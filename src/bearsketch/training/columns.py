"""Columns of numbers in the first examples, which are learned at mean 0 and size 1."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from bearsketch.batch import Batch, pack_names
from bearsketch.learners import Learner
from bearsketch.scaling import Reals, Scaling
from bearsketch.training.doubts import Doubt
from bearsketch.training.look import LARGE, Look, Naming, Some, some_rows
from bearsketch.training.scale import odd_scale
from bearsketch.training.wild import wild_target

LEAST_EXAMPLES = 20
# A feature that such a share of the examples has is a column: rows grow to twice their length at
# most where those that lack it get an entry.
COMMON = 0.5
# Other features are words and categories, if all but such a share of all entries are 1; rows of
# unlike values, such as words by their importance, stay as they are unless they fill such a share
# of a table.
OTHER_VALUES, FILLED = 0.1, 0.25
# What has about mean 0 and size 1 is left as it is, but for wild cells.
NEAR_MEAN, NEAR_SIZES = 0.25, (0.5, 2.0)
SAME = 1e-12  # spread by the mean of values that are all the same


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
    look = Look(weighed, tame=True)
    if look.examples < LEAST_EXAMPLES:
        return None
    common = look.counts >= COMMON * look.examples
    common &= _is_table(look, common)
    missing = common & _named(look, set(missing_columns) if center else set())
    means, sizes = _moments(look, common & center, missing)
    low, high = NEAR_SIZES
    near = (np.abs(means) <= NEAR_MEAN * sizes) & (sizes >= low) & (sizes <= high)
    means[near], sizes[near], missing[near] = 0.0, 1.0, False
    large = (look.counts >= LEAST_EXAMPLES) & (look.rms > LARGE)
    sizes_differ = (
        np.bincount(look.of_entry, np.abs(look.values)) < (1.0 - SAME) * look.counts * look.rms
    )
    numbers = common & sizes_differ
    chosen = np.flatnonzero((common | large) & (numbers | ~near) & (sizes > 0.0) & ~look.growing())
    if not len(chosen):
        return None
    names = pack_names([look.given_name(int(i)) or b"" for i in chosen])
    own = means[chosen], sizes[chosen], missing[chosen].astype(np.uint8)
    return Scaling(look.keys[chosen], *own, names)


def scale_values(
    learner: Learner, batches: Collection[Batch], source: Any = None, naming: Naming | None = None
) -> list[Doubt]:
    """Scale the columns of a new learner by its first examples; say what is odd about them.

    Parameters
    ----------
    learner : Learner
    batches : collection of Batch
    source : Stream, optional
        Where they come from.
    naming : callable, optional
        See :func:`bearsketch.training.scale.odd_scale`.
    """
    some = some_rows(batches)
    learner.scaling = find_scaling(
        some,
        center=learner.config.intercept,
        missing_columns=getattr(source, "missing_columns", ()),
    )
    scaled = some if learner.scaling is None else [learner.scaling.apply(part) for part in some]
    drops = getattr(source, "format", None) not in ("vw", "svmlight")
    odd = odd_scale(scaled, learner.config.any_scale, naming, drops=drops)
    told = {"DATA-SCALE": odd}
    if learner.config.loss == "squared":
        told["DATA-TARGET"] = wild_target(batches)
    return [Doubt(code, message) for code, message in told.items() if message is not None]


def _weighed(batch: Batch) -> Batch:
    if batch.weights is None or (batch.weights > 0.0).all():
        return batch
    return batch.keep(batch.weights > 0.0)


def _is_table(look: Look, common: Some) -> bool:
    others = ~common[look.of_entry] & (np.abs(look.values) != 1.0)
    filled = len(look.values) >= FILLED * look.examples * len(look.keys)
    return filled or int(others.sum()) <= OTHER_VALUES * len(look.values)


def _named(look: Look, names: set[str]) -> Some:
    """Features that have one of these names."""
    found = np.zeros(len(look.keys), dtype=bool)
    if names:
        raw = {name.encode("utf-8", "surrogateescape") for name in names}
        found[:] = [look.given_name(i) in raw for i in range(len(found))]
    return found


def _moments(look: Look, centered: Some, missing: Some) -> tuple[Reals, Reals]:
    """Means and sizes of features, values that are not there being 0 unless they are missing.

    Of one that is not centered, or whose values are all the same, as of a category, the mean is 0.
    """
    share = np.where(missing, 1.0, look.counts / look.examples)
    mean = share * look.means
    spread = np.sqrt(share * look.spreads**2 + share * (1.0 - share) * look.means**2)
    divided = ~centered | (look.spreads <= SAME * np.abs(look.means))
    return np.where(divided, 0.0, mean), np.where(divided, look.rms, spread)
