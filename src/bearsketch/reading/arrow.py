"""Arrow: record batches of Parquet files and of any object with ``__arrow_c_stream__``.

Columns are read through Arrow's C data interface, so that only Parquet needs a library for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.batch import Position
from bearsketch.exceptions import DataError, ParseError, SourceError
from bearsketch.reading.columnar import Shared, TableReader
from bearsketch.reading.doubtful import different_cells
from bearsketch.reading.frames import stream_of
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.pieces import Piece, Trouble
from bearsketch.reading.schema import NUMBER, TIME


class ArrowReader(TableReader):
    """Record batches of an Arrow stream; ``line`` counts rows from 1."""

    def __init__(
        self, stream: Any, name: str, index: int, options: ReadOptions, shared: Shared
    ) -> None:
        super().__init__(name, index, options, shared)
        self._table = _core.ArrowReader(stream_of(stream, name))
        described = self._table.columns
        self._before = self._at = self._n_rows = 0  # rows before this record batch, and in it
        shapes = tuple(shape for _, shape, _ in described)
        self._ended = not self._next()
        if TIME in shapes and not self._ended and shared.schema is None:
            shapes = tuple(
                found if shape == TIME else shape
                for shape, found in zip(shapes, self._with_times(shapes), strict=True)
            )
        self._settle_schema(
            tuple(column for column, _, _ in described),
            shapes,
            {column for column, shape, coded in described if coded and shape == NUMBER},
        )
        self._doubt()

    def close(self) -> None:
        """Nothing to close: the stream ends with its object."""

    def take(self, rows: int, entries: int) -> Piece | None:
        """At most ``rows`` examples, or None at the end."""
        while self._at == self._n_rows:
            if self._ended:
                return None
            self._before += self._n_rows
            self._ended = not self._next()
            if not self._ended:
                self._doubt()
        first, last = self._at, min(self._at + rows, self._n_rows)
        self._at = last
        position = Position(self._name, self._index, 0, self._before + last)
        piece = self._piece(first, last, position)
        piece.counts["lines"] = last - first
        return piece

    def _next(self) -> bool:
        """Continue to the next record batch; False at the end."""
        try:
            there = self._table.next()
        except ValueError as error:
            raise self._broken(error) from None
        self._at, self._n_rows = 0, self._table.n_rows if there else 0
        return bool(there)

    def _doubt(self) -> None:
        """Look for columns that may be meant otherwise, in the first rows of a stream."""
        schema = self._shared.schema
        if self._n_rows and not (self._before or self._index):
            assert schema is not None
            self._shared.notes += different_cells(self._table, schema, self._options)

    def _broken(self, error: Exception) -> DataError:
        return ParseError(
            f"reading the rows failed ({error})",
            code="TAB-STREAM",
            source=self._name,
            line=self._before,
        )

    def _place(self, row: int, column: int) -> tuple[int, int]:
        return self._before + row + 1, column + 1

    def _lines(self, first: int, last: int) -> npt.NDArray[np.int64]:
        return np.arange(self._before + first + 1, self._before + last + 1, dtype=np.int64)


class ParquetReader(ArrowReader):
    """A Parquet file, a few rows of one row group at a time."""

    def __init__(
        self, file: Any, name: str, index: int, options: ReadOptions, shared: Shared
    ) -> None:
        self._file = file
        self._parquet = _open_parquet(file, name)
        metadata = self._parquet.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self._group_ends = np.cumsum(sizes)
        super().__init__(
            _parquet_batches(self._parquet, options.rows), name, index, options, shared
        )

    def close(self) -> None:
        """Close the file."""
        self._parquet.close()
        self._file.close()

    def _trouble(self, row: int, column: int, code: str, message: str, excerpt: bytes) -> Trouble:
        group = int(np.searchsorted(self._group_ends, self._before + row, side="right"))
        where = f"row group {group}, {message}"
        return super()._trouble(row, column, code, where, excerpt)


def _open_parquet(file: Any, name: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SourceError(
            f"{name}: Parquet needs the package pyarrow, which is not installed",
            code="SRC-EXTRA",
            hint="Install it with: pip install 'bearsketch[arrow]'",
        ) from None
    try:
        parquet = pyarrow.parquet.ParquetFile(
            file, pre_buffer=False, buffer_size=1 << 18, page_checksum_verification=True
        )
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            f"{name}: not a complete Parquet file ({_first_line(error)})", code="PQ-FILE"
        ) from None
    for column in parquet.schema_arrow:
        if isinstance(column.type, pyarrow.BaseExtensionType):
            raise DataError(
                f"{name}: column {column.name!r} has the extension type {column.type}, which "
                "cannot be used",
                code="TAB-TYPE",
            )
    return parquet


def _parquet_batches(parquet: Any, rows: int) -> Any:
    import pyarrow

    batches = parquet.iter_batches(batch_size=min(rows, 1 << 16), use_threads=False)
    schema = parquet.schema_arrow
    zoned = [i for i, column in enumerate(schema) if getattr(column.type, "tz", None)]
    if not zoned:
        return pyarrow.RecordBatchReader.from_batches(schema, batches)
    for i in zoned:  # as clocks in their zone show them
        schema = schema.set(i, schema.field(i).with_type(pyarrow.timestamp(schema.types[i].unit)))
    return pyarrow.RecordBatchReader.from_batches(schema, map(_local, batches))


def _local(batch: Any) -> Any:
    import pyarrow.compute

    for i, column in enumerate(batch.schema):
        if getattr(column.type, "tz", None):
            batch = batch.set_column(
                i, column.name, pyarrow.compute.local_timestamp(batch.column(i))
            )
    return batch


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
