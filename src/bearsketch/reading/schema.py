"""Schema: which columns of a table are the label, the weight and features, and of which kind."""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from bearsketch.exceptions import BearError, DataError, ParameterError

if TYPE_CHECKING:
    from bearsketch.reading.options import ReadOptions

# Shapes of a column, as the core numbers them.
NUMBER, TEXT, ITEMS, NAMED_VALUES, NOTHING, UNSUPPORTED, TIME = range(7)
CLOCK = 7  # times that rise along the data, as those of a log do
# What a column is read as, as the core numbers it.
AS_NUMBER, AS_CATEGORY, AS_TEXT, AS_TIME, AS_CLOCK = range(5)
ALL = "*"
SIMPLE = (NUMBER, TEXT, TIME, CLOCK)  # shapes of one value
_SHOWN_NAME = 60  # characters of a column's name in a message
_SHOWN_COLUMNS = 8
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls the numbers of the rows


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns of a table and their use; the same for all inputs of a stream."""

    columns: tuple[bytes, ...]
    shapes: tuple[int, ...]
    uses: list[tuple[int, int, bytes]]
    label: int | None
    weight: int | None

    def shown(self, column: int) -> str:
        """Name of a column, for messages."""
        return self.columns[column].decode("utf-8", "backslashreplace")

    def by_use(self) -> dict[str, tuple[str, ...]]:
        """Names of the columns that are categorical, numeric, and text."""
        simple = [
            (name.decode("utf-8", "surrogateescape"), kind)
            for i, kind, name in self.uses
            if self.shapes[i] in SIMPLE
        ]
        kinds = {
            "categorical": AS_CATEGORY,
            "numeric": AS_NUMBER,
            "text_columns": AS_TEXT,
            "time_columns": AS_TIME,
            "clock_columns": AS_CLOCK,
        }
        return {
            use: tuple(name for name, kind in simple if kind == wanted)
            for use, wanted in kinds.items()
        }

    def missing_columns(self, table: Any, first: int, last: int) -> tuple[str, ...]:
        """Columns of numbers that are missing as often as 0, or more, in rows of a native table."""
        wanted = [
            (i, name)
            for i, kind, name in self.uses
            if kind == AS_NUMBER and self.shapes[i] in (NUMBER, TEXT)
        ]
        counts = table.kinds([i for i, _ in wanted], first, last)
        zeros, numbers = counts[:, -1], counts[:, 1] + counts[:, 6]
        missing = zeros <= last - first - numbers
        return tuple(
            name.decode("utf-8", "surrogateescape")
            for (_, name), is_missing in zip(wanted, missing.tolist(), strict=True)
            if is_missing
        )


def make_schema(
    columns: tuple[bytes, ...],
    shapes: tuple[int, ...],
    source: str,
    options: ReadOptions,
    categories: Collection[bytes] = (),
) -> Schema:
    """Decide what each column is for; ``categories`` are those of a categorical type."""
    names = [column.decode("utf-8", "surrogateescape") for column in columns]
    places = {name: i for i, name in enumerate(names)}
    if len(places) < len(names):
        repeated = min(name for i, name in enumerate(names) if places[name] != i)
        raise DataError(
            f"{source}: two columns are named {repeated!r}",
            code="TAB-COLUMN-TWICE",
            hint="Give the names of the columns, each once (columns, --columns A,B,...); where the "
            "first line is an example and no header, header=False (--no-header) too.",
        )
    _check_known(names, source, options)
    listed = _Listed.of(options, names)
    wanted = options.label_column
    label = None if options.labels == "none" else _index(names, wanted or "label")
    weight = _index(names, options.weight_column)
    if label is not None and shapes[label] not in SIMPLE:
        raise _unsupported(source, names[label], "a label is a number or a text")
    uses = []
    for i, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        if i in (label, weight) or listed.has(name, listed.drop):
            continue
        if _INDEX.fullmatch(name) and name not in listed.every:
            continue
        if shape == UNSUPPORTED:
            raise _unsupported(source, name, "cast it to numbers or text")
        kind = _kind(name, TEXT if columns[i] in categories else shape, listed)
        if kind in (AS_TEXT, AS_TIME, AS_CLOCK) and shape not in (*SIMPLE, NOTHING):
            raise _unsupported(source, name, "leave it out of the text columns")
        uses.append((i, kind, columns[i]))
    return Schema(columns, shapes, uses, label, weight)


@dataclass(frozen=True, slots=True)
class _Listed:
    """Columns that options list, as sets."""

    categorical: frozenset[str]
    numeric: frozenset[str]
    drop: frozenset[str]
    text: frozenset[str]
    time: frozenset[str]
    clock: frozenset[str]
    every: frozenset[str]

    @classmethod
    def of(cls, options: ReadOptions, names: Sequence[str]) -> _Listed:
        """Columns by the names and patterns that list them; a name says more than a pattern."""
        lists = [
            options.categorical,
            options.numeric,
            options.drop,
            options.text_columns or (),
            options.time_columns,
            options.clock_columns,
        ]
        known = set(names)
        exact = known.intersection(*[set().union(*lists)])
        sets = [
            frozenset(listed).union(
                found
                for pattern in listed
                if is_pattern(pattern, known)
                for found in fnmatch.filter(names, pattern)
                if found not in exact
            )
            for listed in lists
        ]
        categorical, numeric, drop, text, time, clock = sets
        every = frozenset().union(*sets)
        return cls(categorical, numeric, drop, text, time, clock, every)

    def has(self, name: str, listed: frozenset[str]) -> bool:
        """Whether a column is in a list: by name, or among all that no list names."""
        return name in listed or (ALL in listed and name not in self.every)


def is_pattern(name: str, known: Collection[str]) -> bool:
    """Whether a name in a list stands for columns that look like it, as ``id_*`` does."""
    return name != ALL and name not in known and any(letter in name for letter in "*?[")


def _kind(name: str, shape: int, listed: _Listed) -> int:
    if name in listed.text:
        return AS_TEXT
    if listed.has(name, listed.categorical):
        return AS_CATEGORY
    if listed.has(name, listed.numeric):
        return AS_NUMBER
    if name in listed.time or name in listed.clock:
        return AS_TIME if name in listed.time else AS_CLOCK
    if shape in (TIME, CLOCK):
        return AS_TIME if shape == TIME else AS_CLOCK
    return AS_CATEGORY if shape == TEXT else AS_NUMBER


def _index(names: list[str], name: str | None) -> int | None:
    return names.index(name) if name is not None and name in names else None


def _short(name: str) -> str:
    return name if len(name) <= _SHOWN_NAME else name[: _SHOWN_NAME - 3] + "..."


def _check_known(names: list[str], source: str, options: ReadOptions) -> None:
    given = [options.label_column] if options.labels_needed else []
    given += [options.weight_column] if options.labels_needed and options.weights_needed else []
    listed = [options.categorical, options.numeric, options.text_columns or ()]
    listed += [options.time_columns, options.clock_columns]
    listed += [options.drop] if options.drop_needed else []
    # Where a model knows the columns of features, no option is wrong but the data.
    of_features = ParameterError if options.drop_needed else DataError
    known = set(names)
    wanted = zip(given, itertools.repeat(ParameterError))
    features = zip(itertools.chain(*listed), itertools.repeat(of_features))
    for name, fault in itertools.chain[tuple[str | None, type[BearError]]](wanted, features):
        if name is None or name == ALL or name in known:
            continue
        if not (is_pattern(name, known) and fnmatch.filter(names, name)):
            raise fault(
                f"{source}: there is no column {name!r}; the columns are {few_columns(names)}",
                code="TAB-COLUMN-MISSING",
                hint=_meant(name, names),
            )


def missing_weights(schema: Schema, options: ReadOptions) -> list[tuple[str, str]]:
    """Say that the weights of examples are not there, where they need not be but would count."""
    if options.weight_column is None or schema.weight is not None or not options.labels_needed:
        return []
    told = (
        f"there is no column {options.weight_column!r}, by which the model's own examples were "
        "weighted: every example counts 1; if the weights have another name here, give it "
        f"({{weight_column}})"
    )
    return [("TAB-WEIGHT-MISSING", told)]


def few_columns(names: Sequence[str]) -> str:
    """Show some names of columns, for a message."""
    few = ", ".join(repr(_short(name)) for name in names[:_SHOWN_COLUMNS])
    return few + (", ..." if len(names) > _SHOWN_COLUMNS else "")


def _meant(name: str, names: list[str]) -> str:
    folded = {known.casefold(): known for known in names}
    close = get_close_matches(name.casefold(), folded, n=1)
    return f"Is {folded[close[0]]!r} meant?" if close else ""


def _unsupported(source: str, name: str, remedy: str) -> DataError:
    return DataError(
        f"{source}: column {name!r} has a type that cannot be used",
        code="TAB-TYPE",
        hint=f"Leave it out (drop=[{name!r}], --drop {name}), or {remedy}.",
    )


def all_declared(columns: tuple[bytes, ...], options: ReadOptions) -> bool:
    """Whether the options say what each column is, so that no row has to tell."""
    listed = {*options.categorical, *options.numeric, *options.drop, *(options.text_columns or ())}
    listed |= {options.label_column or "label", options.weight_column or ""}
    names = [column.decode("utf-8", "surrogateescape") for column in columns]
    listed |= _Listed.of(options, names).every
    return ALL in listed or listed.issuperset(names)


def check_same(schema: Schema, columns: tuple[bytes, ...], source: str) -> None:
    """Refuse an input whose columns differ from those of the first."""
    if schema.columns != columns:
        raise DataError(
            f"{source}: its {len(columns)} columns differ from the {len(schema.columns)} columns "
            "of the first input",
            code="TAB-SCHEMA",
            hint="All inputs of a stream have the same columns in the same order.",
        )
