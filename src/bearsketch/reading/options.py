"""Reading options: one table, from which everything else about them is made.

A row is a field of :class:`ReadOptions`: its type and limits, default, what it does, the formats it
applies to, and whether a model remembers it. The options of the command, the refusals, what the
core's parsers are given, what a model file records and the reference page derive from the rows.
"""

# ruff: noqa: RUF009 - a row is a field of a data class
from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Literal, NamedTuple

from bearsketch.exceptions import ParameterError
from bearsketch.reading.formats import FORMATS
from bearsketch.reading.limits import Limits

MOST_THREADS = 64
CELLS = ("csv", "tsv")
TABLES = (*CELLS, "parquet", "arrow")
SEQUENCES = ("fasta", "fastq")
_LONGEST_NGRAM = 8
MANY = 2**62

READING, LABELS = "Reading", "Labels"
OF_TABLES, OF_SEQUENCES, OF_TEXT = (
    "CSV, TSV and Parquet",
    "FASTA and FASTQ",
    "Text and JSON Lines",
)


class Kind(NamedTuple):
    """Type and limits of an option.

    ``form`` is how the command reads it: ``integer``, ``switch``, ``text``, ``path``, ``names``
    (a list that may be repeated), ``range``, ``share`` or ``limits``.
    """

    form: str
    allowed: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A row of the table.

    ``formats`` are those it applies to, none for every one; in tables it may need another option.
    ``fixed`` options change the features of the same data: a model is read as it was learned.
    ``parser`` is the name that the parsers of the core have for it, with ``to_parser`` from value
    and format to theirs, for the formats of ``parsed``. Without ``help`` commands do not have it.
    """

    name: str = ""
    default: Any = None
    kind: Kind
    doc: str
    formats: tuple[str, ...] = ()
    tables_need: str = ""
    remembered: bool = False
    fixed: bool = False
    parser: str = ""
    to_parser: Callable[[Any, str], Any] = lambda value, form: value
    parsed: tuple[str, ...] = ()
    group: str = READING
    help: str = ""
    unset: str = ""
    metavar: str = ""
    spelled: str = ""
    brief: bool = False

    @property
    def flag(self) -> str:
        """The option of a command, where it is no switch."""
        return self.spelled or "--" + self.name.replace("_", "-")

    def applies(self, form: str) -> bool:
        """Whether it means something for data of a format."""
        return not self.formats or form in self.formats


def integer(low: int, high: int, allowed: str, *, optional: bool = False) -> Kind:
    """Build the kind of a whole number within limits."""

    def holds(value: Any) -> bool:
        if value is None:
            return optional
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return Kind("integer", allowed, holds)


def one_of(*allowed: str) -> Kind:
    """Build the kind of a choice."""
    return Kind("text", "one of " + ", ".join(map(repr, allowed)), lambda value: value in allowed)


def _texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(part, str) for part in value)


def _is_range(value: Any) -> bool:
    return value is None or (
        isinstance(value, tuple)
        and len(value) == 2
        and all(isinstance(part, int) for part in value)
        and 1 <= value[0] <= value[1] <= _LONGEST_NGRAM
    )


def _is_share(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float):
        return 0.0 <= value < 1.0
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_separator(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, str) and len(value.encode()) == 1 and value not in '"\r\n\0'


def _is_regex(value: Any) -> bool:
    try:
        return value is None or re.compile(value).groups >= 1
    except (re.error, TypeError):
        return False


SWITCH = Kind("switch", "True or False", lambda value: isinstance(value, bool))
SWITCH_OR_NONE = SWITCH._replace(holds=lambda value: value is None or isinstance(value, bool))
TEXT = Kind("text", "a string", lambda value: value is None or isinstance(value, str))
NAMES = Kind("names", "a column name or a list of them", _texts)
NAMES_OR_NONE = NAMES._replace(holds=lambda value: value is None or _texts(value))
RANGE = Kind("range", f"two integers, shortest and longest, from 1 to {_LONGEST_NGRAM}", _is_range)
SHARE = Kind("share", "a count, or a share of at least 0 and below 1", _is_share)
REGEX = Kind("text", "a regular expression with a group", _is_regex)
SEPARATOR = Kind("text", "one character other than a quote or a line end", _is_separator)
LIMITS = Kind("limits", "a Limits", lambda value: isinstance(value, Limits))
PATH = Kind("path", "a path", lambda value: value is None or isinstance(value, str | os.PathLike))


def _row(default: Any, kind: Kind, doc: str, **rest: Any) -> Any:
    """Field of :class:`ReadOptions` with its row of the table."""
    found: dict[str, Any] = {"metadata": {"row": Option(kind=kind, doc=doc, **rest)}}
    found["default_factory" if isinstance(default, type) else "default"] = default
    return field(**found)


def _or_zeros(value: Any, form: str) -> Any:
    return value or (0, 0)


def _counts(value: bool | None, form: str) -> bool:
    """Whether values are counts: of k-mers unless another is asked for, of n-grams if asked for."""
    return not value if form in SEQUENCES else value is False


def _text_fields(value: tuple[str, ...] | None, form: str) -> list[str]:
    return ["text"] if value is None else list(value)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a stream reads its inputs."""  # the table adds the parameters

    seed: int = _row(
        0,
        integer(0, 2**64 - 1, "an integer from 0 to 2^64-1"),
        "Seed of the learner the batches are for; names are hashed with it.",
        parser="seed",
    )
    rows: int = _row(
        1000,
        integer(1, 10**7, "an integer from 1 to 10 million"),
        "Examples of a batch. Batches end after so many examples, whatever files they come from.",
    )
    max_examples: int | None = _row(
        None,
        integer(1, MANY, "an integer of at least 1", optional=True),
        "Stop after so many examples, as with a generator that never ends.",
        metavar="N",
        help="Stop after N examples.",
    )
    live: bool = _row(
        False,
        SWITCH,
        "Whether a batch ends early where a pipe has no more for now, to answer what is there when "
        "predicting. To learn, batches must not depend on time.",
    )
    threads: int = _row(
        2,
        integer(1, MOST_THREADS, f"an integer from 1 to {MOST_THREADS}"),
        "Batches of lines that are parsed at a time, where the input is a file whose lines are "
        "examples. Batches and their order are the same with any number.",
    )
    names: bool = _row(
        True, SWITCH, "Whether batches carry the names of their features.", parser="names"
    )
    include_unlabelled: bool = _row(
        True,
        SWITCH,
        "Whether examples without a label are handed over; to train they are left out.",
    )
    labels: Literal["auto", "number", "name", "quantity", "none"] = _row(
        "auto",
        one_of("auto", "number", "name", "quantity", "none"),
        "What labels are. With ``auto`` the first label decides for the whole stream, and those of "
        "sequences are names, unless they are 0 and 1. ``quantity`` is for numbers to be "
        "predicted: as ``auto``, but those of sequences are numbers. With ``none`` no column of a "
        "table is the label, whatever its name.",
    )
    labels_needed: bool = _row(
        True,
        SWITCH,
        "Whether ``label_column`` and ``weight_column`` must be there; to predict they need not.",
    )
    weights_needed: bool = _row(
        True,
        SWITCH,
        "Whether ``weight_column`` must be there where labels must. Without it each example counts "
        "1, with a warning. Not needed to test a model whose own data had weights.",
    )
    on_error: Literal["fail", "skip"] = _row(
        "fail",
        one_of("fail", "skip"),
        "Whether a broken line stops the stream, or is left out and counted.",
        metavar="fail|skip",
        help="Stop at a broken example, or skip and count it.",
        unset="fail",
    )
    max_errors: int | float | None = _row(
        None,
        SHARE,
        "With ``skip``, how many lines may be broken: a count, or a share below 1 of all lines. "
        "Default: a share of 0.01.",
        metavar="N|P%",
        help="Most broken examples to skip.",
        unset="1%",
    )
    allow_empty: bool = _row(
        False, SWITCH, "Whether a stream without a single example is accepted."
    )
    limits: Limits = _row(
        Limits,
        LIMITS,
        "How large the parts of the input may be.",
        metavar="NAME=SIZE",
        spelled="--limit",
        help="How large a part of the input may be, e.g. line_bytes=256MiB. Names: line_bytes, "
        "name_bytes, row_features, batch_entries, batch_text_bytes, input_bytes, window_bytes. May "
        "be repeated.",
    )
    label_column: str | None = _row(
        None,
        TEXT,
        "Column of a table, or field of JSON Lines, with the label. A column named ``label`` is "
        "the label unless you name another.",
        formats=(*TABLES, "jsonl"),
        remembered=True,
        parser="label_field",
        to_parser=lambda value, form: value or "label",
        group=LABELS,
        metavar="NAME",
        help="Column of a table, or field of JSON Lines, with the label.",
        unset="label",
        brief=True,
    )
    weight_column: str | None = _row(
        None,
        TEXT,
        "Column of a table, or field of JSON Lines, with the weight of an example.",
        formats=(*TABLES, "jsonl"),
        remembered=True,
        parser="weight_field",
        to_parser=lambda value, form: value or "",
        group=LABELS,
        metavar="NAME",
        help="Column of a table, or field of JSON Lines, with the weight of an example.",
    )
    categorical: tuple[str, ...] = _row(
        (),
        NAMES,
        "Columns of a table to read as categories; ``*`` is all other columns. Names with ``*``, "
        "``?`` or ``[`` that no column has are patterns, such as ``id_*``.",
        formats=TABLES,
        remembered=True,
        group=OF_TABLES,
        metavar="A,B",
        help="Columns to read as categories; * is the rest. May be repeated.",
    )
    numeric: tuple[str, ...] = _row(
        (),
        NAMES,
        "Columns of a table to read as numbers; ``*`` is all other columns. Else a column of a "
        "text table is numeric if its cells in the first 1,000 rows (or 4 MiB) are numbers or "
        "absent, and of an Arrow table if its type is. Absent is an empty cell, and one that is "
        "``NA``, ``N/A``, ``n/a``, ``null``, ``NULL`` or ``None``; ``true`` and ``false`` (also "
        "``True``, ``TRUE``) are the numbers 1 and 0. ``13,540``, ``$5`` and ``5 %`` are numbers, "
        "with a warning.",
        formats=TABLES,
        remembered=True,
        group=OF_TABLES,
        metavar="A,B",
        help="Columns to read as numbers; * is the rest. May be repeated.",
    )
    time_columns: tuple[str, ...] = _row(
        (),
        NAMES,
        "Columns of ISO dates or times, such as ``2024-05-01T13:45``, which give the features "
        "``column^hour=13``, ``column^weekday=wed``, ``column^month=5`` and the number "
        "``column^day`` of days since 1970. Else a column is one of these if its cells in the "
        "first rows are, or its type is; declare it ``categorical`` to have each value be a "
        "feature of its own. Clocks are read as written, whatever their zone.",
        formats=TABLES,
        remembered=True,
        group=OF_TABLES,
        metavar="A,B",
        help="Columns of ISO dates or times: hour, weekday, month and day number. May be repeated.",
        unset="detected",
    )
    clock_columns: tuple[str, ...] = _row(
        (),
        NAMES,
        "As ``time_columns``, without the number of the day, which tells nothing where it only "
        "grows along the data. Detected so where the first times rise.",
        formats=TABLES,
        remembered=True,
        group=OF_TABLES,
        metavar="A,B",
        help="Columns of dates or times without the day number. May be repeated.",
        unset="detected",
    )
    drop: tuple[str, ...] = _row(
        (),
        NAMES,
        "Columns of a table, or fields of JSON Lines, to leave out; in tables ``*`` is all other "
        "columns, and ``id_*`` those that look like it.",
        formats=(*TABLES, "jsonl"),
        remembered=True,
        parser="skip_fields",
        to_parser=lambda value, form: list(value),
        metavar="A,B",
        help="Columns of a table (patterns such as 'id_*' too), or fields of JSON Lines, to leave "
        "out. May be repeated.",
    )
    drop_needed: bool = _row(
        True,
        SWITCH,
        "Whether columns to leave out must be there. Not needed to use a model, whose data had "
        "them.",
    )
    header: bool = _row(
        True,
        SWITCH,
        "Whether the first line of a text table names its columns.",
        formats=CELLS,
        remembered=True,
        group=OF_TABLES,
        spelled="--header/--no-header",
        help="Whether the first line names the columns.",
        unset="--header",
    )
    columns: tuple[str, ...] | None = _row(
        None,
        NAMES_OR_NONE,
        "Names of the columns of a text table, instead of those in the header.",
        formats=CELLS,
        remembered=True,
        group=OF_TABLES,
        metavar="A,B",
        help="Names of the columns, instead of those in the header.",
    )
    separator: str | None = _row(
        None,
        SEPARATOR,
        "Character between the cells of a text table. Default: a comma for ``csv``, or the "
        "semicolon, TAB or bar that the first lines agree in where they have no comma; a TAB for "
        "``tsv``.",
        formats=CELLS,
        remembered=True,
        group=OF_TABLES,
        metavar="CHAR",
        help="Character between cells; `tab` is a TAB.",
        unset="detected: comma, semicolon, tab or bar",
    )
    decimal: Literal[".", ","] = _row(
        ".",
        one_of(".", ","),
        "What stands before the fraction of a number in a text table. With the comma a cell that "
        "has a point is not a number.",
        formats=CELLS,
        remembered=True,
        group=OF_TABLES,
        metavar="CHAR",
        help="Decimal point of numbers: `.` or `,`",
        unset=".",
    )
    text_columns: tuple[str, ...] | None = _row(
        None,
        NAMES_OR_NONE,
        "Columns of a table, or fields of JSON Lines, that are text, to be read as n-grams. "
        "Default: none of a table, and ``text`` of JSON Lines.",
        formats=(*TABLES, "jsonl"),
        remembered=True,
        parser="text_fields",
        to_parser=_text_fields,
        group=OF_TEXT,
        metavar="A,B",
        help="Columns or fields to read as text, by n-grams. May be repeated.",
        unset="text, in JSON Lines",
    )
    duplicates: Literal["refuse", "sum"] = _row(
        "refuse",
        one_of("refuse", "sum"),
        "What an id that occurs twice in a line of svmlight means.",
        formats=("svmlight",),
        remembered=True,
        parser="duplicates",
        metavar="refuse|sum",
        help="What to do where an id occurs twice in a line of svmlight.",
        unset="refuse",
    )
    kmer: int | None = _row(
        None,
        integer(1, 32, "an integer from 1 to 32", optional=True),
        "Length of the k-mers of FASTA and FASTQ.",
        formats=SEQUENCES,
        remembered=True,
        fixed=True,
        parser="k",
        group=OF_SEQUENCES,
        metavar="K",
        help="Length of k-mers; required.",
    )
    alphabet: Literal["acgt", "iupac"] = _row(
        "acgt",
        one_of("acgt", "iupac"),
        "Letters of k-mers.",
        formats=SEQUENCES,
        remembered=True,
        fixed=True,
        parser="alphabet",
        group=OF_SEQUENCES,
        metavar="acgt|iupac",
        help="Letters of k-mers.",
        unset="acgt",
    )
    canonical: bool = _row(
        True,
        SWITCH,
        "Whether a k-mer and its reverse complement are one feature.",
        formats=SEQUENCES,
        remembered=True,
        fixed=True,
        parser="canonical",
        group=OF_SEQUENCES,
        spelled="--canonical/--no-canonical",
        help="Whether a k-mer and its reverse complement are one feature.",
        unset="--canonical",
    )
    presence: bool | None = _row(
        None,
        SWITCH_OR_NONE,
        "Whether k-mers and n-grams have the value 1 instead of their count. Default: n-grams "
        "have, as long texts say little by repeating a word, and k-mers have their count.",
        formats=(*SEQUENCES, "text", "jsonl", *TABLES),
        tables_need="text_columns",
        remembered=True,
        fixed=True,
        parser="counts",
        to_parser=_counts,
        group=OF_TEXT,
        spelled="--presence/--counts",
        help="Value 1, or how often a word, n-gram or k-mer occurs.",
        unset="--presence; --counts for k-mers",
    )
    window: int = _row(
        0,
        integer(0, MANY, "an integer of at least 0"),
        "Cut sequences into reads of so many bases; 0 = do not.",
        formats=SEQUENCES,
        remembered=True,
        parser="window",
        group=OF_SEQUENCES,
        metavar="N",
        help="Cut sequences into reads of N bases.",
    )
    stride: int = _row(
        0,
        integer(0, MANY, "an integer of at least 0"),
        "Bases from the start of one read to that of the next; 0 = as many as ``window``.",
        formats=SEQUENCES,
        remembered=True,
        parser="stride",
        group=OF_SEQUENCES,
        metavar="N",
        help="Start a read every N bases.",
        unset="the window",
    )
    label_from: Literal["auto", "header", "file", "none"] = _row(
        "auto",
        one_of("auto", "header", "file", "none"),
        "Where labels of sequences come from. ``auto`` is the header if a regular expression or "
        "table is given, else none. With ``none``, lines of text do not begin with a label and a "
        "TAB either.",
        formats=(*SEQUENCES, "text"),
        remembered=True,
        parser="labelled",
        to_parser=lambda value, form: value != "none",
        parsed=("text",),
        group=LABELS,
        metavar="header|file|none",
        help="FASTA and FASTQ: where labels are; `file` takes the file's name. Text: `none` if "
        "lines have no label and TAB in front.",
    )
    label_regex: str | None = _row(
        None,
        REGEX,
        "Expression to search in the header (or file name); its first group is the label.",
        formats=SEQUENCES,
        remembered=True,
        group=LABELS,
        metavar="REGEX",
        help="FASTA and FASTQ: its first group in the header (or file name) is the label.",
    )
    label_table: str | os.PathLike[str] | None = _row(
        None,
        PATH,
        "Tab-separated table from record name (or file name) to label, plain or compressed.",
        formats=SEQUENCES,
        group=LABELS,
        metavar="FILE",
        help="FASTA and FASTQ: tab-separated table from record (or file) name to label.",
    )
    ngrams: tuple[int, int] | None = _row(
        (1, 1),
        RANGE,
        "Shortest and longest n-grams of words that text is read as; None = none.",
        formats=("text", "jsonl", *TABLES),
        tables_need="text_columns",
        remembered=True,
        fixed=True,
        parser="words",
        to_parser=_or_zeros,
        group=OF_TEXT,
        metavar="N|A-B",
        help="Word n-grams of these lengths.",
        unset="1",
    )
    char_ngrams: tuple[int, int] | None = _row(
        None,
        RANGE,
        "Shortest and longest n-grams of characters that text is read as; None = none.",
        formats=("text", "jsonl", *TABLES),
        tables_need="text_columns",
        remembered=True,
        fixed=True,
        parser="chars",
        to_parser=_or_zeros,
        group=OF_TEXT,
        metavar="N|A-B",
        help="Character n-grams of these lengths; replace words unless --ngrams is given too.",
    )
    lowercase: bool = _row(
        True,
        SWITCH,
        "Whether text is put into lower case first.",
        formats=("text", "jsonl", *TABLES),
        tables_need="text_columns",
        remembered=True,
        fixed=True,
        parser="lower",
        group=OF_TEXT,
        spelled="--lowercase/--keep-case",
        help="Whether text is put into lower case.",
        unset="--lowercase",
    )

    def __post_init__(self) -> None:
        for row in TABLE.values():
            value = getattr(self, row.name)
            if isinstance(value, list) and row.kind.form in ("names", "range"):
                object.__setattr__(self, row.name, tuple(value))
            elif isinstance(value, str) and row.kind.form == "names":
                object.__setattr__(self, row.name, (value,))
            value = getattr(self, row.name)
            if not row.kind.holds(value):
                raise ParameterError(f"{row.name} must be {row.kind.allowed}, got {value!r}")
        self._check_together()

    def _check_together(self) -> None:
        most = 32 if self.alphabet == "acgt" else 16
        if self.kmer is not None and self.kmer > most:
            raise ParameterError(
                f"kmer must be at most {most} with {self.alphabet}, got {self.kmer}"
            )
        if self.window and self.window < (self.kmer or 0):
            raise ParameterError(
                f"window must be at least as long as a k-mer ({self.kmer}), got {self.window}"
            )
        if self.ngrams is None and self.char_ngrams is None:
            raise ParameterError("ngrams and char_ngrams cannot both be None: text has no features")
        if self.stride and not self.window:
            raise ParameterError("stride needs a window: give both, or neither")
        if self.label_from == "header" and not (self.label_regex or self.label_table):
            raise ParameterError("label_from='header' needs label_regex or label_table")
        times = [set(self.time_columns), set(self.clock_columns)]
        kinds = [set(self.categorical), set(self.numeric), set(self.text_columns or ()), *times]
        twice = [name for name in set.union(*kinds) if sum(name in kind for kind in kinds) > 1]
        if twice:
            raise ParameterError(
                "a column is categorical, numeric, text or of times, not two of them, got "
                f"{sorted(twice)}"
            )

    @property
    def fails(self) -> bool:
        """Whether the first broken line stops the stream."""
        return self.on_error == "fail"

    def changed(self) -> Iterator[Option]:
        """Options that differ from their defaults."""
        return (row for row in TABLE.values() if getattr(self, row.name) != row.default)

    def check_used(self, form: str, meant: Collection[str]) -> None:
        """Refuse options, of those that are meant, that mean nothing for data of a format."""
        for row in self.changed():
            if row.name not in meant:
                continue
            needs = row.tables_need if form in TABLES else ""
            if needs and not getattr(self, needs):
                without, remedy = f" without {needs}", f"Give {needs} ({TABLE[needs].flag}) too"
            elif not row.applies(form):
                without, remedy = "", f"Use it with {_listed(row.formats)} data"
            else:
                continue
            raise ParameterError(
                f"{row.name} ({row.flag.partition('/')[0]}) has no effect on {form} data{without}",
                code="OPT-UNUSED",
                hint=f"{remedy}, or leave it out.",
            )

    def for_parser(self, form: str) -> dict[str, Any]:
        """Options as a parser of the core takes them."""
        return {
            row.parser: row.to_parser(getattr(self, row.name), form)
            for row in TABLE.values()
            if row.parser and (form in row.parsed if row.parsed else row.applies(form))
        }


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


def _rows() -> Iterator[Option]:
    for spec in fields(ReadOptions):
        yield _named(spec)


def _named(spec: Field[Any]) -> Option:
    from dataclasses import replace

    factory = spec.default_factory
    default = spec.default if factory is MISSING else factory()
    row: Option = replace(spec.metadata["row"], name=spec.name, default=default)
    return row


def _documented() -> str:
    """Docstring of :class:`ReadOptions`, from the table."""
    parts = [f"{ReadOptions.__doc__}\n\nParameters\n----------"]
    for row in TABLE.values():
        kind = str(ReadOptions.__annotations__[row.name])
        parts.append(f"{row.name} : {kind}, default={row.default!r}\n    {row.doc}")
    example = ">>> ReadOptions(rows=100).on_error\n'fail'"
    return "\n".join(parts) + f"\n\nExamples\n--------\n{example}\n"


TABLE: dict[str, Option] = {row.name: row for row in _rows()}
REMEMBERED = [name for name, row in TABLE.items() if row.remembered]
FIXED = [name for name, row in TABLE.items() if row.fixed]
FORMAT = Option(
    name="format",
    default="auto",
    kind=one_of("auto", *FORMATS),
    doc="Format of the data; ``auto`` detects it from the first bytes, then from the name.",
    help=f"One of {', '.join(FORMATS)}.",
    metavar="FORMAT",
    unset="detected",
)
ReadOptions.__doc__ = _documented()
