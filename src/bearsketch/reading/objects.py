"""Python objects as a source: mappings, rows of a database, and frames one after the other."""

from __future__ import annotations

import datetime
import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, BinaryIO

from bearsketch.exceptions import DataError, ParameterError
from bearsketch.reading.frames import as_table, is_frame
from bearsketch.reading.source import Fingerprint

_LINES = 1 << 16  # bytes of lines that are made at a time


@dataclass(frozen=True, slots=True)
class Frames:
    """Tables in memory, in order; ``reopens`` where they can be gone through again."""

    each: Callable[[], Iterator[Any]]
    reopens: bool

    def __iter__(self) -> Iterator[Any]:
        for number, frame in enumerate(self.each(), 1):
            if not is_frame(frame):
                raise _unfit(number, frame, "a frame, as the first")
            yield as_table(frame)


@dataclass(frozen=True, slots=True)
class ObjectsInput:
    """Mappings from name to value, read as lines of JSON Lines are."""

    each: Callable[[], Iterator[Any]]
    name: str
    reopens: bool

    @property
    def size(self) -> int | None:
        """Unknown."""
        return None

    def open(self) -> BinaryIO:
        """Begin with the first mapping."""
        return _Lines(self.each())

    def fingerprint(self) -> Fingerprint | None:
        """Nothing to compare with."""
        return None


def is_file(source: Any) -> bool:
    """Whether a source is an open file; readers of pandas, which give frames, have ``read`` too."""
    return hasattr(source, "read") and not hasattr(source, "get_chunk")


def python_source(source: Any) -> Any:
    """Give what is to be read of Python objects, or the source as it is where it names files.

    Parameters
    ----------
    source : frame, polars LazyFrame, DB-API cursor, or iterable of frames or of mappings
        An iterator is read once; a list, and any other iterable, as often as needed.

    Examples
    --------
    >>> python_source([{"city": "rome", "label": 1}]).name
    '<list>'
    """
    if is_frame(source):
        return Frames(lambda: iter([source]), True)
    if hasattr(source, "collect_batches"):  # a LazyFrame, a part of which is there at a time
        return Frames(lambda: iter(source.collect_batches(maintain_order=True)), True)
    name = f"<{type(source).__name__}>"
    if hasattr(source, "description") and hasattr(source, "fetchmany"):
        return ObjectsInput(lambda: _records(source), name, False)
    if isinstance(source, str | bytes | Mapping) or is_file(source):
        return source
    if not isinstance(source, Iterable) or hasattr(source, "__fspath__"):
        return source
    once = iter(source)
    reopens = once is not source
    first = next(once, None)
    if not isinstance(first, Mapping) and not is_frame(first):
        return source if reopens or first is None else [first, *once]

    def each() -> Iterator[Any]:
        return iter(source) if reopens else itertools.chain([first], once)

    return Frames(each, reopens) if is_frame(first) else ObjectsInput(each, name, reopens)


def _records(cursor: Any) -> Iterator[dict[str, Any]]:
    """Rows of a cursor as mappings by the names of its columns."""
    if cursor.description is None:
        raise ParameterError(
            "a cursor must have rows to give: it was not executed, or not with a SELECT",
            hint="Give what cursor.execute('SELECT ...') returns.",
        )
    names = [str(column[0]) for column in cursor.description]
    while rows := cursor.fetchmany(1000):
        for row in rows:
            yield dict(zip(names, row, strict=True))


class _Lines(io.RawIOBase, BinaryIO):
    """Mappings as lines of JSON, made as they are read."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows, self._number = rows, 0

    def read(self, size: int = -1) -> bytes:
        """Give some lines; nothing at the end."""
        lines: list[bytes] = []
        made = 0
        while made < _LINES and (line := self._line()) is not None:
            lines.append(line)
            made += len(line)
        return b"".join(lines)

    def readable(self) -> bool:
        return True

    def _line(self) -> bytes | None:
        try:
            row = next(self._rows)
        except StopIteration:
            return None
        self._number += 1
        if not isinstance(row, Mapping):
            raise _unfit(self._number, row, "a mapping from names to values, as the first")
        try:
            plain = {_name(name): _plain(value) for name, value in row.items()}
            return json.dumps(plain, allow_nan=False).encode("utf-8", "surrogatepass") + b"\n"
        except (TypeError, ValueError) as error:
            raise DataError(
                f"example {self._number} does not fit: {error}",
                code="SRC-OBJECT",
                hint="Values are numbers, texts, booleans, dates, None, and lists or mappings of "
                "these.",
            ) from None


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name must be str, got {name!r}")
    return name


def _plain(value: Any) -> Any:
    """Value as JSON has it; NaN and the like are missing."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {_name(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, datetime.date | datetime.time):  # datetime is a date
        return value.isoformat()
    if isinstance(value, Decimal):
        return _plain(float(value))
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a number of NumPy
        return _plain(value.item())
    raise TypeError(f"{value!r:.60} is a {type(value).__name__}")


def _unfit(number: int, found: Any, wanted: str) -> DataError:
    return DataError(
        f"object {number} must be {wanted}, got {type(found).__name__}", code="SRC-OBJECT"
    )
