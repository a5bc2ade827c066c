"""Stream: batches of examples from any source, every line accounted for."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from bearsketch.batch import Batch, Position
from bearsketch.closing import Closes
from bearsketch.exceptions import DataError, ParameterError, SourceError
from bearsketch.reading.account import Account, Counts, unit_of
from bearsketch.reading.chunks import Chunks
from bearsketch.reading.codecs import codec_named
from bearsketch.reading.encoding import NOT_UTF8, Encoding
from bearsketch.reading.expected import Expected
from bearsketch.reading.formats import certain_format, format_named, guess_format
from bearsketch.reading.limits import HEAD_BYTES
from bearsketch.reading.objects import Frames, ObjectsInput, python_source
from bearsketch.reading.options import FORMAT, MANY, TABLE, ReadOptions
from bearsketch.reading.pieces import Numbering, Packer, Piece
from bearsketch.reading.readers import (
    Reader,
    format_hint,
    make_reader,
    refuse_alignments,
    refuse_archive,
    refuse_array,
)
from bearsketch.reading.source import Fingerprint, Input, Source, check_unchanged, resolve
from bearsketch.reading.unlabelled import check_labelled, no_example


class Warned(NamedTuple):
    """Something odd that was accepted, once for each input."""

    code: str
    source: str
    message: str


class Progress(NamedTuple):
    """Bytes read, as they lie in the inputs; ``total`` is None where it is not known."""

    done: int
    total: int | None


FIELD_MISSING = "JSL-FIELD-MISSING"
_NAMES_AS_BYTES = ("vw", "csv", "tsv", "text")
WARNINGS = {
    "COM-NO-NEWLINE": "the last line has no line end: the file may be cut; the line is used",
    "COM-BOM": "a UTF-8 byte order mark at the start was left out",
    "VW-TAG-NUMBER": "a number that touches the bar is a tag, so that its example has no label",
}


def open_stream(source: Source, format: str = "auto", **options: Any) -> Stream:
    r"""Open a source as a stream of batches.

    Parameters
    ----------
    source : str, path, binary file object, Arrow stream, or a list of them
        A path, a glob, ``-`` for standard input, a URL (extra ``remote``); each plain, gzip,
        zstd, xz or bz2, which its first bytes tell. Or a frame: any object with
        ``__arrow_c_stream__``, and a LazyFrame of polars. Or an iterable of frames, an iterable of
        mappings, or a DB-API cursor, whose rows are read as JSON Lines are.
    format : str
        ``vw``, ``svmlight``, ``fasta``, ``fastq``, ``csv``, ``tsv``, ``parquet``, ``jsonl`` or
        ``text``; ``auto`` tells it from the first bytes, then from the name.
    **options
        See :class:`ReadOptions`.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import io
    >>> table = io.BytesIO(b"city,age,label\nparis,30,1\nrome,41,0\n")
    >>> with open_stream(table, "csv") as stream:
    ...     for batch in stream:
    ...         print(len(batch), batch.labels)
    2 [1. 0.]
    """
    check_names(options, format)
    return Stream(source, format, ReadOptions(**options), options)


def check_names(options: Collection[str], format: str) -> None:
    """Refuse options that there are not, and formats."""
    if not FORMAT.kind.holds(format):
        raise ParameterError(f"format must be {FORMAT.kind.allowed}, got {format!r}")
    for name in options:
        if name not in TABLE:
            close = get_close_matches(name, TABLE, n=1)
            raise ParameterError(
                f"{name!r} is no option of a stream; they are {', '.join(TABLE)}",
                hint=f"Is {close[0]} meant?" if close else "",
            )


class Stream(Closes):
    """Batches of examples; iterate once for each pass, close when done.

    Batches have exactly ``options.rows`` examples, whatever files these come from; only the last
    one has fewer, one that would pass a limit on what a batch may hold, and with ``options.live``
    any.

    Attributes
    ----------
    counts : Counts
        Lines of the present pass by what became of them.
    warnings : list of Warned
        What was odd but accepted.
    errors : list of ParseError
        The first ten lines that were skipped.
    position : Position or None
        Where the last batch ends.
    passes : int
        Passes begun.
    format : str
        The format; ``auto`` until the first input is open.
    """

    def __init__(
        self, source: Any, format: str, options: ReadOptions, meant: Collection[str] = ()
    ) -> None:
        self.options = options
        self._meant = frozenset(meant)
        self.format = format
        self.warnings: list[Warned] = []
        self.position: Position | None = None
        self.passes = 0
        found = python_source(source)
        self._frames = found if isinstance(found, Frames) else None
        self._inputs: list[Input] = []
        if isinstance(found, ObjectsInput):
            self._inputs, self.format = [found], "jsonl"
        elif self._frames is not None:
            self.format = "arrow"
        else:
            self._inputs = resolve(found)
        self._account = Account(options)
        self._expected: Expected | None = None
        self._before: list[Fingerprint | None] = []
        self._running: Iterator[Batch] | None = None
        self._chunks: Chunks | None = None
        self._done_bytes = 0
        self._decoded = 0
        self._delivered = 0
        self._shared: Any = None

    @property
    def sources(self) -> list[str]:
        """Names of the inputs, in order."""
        return ["<arrow>"] if self._frames is not None else [found.name for found in self._inputs]

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Columns of a table by their use: what to tell a later stream, so that it reads alike.

        Empty for other formats, and until the first row is read.
        """
        schema = None if self._shared is None else self._shared.schema
        return {} if schema is None else schema.by_use()

    @property
    def missing_columns(self) -> tuple[str, ...]:
        """Columns of a table where a number that is not there is missing rather than 0."""
        return () if self._shared is None else self._shared.missing_columns or ()

    @property
    def counts(self) -> Counts:
        """Lines of the present pass."""
        return self._account.counts

    @property
    def unit(self) -> str:
        """What lines are called in messages: rows of a table, records of sequences."""
        return self._account.unit

    @property
    def errors(self) -> list[Any]:
        """The first lines that were skipped in this pass."""
        return self._account.errors

    def expect(self, expected: Expected | None) -> None:
        """Take examples with other labels for broken lines, from the next batch on."""
        self._expected = expected

    @property
    def reopens(self) -> bool:
        """Whether another pass is possible."""
        frames = self._frames is None or self._frames.reopens
        return frames and all(found.reopens for found in self._inputs)

    def progress(self) -> Progress:
        """Bytes done and to do in this pass."""
        sizes = [found.size for found in self._inputs]
        known = [size for size in sizes if size is not None]
        total = sum(known) if sizes and len(known) == len(sizes) else None
        taken = self._done_bytes + (self._chunks.taken if self._chunks is not None else 0)
        return Progress(taken, total)

    def __iter__(self) -> Iterator[Batch]:
        self._end_pass()
        if self.passes:
            self.check_reopens()
        self._running = self._pass()
        return self._running

    def check_reopens(self) -> None:
        """Refuse inputs that cannot be read a second time."""
        if not self.reopens:
            once = next((found.name for found in self._inputs if not found.reopens), "<frames>")
            raise SourceError(
                f"{once}: this input can be read only once, but a second pass is needed",
                code="SRC-ONCE",
                hint="Save it as a file, or train with one pass.",
            )

    def close(self) -> None:
        """Stop reading and close what was opened; safe to call twice."""
        self._end_pass()

    def _end_pass(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            # A pass that another thread is inside of, waiting for input, ends with the process.
            with contextlib.suppress(ValueError):
                running.close()  # type: ignore[attr-defined]

    def _pass(self) -> Iterator[Batch]:
        from bearsketch.reading.columnar import Shared

        self.passes += 1
        delivered, self._delivered = self._delivered, 0
        self._account = Account(self.options)
        self._done_bytes, self._decoded = 0, 0
        self._check_unchanged()
        shared = self._shared = Shared(self.options)
        packer: Packer | None = None
        numbering = Numbering()
        most = self.options.max_examples or MANY
        for reader, hint in self._readers(shared):
            if packer is None:
                given, other = self.options, self.counts.other
                packer = Packer(given.rows, given.limits, reader.naming, given.seed, other)
            while most > 0:
                piece = reader.take(min(packer.rows_left, most), packer.entries_left)
                if piece is None:
                    break
                if self._expected is not None:
                    self._expected = self._expected.after(piece)
                    piece = self._expected.keep(piece)
                if piece.errors and self.options.fails:
                    before = piece.before(min(error.line for error in piece.errors))
                    numbering.number(before)
                    yield from self._hand_over(packer, self._wanted(before))
                self._account.take(piece, hint)
                check_labelled(self)
                self._note(piece, shared)
                numbering.number(piece)
                wanted = self._wanted(piece)
                most -= len(wanted)
                yield from self._hand_over(packer, wanted)
            if most <= 0:
                break
        if packer is not None:
            yield from self._deliver(packer.finish())
        self._account.finish(early=most <= 0)
        for name, option in (shared.unmet or {}).items():
            self._warn(
                FIELD_MISSING,
                self.sources[0] if len(self._inputs) == 1 else "the source",
                f"no example has the field {name!r}, which {option} ({TABLE[option].flag}) names: "
                "check its spelling",
            )
        self._check_delivered(delivered)

    def _hand_over(self, packer: Packer, piece: Piece) -> Iterator[Batch]:
        yield from self._deliver(packer.add(piece))
        if self.options.live:
            yield from self._deliver(packer.finish())

    def _deliver(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            self.position = batch.position
            self._delivered += len(batch)
            yield batch

    def _wanted(self, piece: Piece) -> Piece:
        return piece if self.options.include_unlabelled else piece.keep(piece.labelled())

    def _check_unchanged(self) -> None:
        if self.passes == 1:
            self._before = [found.fingerprint() for found in self._inputs]
        for found, before in zip(self._inputs, self._before, strict=True):
            check_unchanged(found, before)

    def _check_delivered(self, before: int) -> None:
        if before and not self._delivered:
            raise SourceError(
                "the source gave examples on the first pass and none on this one",
                code="SRC-ONCE",
                hint="Give a table rather than a reader that is used up, or train with one pass.",
            )
        if self._delivered or self.options.allow_empty:
            return
        raise no_example(self)

    def _readers(self, shared: Any) -> Iterator[tuple[Reader, str]]:
        """Each input that is not empty, opened, with a hint for an error in its first line."""
        if self._frames is not None:
            from bearsketch.reading.arrow import ArrowReader

            self.options.check_used("arrow", self._meant)
            for index, table in enumerate(self._frames):
                name = f"<frame {index + 1}>" if index else "<arrow>"
                yield ArrowReader(table, name, index, self.options, shared), ""
            return
        for index, found in enumerate(self._inputs):
            chunks = Chunks(found, self.options.limits, self._decoded)
            self._chunks = chunks
            try:
                reader, hint = self._reader(chunks, found, index, shared)
                if reader is None:
                    continue
                try:
                    yield reader, hint
                finally:
                    reader.close()
            finally:
                chunks.close()
                self._done_bytes += chunks.taken if found.size is None else found.size
                self._decoded = chunks.decoded
                self._chunks = None

    def _reader(
        self, chunks: Chunks, found: Input, index: int, shared: Any
    ) -> tuple[Reader | None, str]:
        # A pipe may be slow: no more is waited for than is needed.
        head = chunks.head(HEAD_BYTES, None if self.format == "auto" else 2)
        self._warn_suffix(chunks)
        if not head:
            self._warn("SRC-EMPTY", found.name, "the file is empty")
            return None, ""
        refuse_archive(found.name, head)
        if self.format == "auto":
            refuse_array(found.name, head)
        if self.format in ("auto", "fasta", "fastq"):
            refuse_alignments(found.name, head)
        form = self._settle_format(chunks, found, head)
        hint = format_hint(head, form, index)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DataError(
                f"{found.name}: the text is UTF-16",
                code="COM-UTF16",
                hint="Convert it to UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
            )
        known = any(odd.code == NOT_UTF8 for odd in self.warnings)
        chunks.encoding = Encoding() if form in _NAMES_AS_BYTES and not known else None
        return make_reader(chunks, found, form, index, self.options, shared), hint

    def _settle_format(self, chunks: Chunks, found: Input, head: bytes) -> str:
        if self.format == "auto":
            self.format = guess_format(head, found.name)
        self.options.check_used(self.format, self._meant)
        self._account.unit = unit_of(self.format, self.options)
        promised = format_named(found.name)
        sure = certain_format(head)
        if sure is not None and promised not in (None, sure, "text"):
            self._warn("SRC-SUFFIX", found.name, f"the content is {sure}, not {promised}")
        return self.format

    def _warn_suffix(self, chunks: Chunks) -> None:
        promised = codec_named(chunks.name)
        if (promised.name if promised else "plain") != chunks.compression and (
            promised is not None or format_named(chunks.name) is not None
        ):
            self._warn(
                "SRC-SUFFIX",
                chunks.name,
                f"the file is {chunks.compression}, whatever its name says",
            )

    def _note(self, piece: Piece, shared: Any) -> None:
        for code, message in shared.notes:
            self._warn(code, piece.position.source, message)
        shared.notes.clear()
        encoding = None if self._chunks is None else self._chunks.encoding
        if encoding is not None and encoding.odd:
            self._warn(NOT_UTF8, piece.position.source, encoding.odd)
        for code, count in piece.warnings.items():
            if count:
                self._warn(code, piece.position.source, WARNINGS.get(code, code))

    def _warn(self, code: str, source: str, message: str) -> None:
        warned = Warned(code, source, message)
        if warned not in self.warnings:
            self.warnings.append(warned)
