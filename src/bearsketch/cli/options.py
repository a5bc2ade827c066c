"""Options that several commands share, each written once."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from bearsketch.exceptions import ParameterError
from bearsketch.reading.limits import Limits
from bearsketch.reading.options import FORMAT, TABLE, Option
from bearsketch.sizes import parse_bytes

Data = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA...",
        help="Files, globs or URLs, plain or compressed; `-` or a pipe for standard input.",
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A .bear file that train wrote.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel="Output")
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object to standard output.", rich_help_panel="Output"
    ),
]

# Types of options on the command line, by the form of their kind.
_TYPES: dict[str, Any] = {
    "integer": int | None,
    "switch": bool | None,
    "text": str | None,
    "share": str | None,
    "range": str | None,
    "path": Path | None,
    "names": list[str] | None,
    "limits": list[str] | None,
}


def _typed(row: Option) -> Any:
    """Type of a reading option on the command line."""
    # Escaped, as typer takes a bracket in an error message for markup.
    unset = f" \\[default: {row.unset}]" if row.unset else ""
    option = typer.Option(
        *([row.spelled] if row.spelled else []),
        rich_help_panel=row.group,
        show_default=False,
        metavar=row.metavar or None,
        help=row.help + unset,
    )
    return Annotated[_TYPES[row.kind.form], option]


READING: dict[str, Option] = {row.name: row for row in (FORMAT, *TABLE.values()) if row.help}


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all the options of reading; it gets those that were used as ``reading``."""
    own = inspect.signature(command, eval_str=True)
    parameters = [p for name, p in own.parameters.items() if name != "reading"]
    parameters += [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_typed(row)
        )
        for name, row in READING.items()
    ]

    @functools.wraps(command)
    def with_reading(**given: Any) -> None:
        used = {name: given.pop(name) for name in READING}
        # An option that may be repeated and is not used comes as an empty list.
        command(**given, reading={name: v for name, v in used.items() if v not in (None, [])})

    del with_reading.__wrapped__
    with_reading.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_reading.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_reading


def read_options(used: dict[str, Any]) -> dict[str, Any]:
    """Options as :func:`bearsketch.reading.open_stream` takes them, from what was typed."""
    options = {name: _parsed(READING[name], given) for name, given in used.items()}
    if options.get("separator") in ("tab", "\\t"):
        options["separator"] = "\t"
    if "char_ngrams" in options:
        options.setdefault("ngrams", None)
    if "max_errors" in options and options.get("on_error", "fail") == "fail":
        raise ParameterError("--max-errors needs --on-error skip")
    return options


def _parsed(row: Option, given: Any) -> Any:
    parse: dict[str, Callable[[Any], Any]] = {
        "names": parse_names,
        "range": functools.partial(parse_range, row.name),
        "share": parse_errors,
        "limits": lambda texts: Limits(**parse_limits(texts)),
    }
    return parse.get(row.kind.form, lambda value: value)(given)


def parse_names(given: Sequence[str]) -> tuple[str, ...]:
    """Names between commas, of an option that may be repeated.

    A name may be empty, as that of the index that pandas writes; one with a comma stands in
    quotes, as in a CSV file.

    Examples
    --------
    >>> parse_names(["a,b", "c"]), parse_names([",a"]), parse_names([""]), parse_names(['"x,y",z'])
    (('a', 'b', 'c'), ('', 'a'), ('',), ('x,y', 'z'))
    """
    import csv

    return tuple(name for row in csv.reader(text or '""' for text in given) for name in row)


def parse_range(name: str, text: str) -> tuple[int, int]:
    """Lengths of n-grams: ``2`` or ``1-3``.

    Examples
    --------
    >>> parse_range("ngrams", "1-3"), parse_range("ngrams", "2")
    ((1, 3), (2, 2))
    """
    low, dash, high = text.partition("-")
    if not (low.isdecimal() and (high.isdecimal() or not dash)):
        raise ParameterError(
            f"--{name.replace('_', '-')} must be a length or a range such as 1-3, got {text!r}"
        )
    return int(low), int(high or low)


def parse_limits(given: list[str]) -> dict[str, int]:
    """Limits from texts such as ``line_bytes=256MiB``.

    Examples
    --------
    >>> parse_limits(["line_bytes=1MiB", "row_features=1000"])
    {'line_bytes': 1048576, 'row_features': 1000}
    """
    names = [spec.name for spec in fields(Limits)]
    limits = {}
    for text in given:
        name, _, size = text.partition("=")
        if name not in names:
            raise ParameterError(
                f"--limit must be NAME=SIZE with a name of {', '.join(names)}, got {text!r}"
            )
        limits[name] = parse_bytes(size)
    return limits


def parse_errors(text: str) -> int | float:
    """Most errors: a count, or a share in per cent.

    Examples
    --------
    >>> parse_errors("20"), parse_errors("0.5%")
    (20, 0.005)
    """
    number = text.removesuffix("%")
    try:
        found = float(number) / 100 if number != text else int(number)
    except ValueError:
        found = -1
    if found < 0 or (isinstance(found, float) and not found < 1):
        raise ParameterError(
            f"--max-errors must be a count such as 20 or a share below 100 % such as 0.5%, "
            f"got {text!r}"
        )
    return found


def sources(data: list[str] | None) -> list[str]:
    """Give the sources that were named, or standard input when something is piped in."""
    if data:
        return data
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        return ["-"]
    raise ParameterError(
        "DATA must name at least one file, got none",
        hint="Name files, or pipe data in: cat data.vw | bearsketch ...",
    )
