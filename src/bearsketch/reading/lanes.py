"""Lanes: lines of one input parsed side by side, and handed over in their order."""

from __future__ import annotations

import contextlib
import queue
import threading
import weakref
from collections import deque
from collections.abc import Generator, Iterator
from typing import NamedTuple

from bearsketch._core import Block, Parser, end_of_lines
from bearsketch.exceptions import ParseError
from bearsketch.reading.chunks import Chunks
from bearsketch.reading.columnar import with_last_line
from bearsketch.reading.limits import RUN_BYTES
from bearsketch.reading.options import ReadOptions


class Run(NamedTuple):
    """Lines that follow one another, as parts of chunks, and the place where they begin.

    A run is whole if it has as many lines as were asked for, or nothing follows it.
    """

    parts: list[tuple[bytes, int, int]]
    byte: int
    line: int
    whole: bool
    final: bool
    failure: Exception | None


def cut_runs(chunks: Chunks, lines: int) -> Iterator[Run]:
    """Cut chunks into runs of a number of lines; one that grows too large ends anywhere."""
    byte = line = 0
    chunk: bytes | None = b""
    at, failure = 0, None
    while chunk is not None:
        parts: list[tuple[bytes, int, int]] = []
        size = found = 0
        while chunk is not None and found < lines and size < RUN_BYTES:
            stop, more = end_of_lines(chunk, at, lines - found)
            parts.append((chunk, at, stop))
            size, found, at = size + stop - at, found + more, stop
            if at == len(chunk):
                (chunk, failure), at = _next(chunks, line + found), 0
        ends = chunk is None
        yield Run(parts, byte, line, found == lines or ends, ends and failure is None, failure)
        byte, line = byte + size, line + found


def _next(chunks: Chunks, line: int) -> tuple[bytes | None, Exception | None]:
    try:
        return chunks.next(), None
    except ParseError as error:
        return None, with_last_line(error, line)
    except Exception as error:
        return None, error


class Lanes:
    """Blocks of an input, made by several parsers at a time.

    Each takes a run of lines: where every line is an example, those of one batch. The first run is
    parsed alone, for its labels tell how all are read, and so is everything once lines are so long
    that a batch of them is too large to have several.

    Parameters
    ----------
    parser : Parser
    chunks : Chunks
    options : ReadOptions
    """

    def __init__(self, parser: Parser, chunks: Chunks, options: ReadOptions) -> None:
        self._parser, self._lanes = parser, options.threads
        self._most = options.rows, options.limits.batch_entries
        self._runs = cut_runs(chunks, options.rows)
        self._twins: list[Parser] = []
        self._jobs: _Jobs = queue.SimpleQueue()
        self._crew: weakref.finalize[..., Lanes] | None = None

    @property
    def unmet_fields(self) -> set[str]:
        """Fields that no parser has met; not while blocks are being made."""
        return set.intersection(*(set(one.unmet_fields) for one in (self._parser, *self._twins)))

    def __iter__(self) -> Generator[Block, None, None]:
        ahead: deque[_Box] = deque()
        together, alone = True, False
        failure = None
        try:
            for run in self._runs:
                failure = run.failure
                together = together and run.whole
                if together and run.line > 0 and self._parser.settled:
                    ahead.append(self._send(run))
                    if len(ahead) > self._lanes:
                        yield from _open(ahead.popleft())
                    continue
                while ahead:
                    yield from _open(ahead.popleft())
                yield from parse(self._parser, run, self._most, starts=not alone, ends=together)
                alone = not together
            while ahead:
                yield from _open(ahead.popleft())
        finally:
            if self._crew is not None:
                self._crew()
        if failure is not None:
            raise failure

    def _send(self, run: Run) -> _Box:
        if self._crew is None:
            self._twins = [self._parser.twin() for _ in range(self._lanes)]
            crew = [
                threading.Thread(target=work, args=(twin, self._jobs, self._most), daemon=True)
                for twin in self._twins
            ]
            for one in crew:
                one.start()
            # Also when the interpreter ends: no thread may be inside the core by then.
            self._crew = weakref.finalize(self, dismiss, self._jobs, crew)
        box: _Box = queue.SimpleQueue()
        self._jobs.put((run, box))
        return box


def parse(
    parser: Parser, run: Run, most: tuple[int, int], *, starts: bool = True, ends: bool = True
) -> list[Block]:
    """Blocks of a run; one that does not end here leaves its last rows to the next."""
    if starts:
        parser.start_at(run.byte, run.line)
    return parser.read(run.parts, run.final, ends, *most)


def work(parser: Parser, jobs: _Jobs, most: tuple[int, int]) -> None:
    """Parse runs until told to stop."""
    while (job := jobs.get()) is not None:
        run, box = job
        try:
            box.put(parse(parser, run, most))
        except Exception as error:  # raised where the blocks are used
            box.put(error)


def dismiss(jobs: _Jobs, crew: list[threading.Thread]) -> None:
    """Let threads end, at once but for the run that each is at."""
    with contextlib.suppress(queue.Empty):
        while True:
            jobs.get_nowait()
    for _ in crew:
        jobs.put(None)
    for one in crew:
        one.join()


_Box = queue.SimpleQueue[list[Block] | Exception]
_Jobs = queue.SimpleQueue[tuple[Run, _Box] | None]


def _open(box: _Box) -> list[Block]:
    found = box.get()
    if isinstance(found, Exception):
        raise found
    return found
