"""Wild numbers, such as typing errors, which are so far from the others that they hide them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.scaling import MOST_SIZES, Reals

# More of them are no errors, but what the data is like; of fewer numbers than that nothing is told.
WILD, LEAST = 0.01, 20
_NORMAL = 1.4826  # spread of normal numbers by their median distance


def hold_wild(groups: npt.NDArray[Any], values: Reals) -> Reals:
    """Values, the wild ones brought to 20 sizes from the middle of their group.

    The middle is the median, and the size the median distance of those that differ from it, so that
    a wild value says nothing about either. At most one in a hundred of a group is wild, or one.

    Parameters
    ----------
    groups : array of int, shape (n,)
        From 0.
    values : array of float64, shape (n,)

    Examples
    --------
    >>> ages = np.append(20.0 + np.arange(60.0), 99_999.0)
    >>> float(hold_wild(np.zeros(61, dtype=np.intp), ages).max())
    524.432
    """
    counts = np.bincount(groups)
    middle = _middles(groups, values, counts)[groups]
    off = values - middle
    differ = off != 0.0
    some, far = groups[differ], np.abs(off[differ])
    sizes = _middles(some, far, np.bincount(some, minlength=len(counts)))
    most = MOST_SIZES * _NORMAL * sizes[groups]
    wild = np.abs(off) > most
    rare = np.bincount(groups, wild) <= np.maximum(WILD * counts, 1.0)
    wild &= (rare & (counts >= LEAST))[groups]
    return np.where(wild, middle + np.copysign(most, off), values)


def wild_target(batches: Collection[Batch]) -> str | None:
    """Say where the wildest of the targets is, or None."""
    labels = np.concatenate([np.asarray(batch.labels, dtype=np.float64) for batch in batches])
    known = labels[np.isfinite(labels)]
    if not len(known):
        return None
    held = hold_wild(np.zeros(len(known), dtype=np.intp), known)
    wildest = int(np.argmax(np.abs(known - held)))
    if held[wildest] == known[wildest]:
        return None
    row = int(np.flatnonzero(labels == known[wildest])[0])
    return (
        f"the target {known[wildest]:g}{_place(batches, row)} is far beyond the others (all but "
        f"{int((held != known).sum())} of {len(known):,} are between "
        f"{known[held == known].min():g} and {known[held == known].max():g}), and may spoil "
        "all that is learned: if it is an error, leave the example out"
    )


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
            return "" if batch.places is None else " of {}:{}".format(*batch.places.of(row))
        row -= len(batch)
    return ""
