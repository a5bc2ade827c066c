"""Values far larger than the others: found in the first examples, and said."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.escape import visible
from bearsketch.keys import key_name

# A step that suits a value of 40 is 1,600 times too small for one of 1. The staged direction
# allows for that, and minds only what one-byte cells cannot hold beside the others.
TIMES_OTHERS, TIMES_OTHERS_STAGED = 4.0, 1000.0
LARGE, SHARE, MOST_NAMED = 4.0, 0.5, 3
MOST_ENTRIES = 20_000  # looked at: enough to tell, and little memory


def oversized(batches: Collection[Batch], staged: bool = False) -> str | None:
    """Name features whose values dwarf those of all others, or None.

    They are those with values above 4, and 4 times above the median of all values (1,000 times
    for the staged direction), if they make more than half of the sum of squares.

    Examples
    --------
    >>> small = Batch.from_rows([["a", "b", "c"]] * 5)
    >>> oversized([small]) is None
    True
    >>> print(oversized([small, Batch.from_rows([{"income": 50_000.0, "a": 1.0}])])[:73])
    values of 'income' (about 5e+04) are far larger than the others (about 1)
    """
    if not any(batch.n_entries for batch in batches):
        return None
    keys, values = _first(batches)
    sizes = np.abs(values.astype(np.float64))
    if sizes.max() <= LARGE:
        return None
    distinct, first, of_entry, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    squares = np.bincount(of_entry, sizes**2)
    typical = float(np.median(sizes))
    rms = np.sqrt(squares / counts)
    times = TIMES_OTHERS_STAGED if staged else TIMES_OTHERS
    large = (rms > LARGE) & (rms > times * typical)
    if not large.any() or large.all() or squares[large].sum() <= SHARE * squares.sum():
        return None
    ranked = np.flatnonzero(large)[np.argsort(-squares[large], kind="stable")]
    named = [
        f"'{visible(_name(batches, int(first[i]), int(distinct[i])))}' (about {rms[i]:.3g})"
        for i in ranked[:MOST_NAMED]
    ]
    rest = f" and {len(ranked) - MOST_NAMED} more" if len(ranked) > MOST_NAMED else ""
    return (
        f"values of {', '.join(named)}{rest} are far larger than the others (about {typical:.3g}), "
        "which spoils the learning of all: divide them, so that they are near 1, or leave them out"
    )


def _first(batches: Collection[Batch]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
    keys, values, room = [], [], MOST_ENTRIES
    for batch in batches:
        keys.append(batch.keys[:room])
        values.append(batch.values[:room])
        room = max(room - batch.n_entries, 0)
    return np.concatenate(keys), np.concatenate(values)


def _name(batches: Collection[Batch], entry: int, key: int) -> str:
    for batch in batches:
        if entry < batch.n_entries:
            if batch.names is None:
                return key_name(key, batch.naming)
            start, stop = batch.names.offsets[entry], batch.names.offsets[entry + 1]
            return bytes(batch.names.data[start:stop]).decode("utf-8", "backslashreplace")
        entry -= batch.n_entries
    raise IndexError(entry)
