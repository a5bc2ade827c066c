"""Splitting the data: files and byte ranges to partitions, by a plan that knows no engine.

A pass over the data is cut into rounds and a round into shards, all of about the same number of
bytes, in the order of the stream. What one shard learns in one round is a partition. The plan
depends on the data, the number of rounds and the number of shards alone: not on how many workers
there are, nor on what they do.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from bearsketch.exceptions import DataError, ParameterError
from bearsketch.reading.codecs import MAGIC_BYTES, codec_of
from bearsketch.reading.source import FileInput, Input, Source, UrlInput, resolve

# Formats whose examples end where a line ends, or begin with a line that can be told. A line of
# a table may continue inside quotes, and Parquet is read from its end: such files stay whole.
SPLITS = ("vw", "svmlight", "jsonl", "text", "fasta", "fastq")
DEFAULT_SHARDS = 4
DEFAULT_ROUNDS = 16
MOST = 65536  # shards, and rounds
LEAST_EXAMPLES_BYTES = 1 << 14  # a partition of less is not worth its message
_END_BYTES = 4096
_SEARCH_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bytes of one file; ``length`` is None where the file stays whole.

    ``fingerprint`` tells whether a worker sees the same bytes: a hash of the size of the file and
    of the first and last bytes of the range. Times are left out, as copies on other machines have
    their own.
    """

    name: str
    path: str
    offset: int
    length: int | None
    fingerprint: str

    def open(self) -> BinaryIO | str:
        """Give what a stream reads: the range as a file object, or the name of a whole file."""
        found = _input(self.path)
        if fingerprint_of(found, self.offset, self.length) != self.fingerprint:
            raise DataError(
                f"{self.name}: the file is not the one that was planned with, or has changed",
                code="SRC-CHANGED",
                hint="Every worker must see the same files, and nothing may write to them.",
            )
        if self.length is None:
            return self.path
        return RangeFile(found, self.name, self.offset, self.length)

    def lines_before(self) -> int:
        """Line ends before the range, so that a message can give the line of the file."""
        if not self.offset:
            return 0
        before = RangeFile(_input(self.path), self.name, 0, self.offset)
        with before:
            return sum(part.count(b"\n") for part in iter(lambda: before.read(1 << 20), b""))


@dataclass(frozen=True, slots=True)
class Partition:
    """What one shard learns in one round: some spans, in order."""

    id: int
    round: int
    shard: int
    spans: tuple[Span, ...]

    @property
    def place(self) -> str:
        """Number, file and offset, for a message."""
        first = self.spans[0]
        return f"partition {self.id} ({first.name}:{first.offset})"

    @property
    def size(self) -> int:
        """Bytes, as they lie in the files; 0 for a whole file of unknown size."""
        return sum(
            _input(span.path).size or 0 if span.length is None else span.length
            for span in self.spans
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """Partitions by number; those of one round stand together, in the order of their shards."""

    shards: int
    rounds: int
    partitions: tuple[Any, ...]

    def of_round(self, number: int) -> list[Partition]:
        """Partitions of a round, in order."""
        return [part for part in self.partitions if part.round == number]

    @property
    def sources(self) -> list[str]:
        """Names of the files, in order."""
        names = (span.name for part in self.partitions for span in part.spans)
        return list(dict.fromkeys(names))

    @property
    def digest(self) -> str:
        """Hash of everything that decides the result; where files lie is no part of it."""
        plain = asdict(self)
        for part in plain["partitions"]:
            for span in part["spans"]:
                del span["path"]
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


class RangeFile(io.RawIOBase, BinaryIO):
    """Bytes ``offset`` to ``offset + length`` of an input, to be read once."""

    def __init__(self, found: Input, name: str, offset: int, length: int) -> None:
        self._name = name
        self._file = found.open()
        self._file.seek(offset)
        self._left = length

    @property
    def name(self) -> str:
        """Name of the file, for messages."""
        return self._name

    def read(self, size: int = -1) -> bytes:
        """Read what is there, at most ``size`` bytes."""
        wanted = self._left if size < 0 else min(size, self._left)
        got = self._file.read(wanted) if wanted else b""
        if wanted and not got:
            raise DataError(
                f"{self.name}: the file ends {self._left} bytes before it should",
                code="SRC-CHANGED",
                hint="The file was cut while it was read.",
            )
        self._left -= len(got)
        return got

    def readable(self) -> bool:
        """Of course."""
        return True

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.close()
        super().close()


def _input(path: str) -> Input:
    return resolve(path)[0]


def fingerprint_of(found: Input, offset: int, length: int | None) -> str:
    """Hash of the size of a file and of the ends of a range of it."""
    digest = hashlib.sha256(f"{found.size} {offset} {length}".encode())
    with found.open() as file:
        whole = found.size if length is None else length
        if whole is not None and file.seekable():
            for at in (offset, offset + max(whole - _END_BYTES, 0)):
                file.seek(at)
                digest.update(file.read(min(_END_BYTES, whole)) or b"")
    return digest.hexdigest()[:32]


def make_plan(
    source: Source, form: str, *, shards: int = DEFAULT_SHARDS, rounds: int | None = None
) -> Plan:
    r"""Split a source into partitions.

    Parameters
    ----------
    source : path, glob, URL or a list of them
        What every worker can open under the same name.
    form : str
        Its format. Plain files of a format whose examples are lines (and FASTA, FASTQ) are cut
        between two examples; tables, Parquet and compressed files stay whole.
    shards : int
        Partitions that are learned at the same time.
    rounds : int, optional
        How often a pass is merged. Default 16, and fewer where partitions would be smaller than
        16 KiB or whole files are too few.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".vw") as file:
    ...     _ = file.write(b"1 | a b c\n" * 100)
    ...     file.flush()
    ...     plan = make_plan(file.name, "vw", shards=2, rounds=1)
    >>> [(part.spans[0].offset, part.spans[0].length) for part in plan.partitions]
    [(0, 500), (500, 500)]
    """
    for what, given in (("shards", shards), ("rounds", rounds)):
        if given is not None and not 1 <= given <= MOST:
            raise ParameterError(f"{what} must be an integer from 1 to {MOST}, got {given!r}")
    units = [_Unit.of(found, form) for found in _openable(source)]
    total = sum(unit.size for unit in units)
    most = _most_rounds(units, shards, total)
    used = max(min(rounds or DEFAULT_ROUNDS, most if rounds is None else MOST), 1)
    parts = list(_cut(units, total, shards * used))
    return Plan(shards, used, tuple(_numbered(parts, shards)))


def _openable(source: Source) -> list[FileInput | UrlInput]:
    found = resolve(source)
    for one in found:
        if not isinstance(one, FileInput | UrlInput) or not one.reopens or one.size is None:
            raise ParameterError(
                f"workers need files they can open themselves, got {one.name}",
                hint="Save the input as a file that every worker sees, or train without workers.",
            )
    return found  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A file, and whether it can be cut."""

    found: FileInput | UrlInput
    size: int
    form: str | None

    @classmethod
    def of(cls, found: FileInput | UrlInput, form: str) -> _Unit:
        with found.open() as file:
            plain = codec_of(file.read(MAGIC_BYTES) or b"", found.name) is None
            cuts = plain and form in SPLITS and file.seekable()
        return cls(found, found.size or 0, form if cuts else None)

    def span(self, start: int, stop: int) -> Span:
        """Bytes from ``start`` to ``stop``, or all of a file that stays whole."""
        path = self.found.name
        if isinstance(self.found, FileInput):
            path = os.fspath(Path(path).absolute())
        length = None if self.form is None else stop - start
        mark = fingerprint_of(self.found, start, length)
        return Span(self.found.name, path, start, length, mark)


def _most_rounds(units: Sequence[_Unit], shards: int, total: int) -> int:
    by_size = total // (LEAST_EXAMPLES_BYTES * shards)
    if all(unit.form is not None for unit in units):
        return by_size
    return min(by_size, len(units) // shards)


def _cut(units: Sequence[_Unit], total: int, n: int) -> Iterator[list[Span]]:
    """Spans of ``n`` parts of about the same number of bytes; some may be empty."""
    parts: list[list[Span]] = [[] for _ in range(n)]
    before = 0
    for unit in units:
        after = before + unit.size
        if unit.form is None:
            middle = (before + after) // 2
            parts[min(middle * n // max(total, 1), n - 1)].append(unit.span(0, unit.size))
        else:
            _cut_file(unit, before, total, parts)
        before = after
    yield from parts


def _cut_file(unit: _Unit, before: int, total: int, parts: list[list[Span]]) -> None:
    n, start = len(parts), 0
    first = before * n // max(total, 1)
    with unit.found.open() as file:
        for i in range(min(first, n - 1), n):
            wanted = total * (i + 1) // n - before
            if wanted >= unit.size or i == n - 1:
                stop = unit.size
            else:
                stop = example_after(file, max(wanted, start), unit.size, unit.form or "")
            if stop > start:
                parts[i].append(unit.span(start, stop))
            start = stop
            if start >= unit.size:
                return


def example_after(file: BinaryIO, at: int, size: int, form: str) -> int:
    r"""Place where the first example at or after ``at`` begins; ``size`` if there is none.

    Examples
    --------
    >>> example_after(io.BytesIO(b"1 | a\n0 | b\n"), 2, 12, "vw")
    6
    """
    if at <= 0:
        return 0
    file.seek(at - 1)  # a line that begins at the very place counts
    held, start = b"", at - 1
    while True:
        got = file.read(_SEARCH_BYTES)
        held += got or b""
        end = held.find(b"\n")
        while end >= 0:
            sure = _begins(held[end + 1 :], form)
            if sure is True:
                return start + end + 1
            if sure is None:
                break  # more must be read to tell
            end = held.find(b"\n", end + 1)
        if not got:
            return size
        if end < 0:
            held, start = b"", file.tell()


def _begins(text: bytes, form: str) -> bool | None:
    """Whether an example begins with these bytes; None where more of them are needed to tell."""
    if form == "fasta":
        return text.startswith(b">") if text else None
    if form != "fastq":
        return True
    # Of four lines the first has @ and the third +; a line of qualities may begin with either,
    # but two lines after such a line with @ stands a sequence.
    lines = text.split(b"\n", 3)
    if not text.startswith(b"@"):
        return False if text else None
    return lines[2].startswith(b"+") if len(lines) > 2 and lines[2] else None


def _numbered(parts: Sequence[list[Span]], shards: int) -> Iterator[Partition]:
    """Leave empty parts out, as happens with few whole files."""
    number = 0
    for i, spans in enumerate(parts):
        if spans:
            yield Partition(number, i // shards, i % shards, tuple(spans))
            number += 1
