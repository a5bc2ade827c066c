"""Tables: CSV, TSV, Parquet and any Arrow stream, row by row as features.

==========================================  ==============================================
a column of                                 gives an example
==========================================  ==============================================
text, or declared ``categorical``           the feature ``column=value`` with value 1
numbers, or declared ``numeric``            the feature ``column`` with that value
text, declared one of ``text_columns``      a feature ``column^ngram`` for each of its n-grams
list of text or integers                    a feature ``column=item`` for each item
map or list of (name, value) pairs          a feature ``column^name`` for each pair
==========================================  ==============================================

An absent value (null, empty cell) gives no feature, and neither does the number zero. Where a
number should be, ``NA``, ``N/A``, ``n/a``, ``null``, ``NULL`` and ``None`` are absent values too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.batch import Names, Position
from bearsketch.exceptions import ParameterError, ParseError
from bearsketch.reading.chunks import Chunks
from bearsketch.reading.doubtful import (
    A_NUMBER,
    ABSENT,
    MARKED,
    NOT_A_NUMBER,
    REPLACED,
    TRUTH,
    WITH_COMMA,
    doubtful_columns,
)
from bearsketch.reading.labels import LabelKind, names_array
from bearsketch.reading.limits import (
    LEAST_TYPE_ROWS,
    MOST_TYPE_BYTES,
    TYPE_BYTES,
    TYPE_ROWS,
)
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.pieces import Piece, Trouble
from bearsketch.reading.schema import (
    CLOCK,
    NUMBER,
    TEXT,
    TIME,
    Schema,
    all_declared,
    check_same,
    make_schema,
    missing_weights,
)

_HINTS = {
    "CSV-QUOTE": "Cells that begin with a quote are quoted as a whole. LABEL TAB TEXT without a "
    "header may have quotes anywhere: format='text' (--format text).",
    "CSV-QUOTE-OPEN": "Close them, or write a quote inside quotes twice.",
    "CSV-COLUMNS": "Quote cells that hold the separator, or name it (separator, --separator).",
}
_LONGEST_FIELD = 80  # of a name that a column could have
# Labels that are 1 and 0, as those of Arrow are; in any case of letters.
_TRUTHS = {b"true": 1.0, b"false": 0.0}


class Shared:
    """What the first input of a stream settles for the others."""

    def __init__(self, options: ReadOptions) -> None:
        self.labels = LabelKind(options.labels)
        self.schema: Schema | None = None
        self.uses: Any = None  # those of the schema, as the core has them
        self.missing_columns: tuple[str, ...] | None = None  # by the first rows
        self.notes: list[tuple[str, str]] = []  # codes and messages of what is odd
        # Fields of JSON Lines that options name and no example has had, with the option.
        self.unmet: dict[str, str] | None = None


class TableReader(ABC):
    """Rows of a native table as pieces; the table itself is the subclass's."""

    naming = "name"

    def __init__(self, name: str, index: int, options: ReadOptions, shared: Shared) -> None:
        self._name, self._index = name, index
        self._options, self._shared = options, shared
        self._table: Any = None

    def _settle_schema(
        self,
        columns: tuple[bytes, ...],
        shapes: tuple[int, ...],
        categories: Collection[bytes] = (),
    ) -> Schema:
        schema = self._shared.schema
        if schema is None:
            schema = make_schema(columns, shapes, self._name, self._options, categories)
            self._shared.schema = schema
            self._shared.uses = _core.TableUses(schema.uses, self._options.seed)
            self._shared.notes += missing_weights(schema, self._options)
        check_same(schema, columns, self._name)
        return schema

    def _with_times(self, shapes: Sequence[int]) -> tuple[int, ...]:
        """Shapes with columns of text found to be times, and those of times that rise."""
        maybe = [i for i, shape in enumerate(shapes) if shape in (TEXT, TIME)]
        found = dict(zip(maybe, self._table.times(maybe, 0, self._table.n_rows), strict=True))
        times = (None, TIME, CLOCK)
        return tuple(times[found.get(i, 0)] or shape for i, shape in enumerate(shapes))

    @abstractmethod
    def _place(self, row: int, column: int) -> tuple[int, int]:
        """Line and column of a cell."""

    @abstractmethod
    def _lines(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Lines of some rows."""

    def _piece(self, first: int, last: int, position: Position) -> Piece:
        """Rows of the table that have no error."""
        schema = self._shared.schema
        assert schema is not None
        limits = self._options.limits
        if self._shared.missing_columns is None and last > first:
            self._shared.missing_columns = schema.missing_columns(self._table, first, last)
        got = self._table.rows(
            first,
            last,
            self._shared.uses,
            self._options.names,
            limits.name_bytes,
            limits.row_features,
            (
                *(self._options.ngrams or (0, 0)),
                *(self._options.char_ngrams or (0, 0)),
                self._options.lowercase,
                self._options.presence is False,
            ),
        )
        bad = {row: self._trouble(row, column, *rest) for row, column, *rest in got["errors"]}
        labels = self._labels(schema, first, last, bad)
        weights = self._weights(schema, first, last, bad)
        kept = got["kept"]
        names = Names(got["name_data"], got["name_offsets"]) if self._options.names else None
        piece = Piece(
            indptr=got["indptr"],
            keys=got["keys"],
            values=got["values"],
            position=position,
            labels=None if labels is None else labels[kept - first],
            weights=None if weights is None else weights[kept - first],
            names=names,
            lines=self._lines(first, last)[kept - first],
        )
        return self._settle_errors(piece, kept, bad)

    def _settle_errors(self, piece: Piece, kept: Any, bad: dict[int, Trouble]) -> Piece:
        piece = piece.keep(~np.isin(kept, list(bad)))
        piece.errors = [bad[row] for row in sorted(bad)]
        labelled = int(piece.labelled().sum())
        piece.counts = {
            "examples": labelled,
            "unlabelled": len(piece) - labelled,
            "skipped": len(bad),
            "empty": int((np.diff(piece.indptr) == 0).sum()),
        }
        return piece

    def _labels(
        self, schema: Schema, first: int, last: int, bad: dict[int, Trouble]
    ) -> npt.NDArray[Any] | None:
        if schema.label is None:
            return None
        kind = self._shared.labels
        if kind.kind == "auto" and schema.shapes[schema.label] == NUMBER:
            kind.kind = "number"  # also true and false, which are 1 and 0
        if kind.kind == "auto":
            self._settle_labels(schema.label, first, last)
        if kind.kind == "auto":
            return None
        if kind.kind == "name":
            labels, wrong = names_array(self._table.texts(schema.label, first, last))
            for i, message in wrong.items():
                self._refuse(bad, first + i, schema.label, "TAB-LABEL", message)
            return labels
        return self._number_labels(schema.label, first, last, bad)

    def _number_labels(
        self, column: int, first: int, last: int, bad: dict[int, Trouble]
    ) -> npt.NDArray[np.float64]:
        values, kinds = self._table.numbers(column, first, last)
        labels, odd = np.array(values), np.flatnonzero(kinds > A_NUMBER)
        texts = self._table.texts(column, first, last) if len(odd) else []
        for at in map(int, odd):
            truth = _TRUTHS.get(texts[at].strip().lower())
            if truth is None:
                message = "a label that is not a finite number, where labels are numbers"
                self._refuse(bad, first + at, column, "TAB-LABEL", message)
            else:
                labels[at] = truth
        return labels

    def _settle_labels(self, column: int, first: int, last: int) -> None:
        """Decide what labels are by the first one; only if all so far are true or false by those.

        A mark of a missing number does not count, unless all are.
        """
        ahead = max(last, min(self._table.n_rows, first + TYPE_ROWS))
        texts = self._table.texts(column, first, ahead)
        _, kinds = self._table.numbers(column, first, ahead)
        seen = [text for text, kind in zip(texts, kinds, strict=True) if kind != ABSENT]
        if seen and all(text.strip().lower() in _TRUTHS for text in seen):
            self._shared.labels.kind = "number"
            return
        if seen and kinds[texts.index(seen[0])] == A_NUMBER:
            self._shared.labels.settle(b"1")  # also 13,540 and $5
            return
        label = next(iter(seen), next((text for text in texts if text.strip()), b""))
        comma = self._options.decimal == "," and WITH_COMMA.fullmatch(label)
        self._shared.labels.settle(label.replace(b",", b".") if comma else label)

    def _weights(
        self, schema: Schema, first: int, last: int, bad: dict[int, Trouble]
    ) -> npt.NDArray[np.float64] | None:
        if schema.weight is None:
            return None
        values, kinds = self._table.numbers(schema.weight, first, last)
        wrong = (kinds > A_NUMBER) | (values < 0)
        for i in np.flatnonzero(wrong):
            message = "a weight that is not a finite number of at least 0"
            self._refuse(bad, first + int(i), schema.weight, "TAB-WEIGHT", message)
        return np.where(kinds == ABSENT, 1.0, values)

    def _refuse(
        self, bad: dict[int, Trouble], row: int, column: int, code: str, message: str
    ) -> None:
        excerpt = self._table.texts(column, row, row + 1)[0][:40]
        bad[row] = self._trouble(row, column, code, message, excerpt)

    def _trouble(self, row: int, column: int, code: str, message: str, excerpt: bytes) -> Trouble:
        line, place = self._place(row, column)
        schema = self._shared.schema
        hint = ""
        if code == "TAB-VALUE" and schema is not None:
            name = schema.shown(column)
            hint = (
                f"Declare the column categorical (categorical=[{name!r}], --categorical {name}), "
                "or leave the cell empty or write NA where there is no number; the first 1,000 "
                "rows decide what a column is."
            )
        elif code == "TAB-TIME" and schema is not None:
            name = schema.shown(column)
            hint = (
                f"Declare the column categorical (categorical=[{name!r}], --categorical {name}), "
                "or leave the cell empty where there is no time."
            )
        elif code == "TAB-NAME-LONG" and schema is not None:
            hint = long_name_hint(schema.shown(column))
        elif code == "TAB-VALUE-FINITE":
            hint = "Leave the cell empty, or write NA, where there is no number."
        elif code == "TAB-LABEL" and self._shared.labels.kind == "number":
            hint = "Leave the cell empty, or write NA, where an example has no label."
        return Trouble(line, place, code, message, excerpt, hint)


class CsvReader(TableReader):
    """A comma- or tab-separated table, from chunks."""

    def __init__(
        self, chunks: Chunks, delimiter: str, index: int, options: ReadOptions, shared: Shared
    ) -> None:
        super().__init__(chunks.name, index, options, shared)
        self._chunks = chunks
        chunks.read_ahead()
        self._table = _core.CsvTable(delimiter, options.limits.line_bytes, options.decimal)
        self._counts: dict[str, int] = {}
        self._warnings: dict[str, int] = {}
        self._started = False
        self._position = Position(chunks.name, index, 0, 0)

    def close(self) -> None:
        """Stop reading."""
        self._chunks.close()

    def take(self, rows: int, entries: int) -> Piece | None:
        """At most ``rows`` examples, or None at the end."""
        if not self._started:
            self._start()
        if self._table.n_rows < rows:
            self._read(rows, live=self._options.live)
        n = min(rows, self._table.n_rows)
        if n == 0 and self._table.done and not self._table.counts[0] and not self._counts:
            return None
        if n:
            self._position = self._position._replace(
                byte=self._table.end_of(n - 1), line=self._table.end_line_of(n - 1)
            )
        else:  # broken lines alone
            self._position = self._position._replace(line=self._table.line)
        return self._finish_piece(self._piece(0, n, self._position), n)

    def _finish_piece(self, piece: Piece, n: int) -> Piece:
        lines, blank, skipped = self._table.counts
        broken = [_with_hint(Trouble(*error)) for error in self._table.errors]
        piece.errors = sorted([*broken, *piece.errors], key=lambda error: error.line)
        piece.counts["skipped"] += skipped
        piece.counts |= {"lines": lines, "blank": blank}
        for name, value in self._counts.items():
            piece.counts[name] = piece.counts.get(name, 0) + value
        self._counts = {}
        if self._table.done:
            if self._table.no_final_newline:
                piece.warnings["COM-NO-NEWLINE"] = 1
            if self._table.had_bom:
                piece.warnings["COM-BOM"] = 1
        self._table.drop(n)
        return piece

    def _read(self, rows: int, most: int = TYPE_BYTES, *, live: bool = False) -> None:
        """Have so many rows; with ``live``, only those that are there, but one at least."""
        while not self._table.read(rows, most):
            if live and self._chunks.waits and self._table.n_rows:
                return
            try:
                chunk = self._chunks.next()
            except ParseError as error:
                raise with_last_line(error, self._table.line) from None
            self._table.feed(chunk or b"", chunk is None)

    def _start(self) -> None:
        """Read the header and as many rows as fix the columns' types."""
        self._started = True
        columns = self._read_names()
        self._table.expect_columns(len(columns))
        known = self._shared.schema
        live = self._options.live and all_declared(columns, self._options)
        self._read(TYPE_ROWS, live=live)
        if self._table.n_rows < LEAST_TYPE_ROWS:  # long ones: one alone may lack a value
            self._read(LEAST_TYPE_ROWS, MOST_TYPE_BYTES, live=live)
        shapes = self._shapes(len(columns)) if known is None else known.shapes
        schema = self._settle_schema(columns, shapes)
        if known is None:
            self._shared.notes += doubtful_columns(self._table, schema, self._options)

    def _read_names(self) -> tuple[bytes, ...]:
        given = self._options.columns
        names = None if given is None else tuple(map(str.encode, given))
        if not self._options.header and names is not None:
            return names
        self._read(1)
        if not self._options.header:
            width = len(self._table.cells(0)) if self._table.n_rows else 0
            return tuple(b"c%d" % (i + 1) for i in range(width))
        self._check_header()
        cells = tuple(self._table.cells(0)) if self._table.n_rows else ()
        lines, blank, _ = self._table.counts
        self._counts = {"lines": lines, "blank": blank, "header": self._table.n_rows}
        self._table.drop(self._table.n_rows)
        if names is not None and len(names) != len(cells):
            raise ParameterError(
                f"columns must be {len(cells)} names, as many as {self._name} has columns, "
                f"got {len(names)}"
            )
        if names is not None and names != cells and self._shared.schema is None:
            self._shared.notes.append(("TAB-HEADER", REPLACED))
        return names or cells

    def _check_header(self) -> None:
        for error in self._table.errors:
            trouble = Trouble(*error)
            raise ParseError(
                f"the header cannot be read: {trouble.message}",
                code=trouble.code,
                source=self._name,
                line=trouble.line,
                column=trouble.column,
            )

    def _shapes(self, n_columns: int) -> tuple[int, ...]:
        """Call a column numeric if its cells so far are numbers, true, false or absent."""
        counts = self._table.kinds(list(range(n_columns)), 0, self._table.n_rows)
        numeric = (counts[:, [A_NUMBER, TRUTH, MARKED]] > 0).any(axis=1) & (
            counts[:, NOT_A_NUMBER] == 0
        )
        return self._with_times(np.where(numeric, NUMBER, TEXT).tolist())

    def _place(self, row: int, column: int) -> tuple[int, int]:
        return int(self._table.lines(row, row + 1)[0]), self._table.column_of(row, column)

    def _lines(self, first: int, last: int) -> npt.NDArray[np.int64]:
        return np.asarray(self._table.lines(first, last))


def long_name_hint(field: str) -> str:
    """Say what to do about a value that is too long to be part of a feature's name."""
    if len(field) > _LONGEST_FIELD:
        return (
            "The first line was taken for a header, and that of this column is no name: if it is "
            "an example, set header=False (--no-header). LABEL TAB TEXT is read with "
            "format='text' (--format text)."
        )
    return (
        f"If it is text, read its words: text_columns=[{field!r}] (--text-columns "
        f"{field}). Raise the limit name_bytes (--limit) if it is right as one name."
    )


def _with_hint(trouble: Trouble) -> Trouble:
    return trouble._replace(hint=_HINTS.get(trouble.code, trouble.hint))


def with_last_line(error: ParseError, line: int) -> ParseError:
    """Say after which line a compressed input could not be read on."""
    error.line = line
    # A checksum that does not fit is noticed at the end of what it is of.
    said = "noticed after line" if error.code == "SRC-CORRUPT" else "the last good line is"
    error.message += f"; {said} {line}"
    error.args = (error.message,)
    return error
