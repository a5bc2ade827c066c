"""Labels: the kind the first one sets for a stream, and where those of sequences come from."""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.exceptions import ParseError, SourceError
from bearsketch.reading.chunks import Chunks
from bearsketch.reading.codecs import codec_named
from bearsketch.reading.formats import SUFFIXES
from bearsketch.reading.limits import Limits
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.source import FileInput

# Strings of one array take as much as the longest: this bounds what a batch can cost.
MAX_LABEL_BYTES = 1024
_ZERO_ONE = re.compile(rb"[+-]?[01]")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class LabelKind:
    """Whether the labels of a stream are numbers or names; the first one decides."""

    def __init__(self, wanted: str) -> None:
        self._quantity = wanted == "quantity"
        self.kind = "auto" if self._quantity else wanted

    def settle(self, first: bytes) -> None:
        """Decide by the first label, if that is still open."""
        if self.kind == "auto" and first:
            self.kind = "number" if _NUMBER.fullmatch(first.strip()) else "name"

    def settle_identifier(self, first: bytes) -> None:
        """Decide for labels that are parts of names: 0562 and 1.1 are taxa, 0 and 1 are numbers."""
        if self.kind == "auto" and first:
            number = self._quantity or _ZERO_ONE.fullmatch(first)
            self.kind = "number" if number else "name"

    def convert(self, texts: Sequence[bytes]) -> tuple[npt.NDArray[Any] | None, dict[int, str]]:
        """Labels as an array, and what is wrong with those that do not fit.

        An empty text is no label.
        """
        self.settle(next((text for text in texts if text), b""))
        if self.kind == "auto":
            return None, {}
        return _numbers(texts) if self.kind == "number" else names_array(texts)


def _numbers(texts: Sequence[bytes]) -> tuple[npt.NDArray[Any], dict[int, str]]:
    out = np.full(len(texts), np.nan)
    bad: dict[int, str] = {}
    for i, text in enumerate(texts):
        stripped = text.strip()
        if not stripped:
            continue
        value = float(stripped) if _NUMBER.fullmatch(stripped) else math.nan
        if math.isfinite(value):
            out[i] = value
        else:
            bad[i] = "a label that is not a finite number, where labels are numbers"
    return out, bad


def names_array(texts: Sequence[bytes]) -> tuple[npt.NDArray[Any], dict[int, str]]:
    """Labels that are names, as an array of strings."""
    bad = {
        i: f"a label of more than {MAX_LABEL_BYTES} bytes"
        for i, text in enumerate(texts)
        if len(text) > MAX_LABEL_BYTES
    }
    shown = [b"" if i in bad else text for i, text in enumerate(texts)]
    return np.array([text.decode("utf-8", "surrogateescape") for text in shown], dtype=str), bad


def labels_for(loss: str, classes: Any = None) -> str:
    """Option ``labels`` of a stream to be learned with a loss, or ``auto``, and these classes.

    Examples
    --------
    >>> labels_for("squared"), labels_for("auto", ["0", "1"]), labels_for("auto", ["yes", "no"])
    ('quantity', 'auto', 'name')
    """
    words = () if classes is None else classes
    if any(isinstance(label, str) and not _is_number(label) for label in words):
        return "name"
    return "quantity" if loss == "squared" else "auto"


def _is_number(label: str) -> bool:
    return _NUMBER.fullmatch(label.strip().encode("utf-8", "surrogateescape")) is not None


class SequenceLabels:
    r"""Label of a record of FASTA or FASTQ, from its header, a table, or its file.

    Examples
    --------
    >>> labels = SequenceLabels(ReadOptions(label_regex=r"taxon=(\w+)"))
    >>> labels.of(b"read7 taxon=ecoli", "reads.fa")
    b'ecoli'
    """

    def __init__(self, options: ReadOptions) -> None:
        given = options.label_regex is not None or options.label_table is not None
        self.place = options.label_from
        if self.place == "auto":
            self.place = "header" if given else "none"
        self._regex = re.compile((options.label_regex or "").encode())
        self._search = options.label_regex is not None
        self._table: dict[bytes, bytes] | None = None
        if options.label_table is not None:
            self._table = read_table(Path(options.label_table), options.limits)
        text = "name of the file" if self.place == "file" else "header of this record"
        self.missing = f"no label: the {text} "
        if self._table is None:
            self.missing += f"does not match {options.label_regex!r}"
        else:
            found = f" that {options.label_regex!r} finds" if self._search else ""
            self.missing += f"has no name{found} in {options.label_table}"
        self.hint = (
            "Look at label_regex and label_table (--label-regex, --label-table), or leave such "
            "records out (--on-error skip)."
        )

    def of(self, header: bytes, source: str) -> bytes | None:
        """Label, or None where the expression or the table has none."""
        if self.place == "file":
            return self._label(Path(source).name.encode(), file_stem(source).encode())
        words = header.split(maxsplit=1)
        return self._label(header, words[0] if words else b"")

    def _label(self, text: bytes, name: bytes) -> bytes | None:
        if self._search:
            found = self._regex.search(text)
            if found is None or not found[1]:
                return None
            name = found[1]
        if self._table is None:
            return name
        return self._table.get(name, self._table.get(text))


def file_stem(source: str) -> str:
    """Name of a file without folders and without suffixes of compression and format.

    Examples
    --------
    >>> file_stem("genomes/e_coli.k12.fna.gz")
    'e_coli.k12'
    """
    path = Path(source)
    if codec_named(path.name) is not None:
        path = path.with_suffix("")
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def read_table(path: Path, limits: Limits) -> dict[bytes, bytes]:
    """Table of two tab-separated columns, name and label; later columns are not used."""
    table: dict[bytes, bytes] = {}
    for number, line in enumerate(_table_lines(path, limits), 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        cells = line.split(b"\t")
        if len(cells) < 2 or not cells[1].strip():
            raise _table_error(path, number, "a line needs a name, a tab and a label")
        if table.setdefault(cells[0].strip(), cells[1].strip()) != cells[1].strip():
            raise _table_error(path, number, "this name has another label in an earlier line")
    return table


def _table_lines(path: Path, limits: Limits) -> list[bytes]:
    """Lines of a table, plain or compressed as any input may be."""
    try:
        with Chunks(
            FileInput(path, None, reopens=True), replace(limits, input_bytes=None)
        ) as chunks:
            return b"".join(chunks).removeprefix(BOM_UTF8).splitlines()
    except SourceError as error:
        raise SourceError(f"label table {error.message}", code=error.code) from None


def _table_error(path: Path, line: int, message: str) -> ParseError:
    return ParseError(message, code="COM-LABEL-TABLE", source=str(path), line=line, column=1)
