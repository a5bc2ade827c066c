"""Batch: some examples as CSR arrays of keys and values, with labels, weights and names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.exceptions import ParameterError
from bearsketch.keys import encode_name, hash_names, parse_naming


class Names(NamedTuple):
    """Names of the entries of a batch: entry i is ``data[offsets[i]:offsets[i + 1]]``."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.uint64]

    def __getitem__(self, entry: Any) -> bytes:  # type: ignore[override]
        return self.data[int(self.offsets[entry]) : int(self.offsets[entry + 1])].tobytes()


class Position(NamedTuple):
    """Where in its stream a batch ends: decoded bytes and lines or records of one source.

    What was read along with its last example, such as blank lines, may be counted.
    """

    source: str
    source_index: int
    byte: int
    line: int


class Places(NamedTuple):
    """Where the examples of a batch stand: the line of each, and the first row of each source.

    ``numbers`` are those of the examples in their stream, from 1, broken ones counted.
    """

    lines: npt.NDArray[np.int64]
    sources: list[tuple[int, str]]
    numbers: npt.NDArray[np.int64] | None = None

    def of(self, row: int) -> tuple[str, int]:
        """Source and line of an example."""
        source = [name for first, name in self.sources if first <= row][-1]
        return source, int(self.lines[row])

    def keep(self, kept: npt.NDArray[np.intp]) -> Places:
        """Places of some of the examples."""
        sources = [(int(np.searchsorted(kept, first)), name) for first, name in self.sources]
        numbers = None if self.numbers is None else self.numbers[kept]
        return Places(self.lines[kept], sources, numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Examples as rows of a sparse matrix whose columns are 64-bit keys.

    Arrays of the stated type are used without a copy; the keys of a row must be strictly
    ascending and the values finite.

    Parameters
    ----------
    indptr : array of int64, shape (n_examples + 1,)
        Row i holds the entries ``indptr[i]`` to ``indptr[i + 1]``.
    keys : array of uint64, shape (n_entries,)
    values : array of float32, shape (n_entries,)
    labels : array, shape (n_examples,), optional
        Numbers or strings; not needed to predict.
    weights : array of float64, shape (n_examples,), optional
        Importance of each example; finite and not negative. Default: 1.
    names : Names, optional
        Name of each entry; kept by a learner only for the features it selects.
    naming : str
        How keys came about, see :mod:`bearsketch.keys`.
    seed : int, optional
        The seed names were hashed with; needed when ``naming`` is ``"name"``.
    tags : list of bytes, optional
        One per example, echoed by predictions.
    position : Position, optional
        Where the batch ends in its stream.
    places : Places, optional
        Where each example stands, for messages.
    strata : array of uint64, shape (n_examples,), optional
        What evidence is adjusted for: rows are compared only with rows of the same number.

    Examples
    --------
    >>> batch = Batch([0, 2, 3], [7, 9, 7], [1.0, 0.5, 2.0], labels=[1, 0])
    >>> len(batch), batch.n_entries
    (2, 3)
    """

    indptr: npt.NDArray[np.int64]
    keys: npt.NDArray[np.uint64]
    values: npt.NDArray[np.float32]
    labels: npt.NDArray[Any] | None = None
    weights: npt.NDArray[np.float64] | None = None
    names: Names | None = None
    naming: str = "id"
    seed: int | None = None
    tags: list[bytes] | None = None
    position: Position | None = None
    places: Places | None = None
    strata: npt.NDArray[np.uint64] | None = None
    trusted: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.trusted:
            return
        parse_naming(self.naming)
        store = object.__setattr__
        store(self, "indptr", _vector("indptr", self.indptr, np.int64))
        store(self, "keys", _vector("keys", self.keys, np.uint64))
        store(self, "values", _vector("values", self.values, np.float32))
        if self.labels is not None:
            store(self, "labels", np.asarray(self.labels))
        if self.weights is not None:
            store(self, "weights", _vector("weights", self.weights, np.float64))
        if self.strata is not None:
            store(self, "strata", _vector("strata", self.strata, np.uint64))
        if self.names is not None:
            store(self, "names", _aligned(self.names))
        self._check()

    def _check(self) -> None:
        for name in ("labels", "weights", "strata"):
            got = getattr(self, name)
            if got is not None and got.shape != (len(self),):
                raise ParameterError(
                    f"{name} must have shape ({len(self)},), one per example, got {got.shape}"
                )
        if self.tags is not None and len(self.tags) != len(self):
            raise ParameterError(f"tags must be {len(self)}, one per example, got {len(self.tags)}")
        if self.names is not None and self.names.offsets.shape != (self.n_entries + 1,):
            raise ParameterError(
                f"names.offsets must have shape ({self.n_entries + 1},), one more than entries, "
                f"got {self.names.offsets.shape}"
            )
        if self.naming == "name" and self.seed is None:
            raise ParameterError("seed must be given with naming 'name': names are hashed with it")
        try:
            data, offsets = self.names or (None, None)
            _core.check_rows(self.indptr, self.keys, self.values, self.weights, data, offsets)
        except ValueError as error:
            raise ParameterError(str(error)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        trusted = replace(self, trusted=True)
        return _unpickled, tuple(getattr(trusted, spec.name) for spec in fields(self))

    def __len__(self) -> int:
        return max(len(self.indptr) - 1, 0)

    @property
    def n_entries(self) -> int:
        """Number of stored entries (non-zeros)."""
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Bytes of the entries and their names."""
        names = () if self.names is None else self.names
        return sum(array.nbytes for array in (self.indptr, self.keys, self.values, *names))

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, float] | Iterable[str]],
        labels: Any = None,
        *,
        weights: Any = None,
        seed: int = 0,
    ) -> Self:
        """Batch of named features, one mapping (name to value) or list of names per example.

        Parameters
        ----------
        rows : iterable of mapping or iterable of str
            A list of names gives each of them the value 1; repeated names add up.
        labels, weights
            As in the class.
        seed : int
            The seed of the learner the batch is for.

        Examples
        --------
        >>> batch = Batch.from_rows([{"free": 2.0, "hello": 1.0}, ["hello"]], [1, 0])
        >>> batch.n_entries
        3
        """
        counted = [_as_mapping(row) for row in rows]
        names = [name for row in counted for name in row]
        hashed = hash_names(names, seed)
        indptr = np.cumsum([0, *map(len, counted)], dtype=np.int64)
        values = _as_values([value for row in counted for value in row.values()])
        row_of = np.repeat(np.arange(len(counted)), np.diff(indptr))
        order = np.lexsort((hashed, row_of))
        return cls(
            indptr=indptr,
            keys=hashed[order],
            values=values[order],
            labels=None if labels is None else np.asarray(labels),
            weights=weights,
            names=pack_names([encode_name(names[i]) for i in order]),
            naming="name",
            seed=seed,
        )

    def rows(self, start: int, stop: int) -> Self:
        """Examples ``start`` to ``stop`` as a batch of their own, without copying entries.

        Examples
        --------
        >>> Batch([0, 2, 3], [7, 9, 7], [1.0, 0.5, 2.0]).rows(1, 2).keys
        array([7], dtype=uint64)
        """
        if not 0 <= start <= stop <= len(self):
            raise ParameterError(
                f"rows must be a range within 0 to {len(self)}, got {start} to {stop}"
            )
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        names, places = self.names, self.places
        return type(self)(
            indptr=self.indptr[start : stop + 1] - first,
            keys=self.keys[first:last],
            values=self.values[first:last],
            labels=None if self.labels is None else self.labels[start:stop],
            weights=None if self.weights is None else self.weights[start:stop],
            names=None if names is None else Names(names.data, names.offsets[first : last + 1]),
            naming=self.naming,
            seed=self.seed,
            tags=None if self.tags is None else self.tags[start:stop],
            position=self.position,
            places=None if places is None else places.keep(np.arange(start, stop)),
            strata=None if self.strata is None else self.strata[start:stop],
            trusted=True,
        )

    def take(self, rows: npt.NDArray[np.intp]) -> Self:
        """Copy examples by their places, in any order.

        Examples
        --------
        >>> Batch([0, 2, 3], [7, 9, 8], [1.0, 0.5, 2.0]).take(np.array([1, 0])).keys
        array([8, 7, 9], dtype=uint64)
        """
        indptr, entries = _gathered(self.indptr, rows)
        names = self.names
        if names is not None:
            offsets, letters = _gathered(names.offsets.astype(np.int64), entries)
            names = Names(names.data[letters], offsets.astype(np.uint64))
        return replace(
            self,
            indptr=indptr,
            keys=self.keys[entries],
            values=self.values[entries],
            labels=None if self.labels is None else self.labels[rows],
            weights=None if self.weights is None else self.weights[rows],
            names=names,
            tags=None if self.tags is None else [self.tags[i] for i in rows],
            places=None,  # lines that need not rise
            trusted=True,
        )

    def keep(self, mask: npt.NDArray[np.bool_]) -> Self:
        """Copy the examples of a mask together.

        Examples
        --------
        >>> Batch([0, 2, 3], [7, 9, 7], [1.0, 0.5, 2.0]).keep(np.array([False, True])).keys
        array([7], dtype=uint64)
        """
        kept, sizes = np.flatnonzero(mask), np.diff(self.indptr)
        entries = np.repeat(mask, sizes)
        return replace(
            self,
            indptr=np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
            keys=self.keys[entries],
            values=self.values[entries],
            labels=None if self.labels is None else self.labels[kept],
            weights=None if self.weights is None else self.weights[kept],
            names=None if self.names is None else _keep_names(self.names, entries),
            tags=None if self.tags is None else [self.tags[i] for i in kept],
            places=None if self.places is None else self.places.keep(kept),
            strata=None if self.strata is None else self.strata[kept],
            trusted=True,
        )


def _gathered(
    starts: npt.NDArray[np.int64], rows: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Give the starts of rows that are put together, and the places of all they hold."""
    sizes = np.diff(starts)[rows]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ends, np.arange(ends[-1]) + np.repeat(starts[rows] - ends[:-1], sizes)


def _keep_names(names: Names, entries: npt.NDArray[np.bool_]) -> Names:
    offsets = names.offsets.astype(np.int64)
    sizes = np.diff(offsets)
    data = names.data[offsets[0] : offsets[-1]][np.repeat(entries, sizes)]
    return Names(data, np.concatenate([[0], np.cumsum(sizes[entries])]).astype(np.uint64))


def pack_names(names: list[bytes]) -> Names:
    """Join names into one block of bytes with offsets."""
    offsets = np.zeros(len(names) + 1, dtype=np.uint64)
    if any(names):
        np.cumsum([len(name) for name in names], out=offsets[1:])
    return Names(np.frombuffer(b"".join(names), dtype=np.uint8), offsets)


def _as_mapping(row: Mapping[str, float] | Iterable[str]) -> Mapping[str, float]:
    if isinstance(row, Mapping):
        return row
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise ParameterError(
            f"a row must be a mapping from names to values, or a list of names, got {row!r}",
            hint="Split a text into its words first: 'free prize'.split().",
        )
    counts: dict[str, float] = {}
    for name in row:
        counts[name] = counts.get(name, 0.0) + 1.0
    return counts


def _as_values(values: list[Any]) -> npt.NDArray[np.float32]:
    try:
        return np.array(values, dtype=np.float32)
    except (TypeError, ValueError):
        wrong = next(value for value in values if not isinstance(value, (int, float, np.number)))
        raise ParameterError(
            f"values must be numbers, got {wrong!r}",
            hint="A category is a name of its own: {'city=paris': 1}.",
        ) from None


def _vector(name: str, array: Any, dtype: Any) -> npt.NDArray[Any]:
    """One-dimensional contiguous array of ``dtype``; converts only when nothing is lost."""
    got = np.asarray(array)
    if got.ndim != 1:
        raise ParameterError(f"{name} must be one-dimensional, got shape {got.shape}")
    if got.dtype != dtype and got.size and not _fits(got, dtype):
        raise ParameterError(f"{name} must fit {np.dtype(dtype).name}, got {got.dtype.name} values")
    # What overflows float32 becomes infinite, and is refused as that with its row.
    with np.errstate(over="ignore"):
        return np.require(got, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _unpickled(*values: Any) -> Batch:
    """Batch of what it was pickled as, its arrays at addresses that suit their types.

    A message of Dask puts them anywhere.
    """
    return Batch(*map(_aligned, values))


def _aligned(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["ALIGNED"])
    if isinstance(value, (Names, Places)):
        return type(value)(*map(_aligned, value))
    return value


def _fits(got: npt.NDArray[Any], dtype: Any) -> bool:
    if np.issubdtype(dtype, np.integer):
        return np.issubdtype(got.dtype, np.integer) and (
            dtype != np.uint64 or got.dtype.kind == "u" or int(got.min()) >= 0
        )
    return got.dtype.kind in "buif"
