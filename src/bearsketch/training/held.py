"""Which examples a run keeps to test its model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def held_out(first: int, n: int, share: float) -> npt.NDArray[np.bool_]:
    """Which of the examples ``first`` to ``first + n`` are held out: a hash of the number decides.

    Examples
    --------
    >>> int(held_out(0, 10_000, 0.1).sum())
    1049
    """
    x = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((x ^ (x >> np.uint64(31))) < np.uint64(int(share * 2**64)))
