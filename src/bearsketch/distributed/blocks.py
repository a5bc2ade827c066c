"""Partitions of another library's data: blocks of a Dask bag, data frame or array."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bearsketch.batch import Batch
from bearsketch.distributed.shards import DEFAULT_ROUNDS, Plan
from bearsketch.exceptions import ParameterError

WHAT = (
    "blocks must hold Batch, lines of text, (features, label) pairs, a data frame, or X and y as "
    "two arrays"
)


@dataclass(frozen=True, slots=True)
class Block:
    """What one shard learns in one round: some blocks, in order.

    ``data`` are promises (Dask's ``Delayed``) until a worker has the blocks themselves.
    """

    id: int
    round: int
    shard: int
    names: tuple[str, ...]
    data: tuple[Any, ...] = field(repr=False, compare=False)

    @property
    def place(self) -> str:
        """Number and name of the first block, for a message."""
        return f"partition {self.id} (block {self.names[0]})"

    @property
    def size(self) -> int:
        """Blocks; their bytes are not known."""
        return len(self.names)

    def batches(self, seed: int, form: str, options: Mapping[str, Any]) -> Iterator[Batch]:
        """Examples of the blocks."""
        for block in self.data:
            yield from block_batches(block, seed, form, options)


class BlockPlan(Plan):
    """A plan over blocks; their names stand for what is in them."""

    @property
    def sources(self) -> list[str]:
        """Nothing that could be opened."""
        return []

    @property
    def digest(self) -> str:
        """Hash of the names of the blocks, in order."""
        names = [(self.shards, self.rounds), [part.names for part in self.partitions]]
        return hashlib.sha256(repr(names).encode()).hexdigest()


def is_collection(source: Any) -> bool:
    """Whether a source is a Dask collection, or X and y as two of them."""
    if isinstance(source, tuple) and len(source) == 2:
        return all(is_collection(part) for part in source)
    return hasattr(source, "to_delayed") and hasattr(source, "__dask_graph__")


def promises(source: Any) -> list[Any]:
    """Delayed blocks of a collection, in order; pairs of them for X and y.

    A bag of lines, of :class:`Batch` or of (features, label) pairs; a data frame with a label
    column; two arrays (X, y) cut along the rows in the same places.
    """
    if not isinstance(source, tuple):
        return list(np.ravel(np.array(source.to_delayed(), dtype=object)))
    X, y = source
    if X.ndim != 2 or y.ndim != 1 or len(X.chunks[1]) != 1 or X.chunks[0] != y.chunks[0]:
        raise ParameterError(
            "X must be cut along its rows only, in the same places as y, got chunks "
            f"{X.chunks} and {y.chunks}",
            hint="Use X.rechunk({1: -1}) and y.rechunk(X.chunks[0]).",
        )
    pairs = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True)
    return [_pair(a, b) for a, b in pairs]


def _pair(a: Any, b: Any) -> Any:
    import dask

    return dask.delayed(_both)(a, b)  # type: ignore[attr-defined]


def _both(a: Any, b: Any) -> tuple[Any, Any]:
    return a, b


def plan_blocks(blocks: Sequence[Any], *, shards: int, rounds: int | None = None) -> BlockPlan:
    """Deal blocks to shards and rounds, in order; a block is never cut."""
    if not blocks:
        raise ParameterError("the collection must have at least one block, got none")
    used = max(min(rounds or DEFAULT_ROUNDS, len(blocks) // shards), 1)
    n = shards * used
    bounds = [len(blocks) * i // n for i in range(n + 1)]
    parts: list[Any] = []
    for i in range(n):
        mine = blocks[bounds[i] : bounds[i + 1]]
        if mine:
            names = tuple(str(block.key) for block in mine)
            parts.append(Block(len(parts), i // shards, i % shards, names, tuple(mine)))
    return BlockPlan(shards, used, tuple(parts))


def block_batches(block: Any, seed: int, form: str, options: Mapping[str, Any]) -> Iterator[Batch]:
    """Batches of one block.

    Examples
    --------
    >>> pairs = [({"free": 1.0}, 1), (["meeting"], 0)]
    >>> [len(batch) for batch in block_batches(pairs, 0, "auto", {})]
    [2]
    """
    if isinstance(block, Batch):
        yield block
    elif hasattr(block, "__arrow_c_stream__"):
        yield from _read(block, "auto", options)
    elif isinstance(block, tuple) and len(block) == 2 and hasattr(block[0], "shape"):
        yield _matrix_batch(*block)
    else:
        yield from _list_batches(list(block), seed, form, options)


def _list_batches(
    items: list[Any], seed: int, form: str, options: Mapping[str, Any]
) -> Iterator[Batch]:
    if all(isinstance(item, Batch) for item in items):
        yield from items
    elif all(isinstance(item, str) for item in items):
        text = "".join(line if line.endswith("\n") else line + "\n" for line in items)
        yield from _read(io.BytesIO(text.encode()), form, options)
    elif all(isinstance(item, tuple) and len(item) == 2 for item in items):
        yield Batch.from_rows(
            [row for row, _ in items], np.array([label for _, label in items]), seed=seed
        )
    else:
        raise ParameterError(f"{WHAT}, got {type(items[0]).__name__}")


def _read(source: Any, form: str, options: Mapping[str, Any]) -> Iterator[Batch]:
    from bearsketch.reading import open_stream

    with open_stream(source, form, **{**options, "allow_empty": True, "threads": 1}) as stream:
        yield from stream


def _matrix_batch(X: Any, y: Any) -> Batch:
    """Rows of an array or sparse matrix; column numbers are keys."""
    if isinstance(X, np.ndarray):
        row, column = np.nonzero(X)
        indptr = np.searchsorted(row, np.arange(len(X) + 1)).astype(np.int64)
        return Batch(indptr, column.astype(np.uint64), X[row, column], labels=np.asarray(y))
    X = X.tocsr()
    X.sum_duplicates()
    indptr = X.indptr.astype(np.int64)
    return Batch(indptr, X.indices.astype(np.uint64), X.data, labels=np.asarray(y))
