"""Columns of a text table that may be meant otherwise than they are read, from its first rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from bearsketch import _core
from bearsketch.reading.limits import TYPE_ROWS
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.schema import ALL, AS_CATEGORY, AS_NUMBER, NUMBER, TEXT, Schema
from bearsketch.wording import option

REPLACED = (
    "the first line is taken for a header and no example, its names replaced by those given; if it "
    "is an example, set header=False (--no-header)"
)
# How the core numbers what it finds where a number should be.
ABSENT, A_NUMBER, NOT_FINITE, OUT_OF_RANGE, NOT_A_NUMBER, TRUTH, MARKED = range(7)
WITH_COMMA = re.compile(rb" *[+-]?[0-9]+(,[0-9]+)?([eE][+-]?[0-9]+)? *")
_GROUPED = re.compile(rb" *[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})+ *")
# A column of text with at most this share of cells that are not numbers may be meant as numeric.
_STRAY_SHARE = 0.5
# Cells that mostly have so many words, nearly all different, are texts.
_LEAST_CELLS, _WORDS, _DIFFERENT = 20, 4, 0.9
# Where there are at least so many, those of fewer words are ids.
_LEAST_IDS = 200


def doubtful_columns(
    table: _core.CsvTable, schema: Schema, options: ReadOptions
) -> Iterator[tuple[str, str]]:
    """Code and message for each; what was declared is meant."""
    yield from _marked(table, schema, options)
    for column in _undeclared(schema, options):
        message = _comma(table, schema, column, options)
        if message is not None:
            yield "TAB-DECIMAL", message
            continue
        message = _stray(table, schema, column)
        if message is not None:
            yield "TAB-STRAY", message
            continue
        if schema.shapes[column] == TEXT and not _has_value(table, column):
            yield (
                "TAB-EMPTY",
                f"column {schema.shown(column)!r} has no value in the first {table.n_rows:,} rows, "
                "and is read as categories; if numbers follow, declare it "
                f"({option('numeric', schema.shown(column))})",
            )
            continue
        yield from _different(table, schema, column)
    if schema.label is not None and options.labels in ("auto", "quantity"):
        message = _comma(table, schema, schema.label, options)
        if message is not None:
            yield "TAB-DECIMAL", message


def _comma(table: _core.CsvTable, schema: Schema, column: int, options: ReadOptions) -> str | None:
    """Say that a column is one of numbers but for a comma."""
    if options.decimal == ",":
        return None
    _, kinds = table.numbers(column, 0, table.n_rows)
    texts = table.texts(column, 0, table.n_rows)
    cells = [text for text, kind in zip(texts, kinds, strict=True) if kind != ABSENT]
    odd = [cell for cell in cells if b"," in cell]
    if not odd or not all(map(WITH_COMMA.fullmatch, cells)):
        return None
    remedy = "{decimal=,} reads them as numbers"
    return (
        f"column {schema.shown(column)!r} has numbers with a decimal comma "
        f"({odd[0].decode()!r}), which are read as words; {remedy}"
    )


def _stray(table: _core.CsvTable, schema: Schema, column: int) -> str | None:
    """Say that a few cells alone keep a column from being numeric."""
    _, kinds = table.numbers(column, 0, table.n_rows)
    strays = np.flatnonzero(kinds == NOT_A_NUMBER)
    present = int((kinds != ABSENT).sum())
    if not len(strays) or len(strays) > _STRAY_SHARE * present:
        return None
    row, name = int(strays[0]), schema.shown(column)
    line, place = int(table.lines(row, row + 1)[0]), table.column_of(row, column)
    shown = table.texts(column, row, row + 1)[0][:40].decode("utf-8", "backslashreplace")
    return (
        f"column {name!r} is read as categories, because of {present:,} cells looked at "
        f"{len(strays)} ({len(strays) / present:.1%}) are not numbers "
        f"(line {line}, column {place}: {shown!r}); write NA where a number is missing, declare "
        "the column numeric "
        f"({option('numeric', name)}) to have such cells refused, or "
        "categorical if they are right"
    )


def _has_value(table: _core.CsvTable, column: int) -> bool:
    (counts,) = table.kinds([column], 0, table.n_rows)
    return bool(counts[ABSENT] < table.n_rows)


def _marked(
    table: _core.CsvTable, schema: Schema, options: ReadOptions
) -> Iterator[tuple[str, str]]:
    """Say which numbers have marks of money and the like, and how they are read."""
    declared = {*options.categorical, *options.numeric}
    numbers = [i for i, kind, _ in schema.uses if kind == AS_NUMBER and schema.shapes[i] == NUMBER]
    counts = table.kinds(numbers, 0, table.n_rows)
    for column in np.array(numbers, dtype=int)[counts[:, MARKED] > 0].tolist():
        name = schema.shown(column)
        if name in declared or ALL in declared:
            continue
        first = next(
            row for row in range(table.n_rows) if table.kinds([column], row, row + 1)[0, MARKED]
        )
        (text,) = table.texts(column, first, first + 1)
        (value,), _ = table.numbers(column, first, first + 1)
        shown = text.decode("utf-8", "backslashreplace").strip()
        remedy = f"declare the column categorical ({option('categorical', name)}) if it is a name"
        if options.decimal == "." and _GROUPED.fullmatch(text):
            remedy = "if its comma is a decimal one, set {decimal=,}"
        yield (
            "TAB-MARKS",
            f"column {name!r}: {shown!r} is read as the number {value:.10g}; {remedy}",
        )


def different_cells(table: Any, schema: Schema, options: ReadOptions) -> Iterator[tuple[str, str]]:
    """Code and message for each column whose categories are nearly all different."""
    for column in _undeclared(schema, options):
        if schema.shapes[column] == TEXT:
            yield from _different(table, schema, column)


def _undeclared(schema: Schema, options: ReadOptions) -> list[int]:
    declared = {*options.categorical, *options.numeric}
    if ALL in declared:
        return []
    return [
        column
        for column, kind, _ in schema.uses
        if kind == AS_CATEGORY and schema.shown(column) not in declared
    ]


def _different(table: Any, schema: Schema, column: int) -> Iterator[tuple[str, str]]:
    name, rows = schema.shown(column), min(table.n_rows, TYPE_ROWS)
    cells = [text for text in table.texts(column, 0, rows) if text.strip()]
    different = len(set(cells))
    if len(cells) < _LEAST_CELLS or different < _DIFFERENT * len(cells):
        return
    seen = f"column {name!r} is read as categories, and of {len(cells):,} cells looked at "
    leave = f"leave it out ({option('drop', name)})"
    if sum(len(cell.split()) >= _WORDS for cell in cells) >= 0.5 * len(cells):
        yield (
            "TAB-TEXT",
            f"{seen}{different:,} are different texts, each a feature of its own; have it read by "
            f"its words ({option('text_columns', name)}), or {leave}",
        )
    elif len(cells) >= _LEAST_IDS:
        yield (
            "TAB-UNIQUE",
            f"{seen}{different:,} are different, each a feature of its own that takes memory and "
            f"tells nothing of other examples; {leave} if these are ids or times, or declare it "
            f"({option('categorical', name)}) if its values come again",
        )
