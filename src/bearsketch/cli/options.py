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
from bearsketch.sizes import parse_bytes

_READ, _TABLE, _SEQUENCE, _TEXT, _LABELS = (
    "Reading",
    "CSV, TSV and Parquet",
    "FASTA and FASTQ",
    "Text and JSON Lines",
    "Labels",
)
FORMATS = "auto, vw, svmlight, fasta, fastq, csv, tsv, parquet, jsonl, text"


def _option(*names: str, panel: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, show_default=False, **rest)


Data = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA...",
        help="Files, globs or URLs, plain or compressed; - is standard input, as is nothing in "
        "a pipe.",
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A .bear file that train wrote.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel="Output")
]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON object on standard output.", rich_help_panel="Output"),
]

# How data is read: option of ReadOptions -> type of the option on the command line.
READING: dict[str, Any] = {
    "format": Annotated[
        str | None,
        _option(panel=_READ, metavar="FORMAT", help=f"One of {FORMATS}."),
    ],
    "on_error": Annotated[
        str | None,
        _option(
            panel=_READ, metavar="fail|skip", help="Stop at a broken example, or skip and count it."
        ),
    ],
    "max_errors": Annotated[
        str | None,
        _option(panel=_READ, metavar="N|P%", help="With skip: most broken examples. [1%]"),
    ],
    "limits": Annotated[
        list[str] | None,
        _option(
            "--limit",
            panel=_READ,
            metavar="NAME=SIZE",
            help="How large a part of the input may be, such as line_bytes=256MiB; may come twice. "
            "Names: line_bytes, name_bytes, row_features, batch_entries, batch_text_bytes, "
            "input_bytes, window_bytes.",
        ),
    ],
    "duplicates": Annotated[
        str | None,
        _option(
            panel=_READ,
            metavar="refuse|sum",
            help="What an id that comes twice in a line of svmlight means.",
        ),
    ],
    "drop": Annotated[
        list[str] | None,
        _option(
            panel=_READ,
            metavar="A,B",
            help="Columns of a table, or fields of JSON Lines, to leave out.",
        ),
    ],
    "label_column": Annotated[
        str | None,
        _option(
            panel=_LABELS,
            metavar="NAME",
            help="Column of a table, or field of JSON Lines, with the label. \\[label]",
        ),
    ],
    "weight_column": Annotated[
        str | None,
        _option(
            panel=_LABELS,
            metavar="NAME",
            help="Column of a table, or field of JSON Lines, with an example's weight.",
        ),
    ],
    "label_from": Annotated[
        str | None,
        _option(
            panel=_LABELS,
            metavar="header|file|none",
            help="FASTA and FASTQ: where labels are; file takes the file's name. Text: none, if "
            "lines have no label and TAB in front.",
        ),
    ],
    "label_regex": Annotated[
        str | None,
        _option(
            panel=_LABELS,
            metavar="REGEX",
            help="FASTA and FASTQ: its first group in the header (or file name) is the label.",
        ),
    ],
    "label_table": Annotated[
        Path | None,
        _option(
            panel=_LABELS,
            metavar="FILE",
            help="FASTA and FASTQ: tab-separated table from record (or file) name to label.",
        ),
    ],
    "kmer": Annotated[
        int | None, _option(panel=_SEQUENCE, metavar="K", help="Length of k-mers; no default.")
    ],
    "alphabet": Annotated[
        str | None, _option(panel=_SEQUENCE, metavar="acgt|iupac", help="Letters of k-mers.")
    ],
    "canonical": Annotated[
        bool | None,
        _option(
            "--canonical/--no-canonical",
            panel=_SEQUENCE,
            help="A k-mer and its reverse complement are one feature, or two. \\[one]",
        ),
    ],
    "window": Annotated[
        int | None,
        _option(panel=_SEQUENCE, metavar="N", help="Cut sequences into reads of N bases."),
    ],
    "stride": Annotated[
        int | None,
        _option(panel=_SEQUENCE, metavar="N", help="A read every N bases. \\[the window]"),
    ],
    "presence": Annotated[
        bool | None,
        _option(
            "--presence/--counts",
            panel=_TEXT,
            help="Value 1, or how often a word, n-gram or k-mer occurs. "
            "\\[--presence; of k-mers --counts]",
        ),
    ],
    "text_columns": Annotated[
        list[str] | None,
        _option(
            panel=_TEXT,
            metavar="A,B",
            help="Columns or fields to read as text, by n-grams. \\[text, in JSON Lines]",
        ),
    ],
    "ngrams": Annotated[
        str | None,
        _option(panel=_TEXT, metavar="N|A-B", help="Word n-grams of these lengths. \\[1]"),
    ],
    "char_ngrams": Annotated[
        str | None,
        _option(
            panel=_TEXT,
            metavar="N|A-B",
            help="Character n-grams; instead of words, unless --ngrams is given too.",
        ),
    ],
    "lowercase": Annotated[
        bool | None,
        _option("--lowercase/--keep-case", panel=_TEXT, help="Put text into lower case. \\[yes]"),
    ],
    "categorical": Annotated[
        list[str] | None,
        _option(panel=_TABLE, metavar="A,B", help="Columns to read as categories; * is the rest."),
    ],
    "numeric": Annotated[
        list[str] | None,
        _option(panel=_TABLE, metavar="A,B", help="Columns to read as numbers; * is the rest."),
    ],
    "separator": Annotated[
        str | None,
        _option(
            panel=_TABLE,
            metavar="CHAR",
            help="Character between cells; tab is one. \\[found out: comma, semicolon, tab or bar]",
        ),
    ],
    "decimal": Annotated[
        str | None,
        _option(panel=_TABLE, metavar="CHAR", help="Decimal point of numbers: . or , \\[.]"),
    ],
    "header": Annotated[
        bool | None,
        _option("--header/--no-header", panel=_TABLE, help="The first line names the columns."),
    ],
    "columns": Annotated[
        list[str] | None,
        _option(panel=_TABLE, metavar="A,B", help="Names of the columns, where none are given."),
    ],
}
_LISTS = ("categorical", "numeric", "drop", "columns", "text_columns")
_RANGES = ("ngrams", "char_ngrams")


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all the options of reading; it gets those that were used as ``reading``."""
    own = inspect.signature(command, eval_str=True)
    parameters = [p for name, p in own.parameters.items() if name != "reading"]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in READING.items()
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
    options = dict(used)
    for name in _LISTS:
        if name in options:
            options[name] = parse_names(options[name])
    for name in _RANGES:
        if name in options:
            options[name] = parse_range(name, options[name])
    if "limits" in options:
        from bearsketch.reading.limits import Limits

        options["limits"] = Limits(**parse_limits(options["limits"]))
    if options.get("separator") in ("tab", "\\t"):
        options["separator"] = "\t"
    if "char_ngrams" in options:
        options.setdefault("ngrams", None)
    if "max_errors" in options:
        options["max_errors"] = parse_errors(options["max_errors"])
        if options.get("on_error", "fail") == "fail":
            raise ParameterError("--max-errors needs --on-error skip")
    return options


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
    from bearsketch.reading.limits import Limits

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
