"""Formats: detected from the first bytes of an input, then from its name."""

from __future__ import annotations

import re
from collections.abc import Callable

from bearsketch.reading.codecs import codec_named

FORMATS = ("vw", "svmlight", "fasta", "fastq", "csv", "tsv", "parquet", "jsonl", "text")

SUFFIXES = {
    ".vw": "vw",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".fa": "fasta",
    ".fna": "fasta",
    ".ffn": "fasta",
    ".faa": "fasta",
    ".fasta": "fasta",
    ".fq": "fastq",
    ".fastq": "fastq",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "text",
}

_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_SVMLIGHT = re.compile(
    rb"(?:%b|[A-Za-z_][\w.-]*)(?:,%b)*(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:%b)*[ \t]*(?:#.*)?"
    % (_NUMBER, _NUMBER, _NUMBER)
)
_VW = re.compile(rb"(?:[^|\t]*\t)?(?:[^\s|,]+[ \t]+){0,3}(?:'?[^\s|,]+)?[ \t]*\|[^,]*")
_LABELLED = re.compile(rb"[^\t ]{1,64}\t[^\t]*")
_IS_NUMBER = re.compile(rb"\s*%b\s*" % _NUMBER)
_WORDS = 4  # of a text; a table of two columns has fewer in some line, its header at least
_SENTENCE = 8  # words that no column has for a name
_LINES = 20  # that are looked at
_BOM = b"\xef\xbb\xbf"
_QUOTED = re.compile(rb'"[^"]*"')


def guess_format(head: bytes, name: str = "") -> str:
    r"""Format of an input from its first bytes, and from its name where they do not tell.

    Parameters
    ----------
    head : bytes
        Decoded bytes from the start of the input; the last line may be cut.
    name : str
        Name of the input.

    Examples
    --------
    >>> guess_format(b"1 |words a b c")
    'vw'
    >>> guess_format(b"a,b")
    'csv'
    >>> guess_format(b"a,b", "notes.txt")
    'text'
    >>> guess_format(b"pos\tas good as it gets\nneg\tthe worst of all films\n")
    'text'
    >>> guess_format(b"label\ttext\nneg\tthe worst of all films\n")
    'tsv'
    """
    named = format_named(name)
    tests = SURE | {"text": _is_headless_text} if named == "tsv" else SURE
    return _by_content(head, tests) or named or _by_content(head, LIKELY) or "text"


def format_named(name: str) -> str | None:
    """Format that the suffix of a name promises, past a suffix of compression."""
    base = name.lower()
    codec = codec_named(base)
    if codec is not None:
        base = base[: base.rindex(".")]
    dot = base.rfind(".")
    return SUFFIXES.get(base[dot:]) if dot >= 0 else None


def certain_format(head: bytes) -> str | None:
    """Format that the first bytes tell beyond doubt."""
    return _by_content(head, SURE)


def _by_content(head: bytes, tests: dict[str, Callable[[bytes, list[bytes]], bool]]) -> str | None:
    lines = _first_lines(head)
    if not lines:
        return None
    text = head.removeprefix(_BOM)
    return next((name for name, holds in tests.items() if holds(text, lines)), None)


def _first_lines(head: bytes) -> list[bytes]:
    """First lines that are not blank."""
    lines = [line.rstrip(b"\r") for line in head.removeprefix(_BOM).split(b"\n")]
    if len(lines) > 1:
        lines.pop()  # it may be cut
    return [line for line in lines if line.strip()][:_LINES]


def enough_lines(head: bytes) -> bool:
    """Whether more bytes would not change which separator the first lines tell."""
    lines = _first_lines(head)
    decided = b"\n" in head.lstrip() and b"," in _QUOTED.sub(b"", lines[0])
    return decided or len(lines) == _LINES


def _is_fastq(text: bytes, lines: list[bytes]) -> bool:
    return lines[0].startswith(b"@") and (len(lines) < 3 or lines[2].startswith(b"+"))


def _is_svmlight(text: bytes, lines: list[bytes]) -> bool:
    rows = [line for line in lines if not line.startswith(b"#")]
    if len(rows) == 1 and not _SVMLIGHT.fullmatch(rows[0]):
        rows = [rows[0].rpartition(b" ")[0]]  # one line without its end: the last word is cut
    return any(b":" in row for row in rows) and all(_SVMLIGHT.fullmatch(row) for row in rows)


def _is_labelled_text(text: bytes, lines: list[bytes]) -> bool:
    """Whether every line is a word, a TAB and a text: of several words, or after no header."""
    if len(lines) < 2 or not all(map(_LABELLED.fullmatch, lines)):
        return False
    texts = [line.partition(b"\t")[2] for line in lines]
    if all(len(words.split()) >= _WORDS for words in texts):
        return True
    return _label_recurs(lines) and not any(map(_IS_NUMBER.fullmatch, texts))


def _is_headless_text(text: bytes, lines: list[bytes]) -> bool:
    """Whether the first line too is labelled text, and no header of two columns."""
    words = lines[0].partition(b"\t")[2].split()
    return _is_labelled_text(text, lines) and (len(words) >= _SENTENCE or _label_recurs(lines))


def _label_recurs(lines: list[bytes]) -> bool:
    """Whether what stands before the first TAB comes again, as no name of a column does."""
    label, *others = (line.partition(b"\t")[0] for line in lines)
    return label in others


def _delimited(delimiter: bytes) -> Callable[[bytes, list[bytes]], bool]:
    def holds(text: bytes, lines: list[bytes]) -> bool:
        # Quotes may hold line ends as well.
        counts = {line.count(delimiter) for line in _first_lines(_QUOTED.sub(b"", text))}
        return len(counts) == 1 and counts != {0}

    return holds


def separator_of(head: bytes, decimal: str = ".") -> str:
    r"""Character between the cells of a text table, from its first bytes.

    A comma, unless the first line has none, or commas are those of numbers, and all of the first
    lines have as many semicolons, TABs or bars.

    Examples
    --------
    >>> separator_of(b"city,age\nparis,30\n"), separator_of(b"price;item\n1,5;tea\n")
    (',', ';')
    >>> separator_of(b"1,5;2,5\n2,0;3,0\n", decimal=",")
    ';'
    """
    lines = _first_lines(head)
    if lines and (decimal == "," or not _QUOTED.sub(b"", lines[0]).count(b",")):
        for other in (b";", b"\t", b"|"):
            if _delimited(other)(head, lines):
                return other.decode()
    return ","


SURE: dict[str, Callable[[bytes, list[bytes]], bool]] = {
    "parquet": lambda text, lines: text.startswith(b"PAR1"),
    "fasta": lambda text, lines: lines[0].startswith(b">"),
    "fastq": _is_fastq,
    "jsonl": lambda text, lines: re.match(rb'\s*\{\s*("|\})', lines[0]) is not None,
    "svmlight": _is_svmlight,
}
LIKELY: dict[str, Callable[[bytes, list[bytes]], bool]] = {
    "vw": lambda text, lines: all(_VW.match(line) is not None for line in lines),
    "text": _is_labelled_text,
    "tsv": _delimited(b"\t"),
    "csv": lambda text, lines: _delimited(b",")(text, lines) or _delimited(b";")(text, lines),
}
