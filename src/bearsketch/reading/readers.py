"""Readers: what turns one input into pieces, by its format."""

from __future__ import annotations

import re
from typing import Any, Protocol

from bearsketch.exceptions import DataError, SourceError
from bearsketch.reading.chunks import Chunks
from bearsketch.reading.codecs import codec_named
from bearsketch.reading.formats import certain_format, enough_lines, separator_of
from bearsketch.reading.limits import HEAD_BYTES
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.pieces import Piece
from bearsketch.reading.source import Input

_ONE_A_LINE = "Write one object a line, for example with: jq -c '.[]' data.json > data.jsonl"
_ALIGNMENTS = {
    "SAM": re.compile(rb"@(HD|SQ|RG|PG)\t[A-Za-z][A-Za-z0-9]:"),
    "BAM": re.compile(rb"BAM\x01"),
    "CRAM": re.compile(rb"CRAM[\x01-\x0f]"),
}
_ARRAY = re.compile(rb"(\xef\xbb\xbf)?\s*\[")
_OBJECTS = re.compile(_ARRAY.pattern + rb'\s*\{\s*("|\})')


class Reader(Protocol):
    """What turns one input into pieces."""

    naming: str

    def take(self, rows: int, entries: int) -> Piece | None:
        """At most so many examples and entries; one example if it alone has more."""

    def close(self) -> None:
        """Stop reading."""


def refuse_archive(name: str, head: bytes) -> None:
    """Refuse an archive: it has files of its own."""
    kind = "zip" if head.startswith(b"PK\x03\x04") else "tar"
    if kind == "zip" or head[257:262] == b"ustar":
        raise DataError(
            f"{name}: this is a {kind} archive, which holds files of its own",
            code="SRC-ARCHIVE",
            hint="Unpack it and name the files.",
        )


def refuse_alignments(name: str, head: bytes) -> None:
    """Refuse SAM, BAM and CRAM: their first lines could pass for text or FASTQ."""
    kind = next((kind for kind, magic in _ALIGNMENTS.items() if magic.match(head)), None)
    if kind is not None:
        raise DataError(
            f"{name}: this is a {kind} file, where sequences are read from FASTA and FASTQ",
            code="SRC-ALIGNMENTS",
            hint="Take the reads out of it, for example with: "
            f"samtools fasta reads.{kind.lower()} > reads.fa",
        )


def refuse_array(name: str, head: bytes) -> None:
    """Refuse one JSON array: it has no line for each example."""
    base = name if codec_named(name) is None else name.rpartition(".")[0]
    called = base.lower().endswith(".json") and _ARRAY.match(head)
    if called or _OBJECTS.match(head):
        raise DataError(
            f"{name}: this is a JSON array, where JSON Lines has one object a line",
            code="JSL-ARRAY",
            hint=_ONE_A_LINE,
        )


def format_hint(head: bytes, form: str, index: int) -> str:
    """Say which format it may be, for an error in the first line of an input by its number."""
    if form == "jsonl" and _ARRAY.match(head):
        return _ONE_A_LINE
    sure = certain_format(head)
    if sure is None or sure == form:
        return ""
    if index:
        return f"It looks like {sure}, and all inputs must have one format, as the first: {form}."
    return f"The content looks like {sure}: give that format (--format {sure})."


def label_hint(form: str) -> str:
    """Say where labels are, for data without one."""
    if form in ("fasta", "fastq"):
        return (
            "Say where labels are: in headers (label_regex, --label-regex), in a table "
            "(label_table, --label-table) or in names of files (label_from, --label-from file)."
        )
    if form in ("vw", "svmlight", "text"):
        example = {"vw": "1 | words", "svmlight": "1 7:0.5", "text": "label TAB text"}[form]
        return f"A line starts with its label: {example}"
    return "Name the label column (label_column, --label-column)."


def make_reader(
    chunks: Chunks, found: Input, form: str, index: int, options: ReadOptions, shared: Any
) -> Reader:
    """Reader of one input, by its format."""
    if form in ("csv", "tsv"):
        from bearsketch.reading.columnar import CsvReader

        separator = options.separator or (
            "\t" if form == "tsv" else _separator(chunks, options.decimal)
        )
        return CsvReader(chunks, separator, index, options, shared)
    if form == "parquet":
        from bearsketch.reading.arrow import ParquetReader

        chunks.close()
        file = _seekable(found, chunks.compression)
        try:
            return ParquetReader(file, found.name, index, options, shared)
        except BaseException:
            file.close()
            raise
    from bearsketch.reading.native import NativeReader

    return NativeReader(chunks, form, index, options, shared)


def _separator(chunks: Chunks, decimal: str) -> str:
    """Find out the separator of a table, and wait for no more lines than that takes."""
    head = chunks.head(HEAD_BYTES, 1)
    while len(head) < HEAD_BYTES and not enough_lines(head):
        longer = chunks.head(HEAD_BYTES, len(head) + 1)
        if len(longer) == len(head):
            break
        head = longer
    return separator_of(head, decimal)


def _seekable(found: Input, compression: str) -> Any:
    """Open an input that must be read from its end, as Parquet is."""
    if compression != "plain":
        raise DataError(
            f"{found.name}: a Parquet file inside {compression} cannot be read as a stream",
            code="PQ-COMPRESSED",
            hint="Decompress it first; Parquet compresses its pages itself.",
        )
    file = found.open()
    if not file.seekable():
        file.close()
        raise SourceError(
            f"{found.name}: Parquet is read from its end, which a pipe does not allow",
            code="PQ-SEEK",
            hint="Save it as a file, or redirect the file itself: < data.parquet",
        )
    return file
