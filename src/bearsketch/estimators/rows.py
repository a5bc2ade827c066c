"""Examples as scikit-learn users have them, and any of their rows as a batch."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.exceptions import ParameterError
from bearsketch.reading.frames import is_frame
from bearsketch.reading.objects import is_file

Take = slice | npt.NDArray[np.intp]


class Rows(Protocol):
    """Examples in memory; only the rows taken are turned into a batch."""

    @property
    def columns(self) -> int | None:
        """Number of columns, None where features come by name."""

    def __len__(self) -> int: ...

    def batch(self, take: Take, seed: int) -> Batch:
        """Give some rows as a batch without labels; ``seed`` hashes names."""


@dataclass(frozen=True, slots=True)
class DenseRows:
    """A two-dimensional array; zeros are left out of its batches."""

    array: npt.NDArray[Any]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    def __len__(self) -> int:
        return len(self.array)

    def batch(self, take: Take, seed: int) -> Batch:
        """Give some rows as a batch."""
        part = _as_float32(self.array[take])
        row, column = np.nonzero(part)
        return Batch(_row_starts(row, len(part)), column.astype(np.uint64), part[row, column])


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A CSR matrix with ascending, distinct columns in each row."""

    matrix: Any

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def batch(self, take: Take, seed: int) -> Batch:
        """Give some rows as a batch."""
        part = self.matrix[take]
        values = _as_float32(part.data)
        indptr, keys = part.indptr.astype(np.int64, copy=False), part.indices
        _check_columns(keys, self.columns)
        stored = values != 0
        if not stored.all():
            # Explicit zeros say the same as absent entries, and must not be selected.
            indptr = np.concatenate(([0], np.cumsum(stored)))[indptr]
            keys, values = keys[stored], values[stored]
        return Batch(indptr, keys.astype(np.uint64), values)


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Mappings from name to value, or lists of names, one per example."""

    rows: Sequence[Any]

    @property
    def columns(self) -> None:
        """None: features have no columns here."""
        return None

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, take: Take, seed: int) -> Batch:
        """Give some rows as a batch."""
        if isinstance(take, slice):
            return Batch.from_rows(self.rows[take], seed=seed)
        return Batch.from_rows([self.rows[i] for i in take], seed=seed)


@dataclass(frozen=True, slots=True)
class BatchRows:
    """A batch, whose rows stay in their order."""

    whole: Batch

    @property
    def columns(self) -> None:
        """None: features have no columns here."""
        return None

    def __len__(self) -> int:
        return len(self.whole)

    def batch(self, take: Take, seed: int) -> Batch:
        """Give some rows as a batch."""
        if not isinstance(take, slice):
            raise ParameterError("rows of a Batch are taken in order, got a list of places")
        start, stop, _ = take.indices(len(self))
        return replace(self.whole.rows(start, stop), labels=None, weights=None, trusted=True)


def named_rows(X: Any) -> Sequence[Any] | None:
    """Rows that carry names instead of columns, or None when X is a matrix or a frame."""
    if isinstance(X, str | os.PathLike):
        raise ParameterError(
            f"X must be rows, got the path {os.fspath(X)!r}",
            hint="fit_stream learns files; bearsketch.reading.open_like(model, path) gives batches "
            "of one, which predict takes.",
        )
    if not isinstance(X, list | tuple) and not (
        getattr(X, "ndim", None) == 1 and getattr(getattr(X, "dtype", None), "kind", "") == "O"
    ):
        return None
    rows = list(X)
    if rows and isinstance(rows[0], str):
        raise ParameterError(
            f"rows of X must be mappings, lists of names or numbers, got the text {rows[0]!r:.40}",
            hint="Give the words of each text, as in [text.split() for text in X]; fit_stream "
            "reads texts from files, and by n-grams.",
        )
    if rows and all(_is_named(row) for row in rows):
        return rows
    return None


def _is_named(row: Any) -> bool:
    if isinstance(row, Mapping):
        for name in row:
            if not isinstance(name, str):
                raise ParameterError(
                    f"names of features must be str, got {name!r}",
                    hint="Give columns by number as a sparse matrix.",
                )
        return True
    return isinstance(row, list | tuple | set | frozenset) and all(
        isinstance(name, str) for name in row
    )


def matrix_rows(X: Any) -> DenseRows | SparseRows:
    """Rows of a validated array or CSR matrix."""
    if isinstance(X, np.ndarray):
        return DenseRows(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return SparseRows(X)


def _check_columns(indices: npt.NDArray[Any], columns: int) -> None:
    """Refuse entries beside the matrix; SciPy leaves what its owner wrote there unchecked."""
    low, high = (int(indices.min()), int(indices.max())) if len(indices) else (0, 0)
    if low < 0 or high >= max(columns, 1):
        raise ParameterError(
            f"X must have its entries in columns 0 to {columns - 1}, got one in column "
            f"{low if low < 0 else high}",
            hint="Its indices or its shape are wrong: X.check_format() says more.",
        )


def _as_float32(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32, copy=False)
    if not np.isfinite(narrow).all():
        raise ParameterError(
            f"X must fit float32, at most 3.4e38, got {np.abs(values).max():g}",
            hint="Scale the features down.",
        )
    return narrow


def _row_starts(row: npt.NDArray[np.intp], n_rows: int) -> npt.NDArray[np.int64]:
    """Index pointer of entries sorted by row."""
    return np.searchsorted(row, np.arange(n_rows + 1)).astype(np.int64)


def batches_of(source: Any) -> tuple[Iterable[Batch] | None, Any]:
    """Batches that are there already, or None and what is to be opened.

    Of an iterator the first object has to be taken to know which.
    """
    if isinstance(source, Batch):
        return [source], source
    if isinstance(source, np.ndarray):
        raise ParameterError("an array has no labels: give it to fit with y, not to fit_stream")
    if isinstance(source, list | tuple):
        return (source if source and isinstance(source[0], Batch) else None), source
    opens = isinstance(source, str | os.PathLike) or not isinstance(source, Iterable)
    if opens or is_file(source) or hasattr(source, "fetchmany") or is_frame(source):
        return None, source
    once = iter(source)
    first = next(once, None)
    if once is source:
        source = once = itertools.chain(() if first is None else (first,), once)
    are_batches = first is None or isinstance(first, Batch)
    return (source if are_batches else None), source


def stream_labels(batch: Any) -> Any:
    """Labels of what a stream gives, which should be a batch."""
    if not isinstance(batch, Batch):
        raise ParameterError(
            f"a stream must give batches (bearsketch.Batch) throughout, got {type(batch).__name__}",
            hint="Paths, open files, frames and mappings are read as they are; rows and labels are "
            "for partial_fit.",
        )
    return batch.labels


def plain(value: Any) -> Any:
    """Python's own number for a NumPy scalar, as parameter grids hold them."""
    return value.item() if isinstance(value, np.generic) else value
