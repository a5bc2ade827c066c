"""Values far larger than the others, or growing: found in the first examples, and said."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

from bearsketch.advice import how_to_shuffle
from bearsketch.batch import Batch
from bearsketch.escape import visible
from bearsketch.keys import key_name

Reals = npt.NDArray[np.float64]

# A step that suits a value of 40 is 1,600 times too small for one of 1.
LARGE, TIMES_OTHERS, SHARE, MOST_NAMED = 4.0, 4.0, 0.5, 3
# Values that grow from nearly every example to the next, if there are so many of them.
GROWS, LEAST_GROWING = 0.95, 50
MOST_ENTRIES = 20_000  # looked at: enough to tell, and little memory

Naming = Callable[[int], str]


def odd_scale(
    batches: Collection[Batch], any_scale: bool = False, naming: Naming | None = None
) -> str | None:
    """Say which features have values that spoil the learning, or None.

    They are those with values above 4, and 4 times above the median of all values, if they make
    more than half of the sum of squares; and those with values above 4 that grow from one example
    to the next, as the number of a row does.

    Parameters
    ----------
    batches : collection of Batch
        The first examples.
    any_scale : bool
        Whether the learner allows for large values, so that only growing ones are said.
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
    keys, values, entries = _some(batches)
    if np.abs(values).max() <= LARGE:
        return None
    distinct, first, of_entry, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    squares = np.bincount(of_entry, values**2)
    rms = np.sqrt(squares / counts)

    def shown(some: npt.NDArray[np.bool_]) -> str:
        ranked = np.flatnonzero(some)[np.argsort(-squares[some], kind="stable")]
        named = []
        for i in ranked[:MOST_NAMED]:
            key = int(distinct[i])
            name = naming(key) if naming else _name(batches, int(entries[first[i]]), key)
            named.append(f"'{visible(name)}' (about {rms[i]:.3g})")
        more = len(ranked) - MOST_NAMED
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")

    grow = (rms > LARGE) & _growing(of_entry, values, counts)
    if grow.any():
        return (
            f"values of {shown(grow)} grow along the data, as a row number or a time does, which "
            f"can spoil learning in one pass: leave them out, or shuffle the examples"
            + how_to_shuffle()
        )
    if any_scale:
        return None
    typical = float(np.median(np.abs(values)))
    large = rms > max(LARGE, TIMES_OTHERS * typical)
    if not large.any() or large.all() or squares[large].sum() <= SHARE * squares.sum():
        return None
    return (
        f"values of {shown(large)} are far larger than the others (about {typical:.3g}), "
        "which spoils the learning of all: divide them, so that they are near 1, or leave them out"
    )


def _growing(
    of_entry: npt.NDArray[np.intp], values: Reals, counts: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    """Which features have values that are larger than the ones before, nearly always."""
    order = np.argsort(of_entry, kind="stable")
    feature, value = of_entry[order], values[order]
    larger = (feature[1:] == feature[:-1]) & (value[1:] > value[:-1])
    times = np.bincount(feature[1:], larger, minlength=len(counts))
    return (counts >= LEAST_GROWING) & (times >= GROWS * (counts - 1))


def _some(
    batches: Collection[Batch],
) -> tuple[npt.NDArray[np.uint64], Reals, npt.NDArray[np.int64]]:
    """Keys and values of a bounded number of entries, from all along the batches, and which."""
    keys, values, entries, before = [], [], [], 0
    for batch in batches:
        # The same share of each batch: what grows is small in the first.
        share = slice(MOST_ENTRIES // len(batches))
        keys.append(batch.keys[share])
        values.append(batch.values[share].astype(np.float64))
        entries.append(before + np.arange(len(keys[-1])))
        before += batch.n_entries
    return np.concatenate(keys), np.concatenate(values), np.concatenate(entries)


def _name(batches: Collection[Batch], entry: int, key: int) -> str:
    for batch in batches:
        if entry < batch.n_entries:
            if batch.names is None:
                return key_name(key, batch.naming)
            start, stop = batch.names.offsets[entry], batch.names.offsets[entry + 1]
            return bytes(batch.names.data[start:stop]).decode("utf-8", "backslashreplace")
        entry -= batch.n_entries
    raise IndexError(entry)
