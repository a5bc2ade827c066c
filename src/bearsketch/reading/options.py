"""ReadOptions: everything a stream may be told, checked once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from bearsketch.exceptions import ParameterError
from bearsketch.reading.formats import FORMATS
from bearsketch.reading.limits import Limits

MOST_THREADS = 64
# Options that are names of columns, for which one name may be given, and all that are tuples, for
# which a list may be.
_NAMES = ("categorical", "numeric", "drop", "columns", "text_columns")
_TUPLES = (*_NAMES, "ngrams", "char_ngrams")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    r"""How a stream reads its inputs.

    Parameters
    ----------
    seed : int
        Seed of the learner the batches are for; names are hashed with it.
    rows : int
        Examples of a batch. Batches end after so many examples, whatever files they come from.
    live : bool
        Whether a batch ends early where a pipe has no more for now, so that what is there can be
        answered; to predict. To learn, batches must not depend on time.
    threads : int
        Batches of lines that are parsed at a time, where the input is a file whose lines are
        examples. They are the same, and come in the same order, with any number.
    names : bool
        Whether batches carry the names of their features.
    include_unlabelled : bool
        Whether examples without a label are handed over; to train they are left out.
    labels : {"auto", "number", "name", "quantity"}
        What labels are. With ``auto`` the first label decides for the whole stream, and those of
        sequences are names, unless they are 0 and 1. ``quantity`` is for numbers to be predicted:
        as ``auto``, but those of sequences are numbers.
    labels_needed : bool
        Whether ``label_column`` and ``weight_column`` must be there; to predict they need not.
    weights_needed : bool
        Whether ``weight_column`` must be there where labels must. Without it each example counts
        1, which is told. Not where a model is tested, whose own data had weights.
    on_error : {"fail", "skip"}
        Whether a broken line stops the stream or is left out and counted.
    max_errors : int or float, optional
        With ``skip``, how many lines may be broken: a count, or a share below 1 of all lines.
        Default: a share of 0.01.
    allow_empty : bool
        Whether a stream without a single example is accepted.
    limits : Limits
    label_column, weight_column : str, optional
        Columns of a table, or fields of JSON Lines. A column named ``label`` is the label unless
        another one is named.
    categorical, numeric, drop : str or list of str
        Columns of a table to read as categories, as numbers, or not at all; ``"*"`` is all other
        columns. Else a column of a text table is numeric if its cells in the first 1,000 rows
        (or 4 MiB) are numbers or absent, and of an Arrow table if its type is. Absent is an empty
        cell, and one that is ``NA``, ``N/A``, ``n/a``, ``null``, ``NULL`` or ``None``; ``true`` and
        ``false`` (also ``True``, ``TRUE``) are the numbers 1 and 0.
    drop_needed : bool
        Whether columns to leave out must be there. Not where a model is used, whose data had them.
    header : bool
        Whether the first line of a text table names its columns.
    columns : str or list of str, optional
        Names of the columns of a text table, instead of those in the header.
    separator : str, optional
        Character between the cells of a text table. Default: a comma for ``csv``, or the
        semicolon, TAB or bar that the first lines agree in where they have no comma; a TAB for
        ``tsv``.
    decimal : {".", ","}
        What stands before the fraction of a number in a text table. With the comma a cell that
        has a point is no number.
    text_columns : str or list of str, optional
        Columns of a table, or fields of JSON Lines, that are text, to be read as n-grams. Default:
        none of a table, and ``text`` of JSON Lines.
    duplicates : {"refuse", "sum"}
        What a feature that comes twice in a line of svmlight means.
    kmer : int, optional
        Length of the k-mers of FASTA and FASTQ.
    alphabet : {"acgt", "iupac"}
    canonical : bool
        Whether a k-mer and its reverse complement are one feature.
    presence : bool, optional
        Whether k-mers and n-grams have the value 1 instead of their count. Default: n-grams
        have, as long texts say little by repeating a word, and k-mers have their count.
    window, stride : int
        Cut sequences into reads of ``window`` bases, one every ``stride``; 0 = do not.
    label_from : {"auto", "header", "file", "none"}
        Where labels of sequences come from. ``auto`` is the header if a regular expression or
        table is given, else none. With ``none``, lines of text do not begin with a label and a
        tab either.
    label_regex : str, optional
        Expression to search in the header (or file name); its first group is the label.
    label_table : path, optional
        Tab-separated table from record name (or file name) to label, plain or compressed.
    ngrams, char_ngrams : (int, int), optional
        Shortest and longest n-grams of words and of characters that text is read as; None = none.
    lowercase : bool
        Whether text is put into lower case first.

    Examples
    --------
    >>> ReadOptions(rows=100).on_error
    'fail'
    """

    seed: int = 0
    rows: int = 1000
    live: bool = False
    threads: int = 2
    names: bool = True
    include_unlabelled: bool = True
    labels: Literal["auto", "number", "name", "quantity"] = "auto"
    labels_needed: bool = True
    weights_needed: bool = True
    on_error: Literal["fail", "skip"] = "fail"
    max_errors: int | float | None = None
    allow_empty: bool = False
    limits: Limits = field(default_factory=Limits)
    label_column: str | None = None
    weight_column: str | None = None
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    drop_needed: bool = True
    header: bool = True
    columns: tuple[str, ...] | None = None
    separator: str | None = None
    decimal: Literal[".", ","] = "."
    text_columns: tuple[str, ...] | None = None
    duplicates: Literal["refuse", "sum"] = "refuse"
    kmer: int | None = None
    alphabet: Literal["acgt", "iupac"] = "acgt"
    canonical: bool = True
    presence: bool | None = None
    window: int = 0
    stride: int = 0
    label_from: Literal["auto", "header", "file", "none"] = "auto"
    label_regex: str | None = None
    label_table: str | os.PathLike[str] | None = None
    ngrams: tuple[int, int] | None = (1, 1)
    char_ngrams: tuple[int, int] | None = None
    lowercase: bool = True

    def __post_init__(self) -> None:
        for name in _TUPLES:
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
            elif isinstance(value, str) and name in _NAMES:
                object.__setattr__(self, name, (value,))
        for spec in fields(self):
            allowed, holds = CHECKS[spec.name]
            value = getattr(self, spec.name)
            if not holds(value):
                raise ParameterError(f"{spec.name} must be {allowed}, got {value!r}")
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
        kinds = [set(self.categorical), set(self.numeric), set(self.text_columns or ())]
        twice = [name for name in set.union(*kinds) if sum(name in kind for kind in kinds) > 1]
        if twice:
            raise ParameterError(
                f"a column is categorical, numeric or text, not two of them, got {sorted(twice)}"
            )

    @property
    def fails(self) -> bool:
        """Whether the first broken line stops the stream."""
        return self.on_error == "fail"


Check = tuple[str, Callable[[Any], bool]]


def _integer(low: int, high: int, allowed: str, *, optional: bool = False) -> Check:
    def holds(value: Any) -> bool:
        if value is None:
            return optional
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return allowed, holds


def _one_of(*allowed: str) -> Check:
    return "one of " + ", ".join(map(repr, allowed)), lambda value: value in allowed


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
    return isinstance(value, str) and len(value.encode()) == 1 and value not in '"\r\n\0'


def _is_regex(value: Any) -> bool:
    try:
        return value is None or re.compile(value).groups >= 1
    except (re.error, TypeError):
        return False


_BOOL: Check = ("True or False", lambda value: isinstance(value, bool))
_TEXT: Check = ("a string", lambda value: value is None or isinstance(value, str))
_COLUMNS: Check = ("a column name or a list of them", _texts)
_COLUMNS_OR_NONE: Check = (_COLUMNS[0], lambda value: value is None or _texts(value))
_MANY = 2**62
_LONGEST_NGRAM = 8
_RANGE: Check = (f"two integers, shortest and longest, from 1 to {_LONGEST_NGRAM}", _is_range)

CHECKS: dict[str, Check] = {
    "seed": _integer(0, 2**64 - 1, "an integer from 0 to 2^64-1"),
    "rows": _integer(1, 10**7, "an integer from 1 to 10 million"),
    "live": _BOOL,
    "threads": _integer(1, MOST_THREADS, f"an integer from 1 to {MOST_THREADS}"),
    "names": _BOOL,
    "include_unlabelled": _BOOL,
    "labels": _one_of("auto", "number", "name", "quantity"),
    "labels_needed": _BOOL,
    "weights_needed": _BOOL,
    "drop_needed": _BOOL,
    "on_error": _one_of("fail", "skip"),
    "max_errors": ("a count, or a share of at least 0 and below 1", _is_share),
    "allow_empty": _BOOL,
    "limits": ("a Limits", lambda value: isinstance(value, Limits)),
    "label_column": _TEXT,
    "weight_column": _TEXT,
    "categorical": _COLUMNS,
    "numeric": _COLUMNS,
    "drop": _COLUMNS,
    "header": _BOOL,
    "columns": _COLUMNS_OR_NONE,
    "separator": (
        "one character other than a quote or a line end",
        lambda value: value is None or _is_separator(value),
    ),
    "decimal": _one_of(".", ","),
    "text_columns": _COLUMNS_OR_NONE,
    "duplicates": _one_of("refuse", "sum"),
    "kmer": _integer(1, 32, "an integer from 1 to 32", optional=True),
    "alphabet": _one_of("acgt", "iupac"),
    "canonical": _BOOL,
    "presence": ("True or False", lambda value: value is None or isinstance(value, bool)),
    "window": _integer(0, _MANY, "an integer of at least 0"),
    "stride": _integer(0, _MANY, "an integer of at least 0"),
    "label_from": _one_of("auto", "header", "file", "none"),
    "label_regex": ("a regular expression with a group", _is_regex),
    "label_table": (
        "a path",
        lambda value: value is None or isinstance(value, str | os.PathLike),
    ),
    "ngrams": _RANGE,
    "char_ngrams": _RANGE,
    "lowercase": _BOOL,
}
FORMAT_CHECK = _one_of("auto", *FORMATS)
