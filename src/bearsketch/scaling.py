"""Columns of numbers brought to mean 0 and size 1, so that one step suits them all.

A model of such columns is still linear in the values as they are: a weight by the size of its
column is the weight of the value itself, and what the means come to is part of the intercept. A
value that is not there is 0, as everywhere; but where 0 is no value that a column has, it is
missing, and stands at the mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.batch import Batch, Names

Reals = npt.NDArray[np.float64]

# Sizes of its column that a value is learned within: one wild cell would undo all that was learned.
MOST_SIZES = 20.0


def combine(shares: Reals, rows: Reals) -> Reals:
    """Sum of rows times their shares, first to last.

    The order of ``shares @ rows`` depends on the processor and on the threads of NumPy's library.

    Examples
    --------
    >>> combine(np.array([2.0, 1.0]), np.array([[1.0, 0.0], [3.0, 4.0]]))
    array([5., 4.])
    """
    if not len(rows):
        return np.zeros(rows.shape[1:])
    return np.asarray(np.add.accumulate(shares[:, None] * rows, axis=0)[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Means and sizes of columns.

    Attributes
    ----------
    keys : ndarray of uint64
        Strictly ascending.
    means, sizes : ndarray of float64
        Of the values; sizes are above 0.
    missing : ndarray of uint8
        Whether a value that is not there is missing (1), or 0 (0).
    names : Names
        Of the columns; empty where keys need none.

    Examples
    --------
    >>> from bearsketch.batch import pack_names
    >>> income = np.uint64([7]), np.array([50_000.0]), np.array([10_000.0]), np.uint8([0])
    >>> scaling = Scaling(*income, pack_names([b"income"]))
    >>> scaling.apply(Batch([0, 2, 3], [7, 9, 9], [70_000, 1, 1])).values
    array([ 2.,  1., -5.,  1.], dtype=float32)
    """

    keys: npt.NDArray[np.uint64]
    means: Reals
    sizes: Reals
    missing: npt.NDArray[np.uint8]
    names: Names

    def __post_init__(self) -> None:
        if not len(self.keys):
            raise ValueError("a scaling must have columns, got none")
        # Raises ValueError where parts do not fit together.
        self.apply(
            Batch(np.zeros(1, np.int64), self.keys[:0], np.zeros(0, np.float32), trusted=True)
        )

    def apply(self, batch: Batch, most: float = np.inf) -> Batch:
        """Batch of scaled values, with an entry for each column that a row lacks.

        Values further from 0 than ``most`` are brought there.
        """
        data, offsets = batch.names or (None, None)
        indptr, keys, values, names = _core.scale_rows(
            batch.indptr,
            batch.keys,
            batch.values,
            data,
            offsets,
            self.keys,
            self.means,
            self.sizes,
            self.missing,
            self.names.data,
            self.names.offsets,
            most,
        )
        named = None if names is None else Names(*names)
        return replace(batch, indptr=indptr, keys=keys, values=values, names=named, trusted=True)

    def changes(self) -> npt.NDArray[np.bool_]:
        """Whether values of a column change, but for wild ones."""
        return np.not_equal(self.means, 0.0) | np.not_equal(self.sizes, 1.0)

    def shown(self) -> tuple[str, ...]:
        """Names of the columns, or their numbers."""
        names = [bytes(self.names[i]).decode("utf-8", "replace") for i in range(len(self.keys))]
        return tuple(name or str(key) for name, key in zip(names, self.keys, strict=True))

    def parts(self, batch: Batch, rows: int, most: float = np.inf) -> Iterator[tuple[slice, Batch]]:
        """Scaled rows of a batch, so many at a time, and which these are: a bounded copy."""
        for start in range(0, max(len(batch), 1), rows):
            stop = min(start + rows, len(batch))
            yield slice(start, stop), self.apply(batch.rows(start, stop), most)

    def sizes_of(self, keys: npt.NDArray[np.uint64]) -> Reals:
        """Size of the column of each key, 1 where that is none."""
        return self._looked_up(self.sizes, keys, 1.0)

    def shifts_of(self, keys: npt.NDArray[np.uint64]) -> Reals:
        """Mean of the column of each key by its size, 0 where that is none."""
        return self._looked_up(self.means, keys, 0.0) / self.sizes_of(keys)

    def absent_of(self, keys: npt.NDArray[np.uint64]) -> Reals:
        """Value of each key that is as good as none."""
        return self._looked_up(self.means * self.missing, keys, 0.0)

    def _looked_up(self, values: Any, keys: npt.NDArray[np.uint64], other: float) -> Reals:
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, values[place].astype(np.float64), other)

    def arrays(self) -> dict[str, Any]:
        """Arrays of a model file."""
        names = {f"names.{part}": array for part, array in self.names._asdict().items()}
        own = {name: getattr(self, name) for name in ("means", "sizes", "missing")}
        return {"columns": self.keys, **own, **names}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Scaling:
        """Inverse of :meth:`arrays`."""
        names = Names(arrays["names.data"], arrays["names.offsets"])
        return cls(arrays["columns"], arrays["means"], arrays["sizes"], arrays["missing"], names)
