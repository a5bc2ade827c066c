"""Pieces: what readers give, joined and cut into batches of a fixed number of examples."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch, Names, Places, Position
from bearsketch.reading.limits import Limits


class Trouble(NamedTuple):
    """A line or record that was refused."""

    line: int
    column: int
    code: str
    message: str
    excerpt: bytes
    hint: str = ""


@dataclass(slots=True)
class Piece:
    """Some examples of one input, and what occurred on the way to them.

    ``labels`` are numbers (NaN = none) or strings ("" = none); None = no example has one.
    """

    indptr: npt.NDArray[np.int64]
    keys: npt.NDArray[np.uint64]
    values: npt.NDArray[np.float32]
    position: Position
    labels: npt.NDArray[Any] | None = None
    weights: npt.NDArray[np.float64] | None = None
    names: Names | None = None
    tags: list[bytes] | None = None
    lines: npt.NDArray[np.int64] | None = None
    numbers: npt.NDArray[np.int64] | None = None
    errors: list[Trouble] = field(default_factory=list)
    fatal: Trouble | None = None
    counts: dict[str, int] = field(default_factory=dict)
    warnings: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def labelled(self) -> npt.NDArray[np.bool_]:
        """Which examples have a label."""
        if self.labels is None:
            return np.zeros(len(self), dtype=bool)
        numbers = self.labels.dtype.kind == "f"
        has: npt.NDArray[np.bool_] = ~np.isnan(self.labels) if numbers else self.labels != ""
        return has

    def slice(self, start: int, stop: int) -> Piece:
        """Examples ``start`` to ``stop``, without copying entries."""
        if (start, stop) == (0, len(self)):
            return self
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        names = self.names
        return Piece(
            indptr=self.indptr[start : stop + 1] - first,
            keys=self.keys[first:last],
            values=self.values[first:last],
            position=self._position_after(stop),
            labels=None if self.labels is None else self.labels[start:stop],
            weights=None if self.weights is None else self.weights[start:stop],
            names=None if names is None else Names(names.data, names.offsets[first : last + 1]),
            tags=None if self.tags is None else self.tags[start:stop],
            lines=None if self.lines is None else self.lines[start:stop],
            numbers=None if self.numbers is None else self.numbers[start:stop],
        )

    def before(self, line: int) -> Piece:
        """Examples that stand before a line; none where their lines are not known."""
        return self.slice(0, 0 if self.lines is None else int(np.searchsorted(self.lines, line)))

    def _position_after(self, stop: int) -> Position:
        if stop == len(self) or self.lines is None:
            return self.position
        return self.position._replace(line=int(self.lines[stop - 1]))

    def keep(self, mask: npt.NDArray[np.bool_]) -> Piece:
        """Copy the examples of a mask together."""
        if mask.all():
            return self
        kept = np.flatnonzero(mask)
        sizes = np.diff(self.indptr)
        entries = np.repeat(mask, sizes)
        indptr = np.zeros(len(kept) + 1, dtype=np.int64)
        np.cumsum(sizes[kept], out=indptr[1:])
        return Piece(
            indptr=indptr,
            keys=self.keys[entries],
            values=self.values[entries],
            position=self.position,
            labels=None if self.labels is None else self.labels[kept],
            weights=None if self.weights is None else self.weights[kept],
            names=None if self.names is None else _keep_names(self.names, entries),
            tags=None if self.tags is None else [self.tags[i] for i in kept],
            lines=None if self.lines is None else self.lines[kept],
            numbers=None if self.numbers is None else self.numbers[kept],
        )


def _keep_names(names: Names, entries: npt.NDArray[np.bool_]) -> Names:
    offsets = names.offsets.astype(np.int64)
    sizes = np.diff(offsets)
    data = names.data[offsets[0] : offsets[-1]][np.repeat(entries, sizes)]
    return Names(data, _offsets([sizes[entries]]))


def _offsets(sizes: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.uint64]:
    joined = np.concatenate(sizes)
    out = np.zeros(len(joined) + 1, dtype=np.uint64)
    np.cumsum(joined, out=out[1:])
    return out


class Numbering:
    """Numbers examples along a stream from 1, those that are broken among them."""

    def __init__(self) -> None:
        self._next = 1
        self._source = -1
        self._broken: list[int] = []  # lines of this input that no example has passed yet

    def number(self, piece: Piece) -> None:
        """Give the examples of a piece their numbers."""
        if piece.position.source_index != self._source:
            self._source = piece.position.source_index
            self._pass(len(self._broken))
        if not self._broken and not piece.errors:  # as nearly always
            if piece.lines is not None:
                piece.numbers = np.arange(self._next, self._next + len(piece))
                self._next += len(piece)
            return
        # A table reads ahead, so that some of the broken lines may come after the examples.
        self._broken = sorted([*self._broken, *(error.line for error in piece.errors)])
        if piece.lines is not None and len(piece):
            before = np.searchsorted(self._broken, piece.lines)
            piece.numbers = self._next + np.arange(len(piece)) + before
            self._next += len(piece)
            self._pass(int(before[-1]))
        # No example to come stands before the place where the reader is.
        self._pass(bisect_right(self._broken, piece.position.line))

    def _pass(self, n: int) -> None:
        self._next += n
        del self._broken[:n]


class Packer:
    """Turns pieces into batches of ``rows`` examples that keep to the limits of a batch.

    A batch ends before the example that would not fit, so that where batches end depends on the
    examples alone: not on how they came in pieces, nor on the files they came from. Those that end
    early are counted in ``counts`` as ``split_batches``.
    """

    def __init__(
        self, rows: int, limits: Limits, naming: str, seed: int, counts: Counter[str]
    ) -> None:
        self._counts = counts
        self._rows, self._entries = rows, limits.batch_entries
        self._text = limits.batch_text_bytes
        self._naming, self._seed = naming, seed
        self._held: list[Piece] = []
        self._unlabelled = False  # a piece came without labels, and no label since
        self.rows_left = rows
        self.entries_left = self._entries
        self._text_left = self._text

    def add(self, piece: Piece) -> Iterator[Batch]:
        """Batches that are full now."""
        at = 0
        while at < len(piece):
            stop = min(at + self.rows_left, self._fitting(piece, at))
            if stop <= at and self._held:
                self._counts["split_batches"] += 1
                yield self._flush()
                continue
            stop = max(stop, at + 1)
            self._hold(piece.slice(at, stop))
            at = stop
            if self.rows_left == 0:
                yield self._flush()

    def _fitting(self, piece: Piece, at: int) -> int:
        """First example after ``at`` that has no room."""
        ends = piece.indptr
        if self._fits(piece, int(ends[at])):
            return len(piece)
        stop = np.searchsorted(ends, ends[at] + self.entries_left, side="right")
        if piece.names is not None:
            ends = piece.names.offsets[piece.indptr].astype(np.int64)
            stop = min(stop, np.searchsorted(ends, ends[at] + self._text_left, side="right"))
        return int(stop) - 1

    def _fits(self, piece: Piece, first: int) -> bool:
        """Whether there is room for all entries from the first on."""
        offsets = None if piece.names is None else piece.names.offsets
        text = 0 if offsets is None else int(offsets[-1]) - int(offsets[first])
        return len(piece.keys) - first <= self.entries_left and text <= self._text_left

    def finish(self) -> Iterator[Batch]:
        """Hand over the last batch, if there is one."""
        if self._held:
            yield self._flush()

    def _hold(self, piece: Piece) -> None:
        self._held.append(piece)
        self._unlabelled = self._unlabelled or piece.labels is None
        self.rows_left -= len(piece)
        self.entries_left -= len(piece.keys)
        if piece.names is not None:
            self._text_left -= int(piece.names.offsets[-1]) - int(piece.names.offsets[0])

    def _flush(self) -> Batch:
        piece = self._held[0] if len(self._held) == 1 else _join(self._held)
        places = _join_places(self._held)
        # Whether a label stands further on in the same piece is no matter of these examples.
        self._unlabelled = self._unlabelled and not piece.labelled().any()
        self._held = []
        self.rows_left, self.entries_left = self._rows, self._entries
        self._text_left = self._text
        return Batch(
            indptr=piece.indptr,
            keys=piece.keys,
            values=piece.values,
            labels=None if self._unlabelled else piece.labels,
            weights=piece.weights,
            names=piece.names,
            naming=self._naming,
            seed=self._seed if self._naming == "name" else None,
            tags=piece.tags if any(piece.tags or ()) else None,
            position=piece.position,
            places=places,
            trusted=True,
        )


def _join(pieces: list[Piece]) -> Piece:
    ends = np.concatenate([[0], np.cumsum([len(piece.keys) for piece in pieces])])
    indptr = [piece.indptr[:-1] + start for piece, start in zip(pieces, ends[:-1], strict=True)]
    return Piece(
        indptr=np.concatenate([*indptr, ends[-1:]]).astype(np.int64),
        keys=np.concatenate([piece.keys for piece in pieces]),
        values=np.concatenate([piece.values for piece in pieces]),
        position=pieces[-1].position,
        labels=_join_labels(pieces),
        weights=_join_weights(pieces),
        names=_join_names(pieces),
        tags=_join_tags(pieces),
    )


def _join_places(pieces: list[Piece]) -> Places | None:
    lines = [piece.lines for piece in pieces if piece.lines is not None]
    if len(lines) < len(pieces):
        return None
    if len(pieces) == 1:
        return Places(lines[0], [(0, pieces[0].position.source)], pieces[0].numbers)
    sources: list[tuple[int, str]] = []
    row = 0
    for piece in pieces:
        if not sources or sources[-1][1] != piece.position.source:
            sources.append((row, piece.position.source))
        row += len(piece)
    numbers = [piece.numbers for piece in pieces if piece.numbers is not None]
    return Places(
        np.concatenate(lines),
        sources,
        np.concatenate(numbers) if len(numbers) == len(pieces) else None,
    )


def _join_labels(pieces: list[Piece]) -> npt.NDArray[Any] | None:
    kinds = {piece.labels.dtype.kind for piece in pieces if piece.labels is not None}
    if not kinds:
        return None
    # A piece whose examples have no label takes the kind of the others.
    dtype, absent = (np.float64, np.nan) if kinds == {"f"} else (np.str_, "")
    empty = [np.full(len(piece), absent, dtype=dtype) for piece in pieces]
    return np.concatenate(
        [
            fill if piece.labels is None else piece.labels
            for piece, fill in zip(pieces, empty, strict=True)
        ]
    )


def _join_weights(pieces: list[Piece]) -> npt.NDArray[np.float64] | None:
    if all(piece.weights is None for piece in pieces):
        return None
    return np.concatenate(
        [np.ones(len(piece)) if piece.weights is None else piece.weights for piece in pieces]
    )


def _join_names(pieces: list[Piece]) -> Names | None:
    names = [piece.names for piece in pieces if piece.names is not None]
    if len(names) < len(pieces):
        return None
    data = [part.data[int(part.offsets[0]) : int(part.offsets[-1])] for part in names]
    sizes: list[Any] = [np.diff(part.offsets.astype(np.int64)) for part in names]
    return Names(np.concatenate(data), _offsets(sizes))


def _join_tags(pieces: list[Piece]) -> list[bytes] | None:
    if all(piece.tags is None for piece in pieces):
        return None
    return [tag for piece in pieces for tag in piece.tags or [b""] * len(piece)]
