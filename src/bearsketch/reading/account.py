"""Account: every line of a stream is an example or says why it is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from bearsketch.exceptions import BearError, DataError, LimitError, ParseError
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.pieces import Piece, Trouble

# Lines are one of these, and nothing else.
KINDS = ("examples", "unlabelled", "skipped", "blank", "comment", "header")
_SHOWN = 10
_DEFAULT_SHARE = 0.01
# A share of errors is judged from so many lines on, and at the end.
_SHARE_LINES = 1000
# What an example is called where it is not a line.
_UNITS = {"fasta": "records", "fastq": "records", "csv": "rows", "tsv": "rows", "parquet": "rows"}
# Reasons that are limits, and which.
LIMIT_CODES = {
    "COM-LINE-LONG": "line_bytes",
    "COM-NAME-LONG": "name_bytes",
    "COM-FEATURES": "row_features",
    "TAB-NAME-LONG": "name_bytes",
    "TAB-FEATURES": "row_features",
}


@dataclass(slots=True)
class Counts:
    """Lines of a stream by what became of them.

    ``lines = examples + unlabelled + skipped + blank + comment + header``, where ``header`` is
    the first line of a text table. ``empty`` counts those examples that have no feature, and
    ``other`` what only one format has. FASTA and FASTQ count reads instead of lines, and a
    record of a table with line ends inside quotes is one line.
    """

    lines: int = 0
    examples: int = 0
    unlabelled: int = 0
    skipped: int = 0
    blank: int = 0
    comment: int = 0
    header: int = 0
    empty: int = 0
    other: Counter[str] = field(default_factory=Counter)
    skipped_by_code: Counter[str] = field(default_factory=Counter)

    def add(self, counts: dict[str, int]) -> None:
        """Add the counts of a piece."""
        for name, value in counts.items():
            if name in KINDS or name in ("lines", "empty"):
                setattr(self, name, getattr(self, name) + value)
            elif value:
                self.other[name] += value

    @property
    def read(self) -> int:
        """Lines that should be examples: all but the header."""
        return self.lines - self.header

    def check(self) -> None:
        """Every line is accounted for."""
        told = sum(getattr(self, kind) for kind in KINDS)
        if told != self.lines:
            raise BearError(
                f"{self.lines} lines were read and {told} accounted for",
                code="INT-ACCOUNT",
                hint="This is a fault of bearsketch; please report it.",
            )


def unit_of(form: str, options: ReadOptions) -> str:
    """Name what the account of a format counts, for messages.

    Examples
    --------
    >>> unit_of("vw", ReadOptions()), unit_of("fasta", ReadOptions())
    ('lines', 'records')
    >>> unit_of("fasta", ReadOptions(window=150))
    'reads'
    """
    unit = _UNITS.get(form, "lines")
    return "reads" if unit == "records" and options.window else unit


class Account:
    """Counts, warnings and errors of one pass, and when errors are too many.

    ``unit`` is what is counted, in words: see :func:`unit_of`.
    """

    def __init__(self, options: ReadOptions, unit: str = "lines") -> None:
        self._options = options
        self.unit = unit
        self.counts = Counts()
        self.errors: list[ParseError] = []

    def take(self, piece: Piece, hint: str = "") -> None:
        """Enter a piece; raise where its errors may not be skipped."""
        self.counts.add(piece.counts)
        source = piece.position.source
        for trouble in piece.errors:
            error = _error_of(trouble, source, hint)
            if self._options.fails:
                raise error
            self.counts.skipped_by_code[trouble.code] += 1
            if len(self.errors) < _SHOWN:
                assert isinstance(error, ParseError)
                self.errors.append(error)
        if piece.fatal is not None:
            raise _error_of(piece.fatal, source, hint)
        self._check_share(final=False)

    def finish(self, *, early: bool = False) -> None:
        """Close the account at the end of a pass; with ``early``, lines were read ahead of it."""
        if early:
            self.counts.lines = sum(getattr(self.counts, kind) for kind in KINDS)
        self.counts.check()
        self._check_share(final=True)

    def _check_share(self, *, final: bool) -> None:
        skipped, lines = self.counts.skipped, self.counts.lines
        allowed = self._options.max_errors
        if allowed is None:
            allowed = _DEFAULT_SHARE
        if isinstance(allowed, float):
            if not final and lines < _SHARE_LINES:
                return
            too_many = skipped > allowed * lines
        else:
            too_many = skipped > allowed
        if too_many:
            worst = ", ".join(
                f"{code} {n}" for code, n in self.counts.skipped_by_code.most_common(3)
            )
            most = f"{100 * allowed:g}%" if isinstance(allowed, float) else f"{allowed}"
            first = f"The first is {self.errors[0].text(str)}\n  " if self.errors else ""
            raise DataError(
                f"{skipped} of {self.counts.read} {self.unit}{'' if final else ' so far'} are "
                f"broken ({worst}), more than max_errors allows: {most}",
                code="COM-MAX-ERRORS",
                hint=f"{first}Correct the data, or raise max_errors (--max-errors).",
            )


class LineLimitError(ParseError, LimitError):
    """A line passes a limit; it has a place as a broken line does."""

    exit_code = LimitError.exit_code


def _error_of(trouble: Trouble, source: str, hint: str) -> ParseError:
    kind = LineLimitError if trouble.code in LIMIT_CODES else ParseError
    message = trouble.message
    if trouble.excerpt and "'" not in message:  # else it quotes what it means
        message += f": {_shown(trouble.excerpt)}"
    if trouble.code in LIMIT_CODES:
        hint = f"Raise the limit {LIMIT_CODES[trouble.code]} (--limit) if the input is right."
    return kind(
        message,
        code=trouble.code,
        hint=trouble.hint or hint,
        source=source,
        line=trouble.line,
        column=trouble.column,
    )


def _shown(excerpt: bytes) -> str:
    """Bytes of the input as they may stand in a message: no control bytes reach a terminal."""
    text = excerpt.decode("utf-8", "backslashreplace")
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"'{safe}'"
