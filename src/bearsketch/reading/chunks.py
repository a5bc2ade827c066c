"""Chunks: the decoded bytes of one input, in a few bounded buffers, read ahead on a thread."""

from __future__ import annotations

import itertools
import os
import queue
import stat
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO

from bearsketch.closing import Closes
from bearsketch.exceptions import BearError, LimitError, ParseError, SourceError
from bearsketch.reading.codecs import MAGIC_BYTES, codec_named, codec_of, decode
from bearsketch.reading.encoding import Encoding
from bearsketch.reading.limits import CHUNK_BYTES, CHUNKS_AHEAD, Limits
from bearsketch.reading.objects import ObjectsInput
from bearsketch.reading.room import Room
from bearsketch.reading.source import Input
from bearsketch.system import poll_of

_WAKE_MS = 100


def _raise(error: BearError) -> bytes:
    raise error


class Chunks(Closes):
    """Decoded bytes of one input, in order; iterate once, close when done.

    Parameters
    ----------
    found : Input
        What to open.
    limits : Limits
    decoded_before : int
        Decoded bytes of the inputs before it, which count against ``limits.input_bytes``.

    Attributes
    ----------
    compression : str
        ``gzip``, ``zstd``, ``xz``, ``bz2`` or ``plain``; known once the first chunk is there.
    encoding : Encoding or None
        Set to have chunks looked at as they are handed over.
    any_thread : bool
        Whether another thread may read: objects of Python are asked for by whoever reads them.
    """

    def __init__(self, found: Input, limits: Limits, decoded_before: int = 0) -> None:
        self.name = found.name
        self.size = found.size
        self.any_thread = not isinstance(found, ObjectsInput)
        self.compression = "plain"
        self.encoding: Encoding | None = None
        self._limits = limits
        self._decoded = decoded_before
        self._stop = threading.Event()
        self._raw = _Raw(found.open(), found.name, self._stop)
        self._held: deque[bytes] = deque()
        self._items: Iterator[bytes] = self._produce()
        self._ahead: _ReadAhead | None = None

    @property
    def taken(self) -> int:
        """Bytes read from the input so far, compressed as they are."""
        return self._raw.taken

    @property
    def decoded(self) -> int:
        """Decoded bytes so far, those of the inputs before it included."""
        return self._decoded

    @property
    def may_wait(self) -> bool:
        """Whether chunks may be long in coming, as those of a pipe."""
        return self._raw.may_wait

    @property
    def waits(self) -> bool:
        """Whether the next chunk may be long in coming; only with :meth:`read_ahead`."""
        ready = self._ahead is not None and self._ahead.ready
        return self.may_wait and not self._held and not ready

    def read_ahead(self) -> None:
        """Read the chunks to come on a thread, before they are asked for."""
        if self._ahead is None:
            self._ahead = _ReadAhead(self._items)

    def __iter__(self) -> Iterator[bytes]:
        while (chunk := self.next()) is not None:
            yield chunk

    def next(self) -> bytes | None:
        """Next chunk, or None at the end."""
        chunk = self._held.popleft() if self._held else self._get()
        if self.encoding is not None and chunk is not None:
            self.encoding.look(chunk)
        return chunk

    def head(self, size: int, wait_for: int | None = None) -> bytes:
        """First bytes, at most ``size``; nothing is consumed.

        There are fewer at the end only, or, with ``wait_for``, where no more than that many were
        there at once. A fault behind the first chunk is raised where it is reached.
        """
        wanted = size if wait_for is None else wait_for
        while sum(map(len, self._held)) < wanted and (chunk := self._get_ahead()) is not None:
            self._held.append(chunk)
        return b"".join(self._held)[:size]

    def close(self) -> None:
        """Stop the thread and close the input; safe to call twice."""
        self._stop.set()
        if self._ahead is not None:
            self._ahead.close()
        self._raw.close()

    def _get_ahead(self) -> bytes | None:
        try:
            return self._get()
        except BearError as error:
            if not self._held:
                raise
            self._items = map(_raise, itertools.repeat(error))
            return None

    def _get(self) -> bytes | None:
        return next(self._items, None) if self._ahead is None else self._ahead.get()

    def _produce(self) -> Iterator[bytes]:
        for chunk in self._decode():
            self._decoded += len(chunk)
            limit = self._limits.input_bytes
            if limit is not None and self._decoded > limit:
                raise LimitError(
                    f"{self.name}: the input holds more than the limit of {limit} decoded bytes",
                    code="SRC-SIZE",
                    hint="Raise the limit input_bytes (--limit) if the input is right.",
                )
            yield chunk

    def _decode(self) -> Iterator[bytes]:
        head = b""
        while len(head) < MAGIC_BYTES and (got := self._raw.read(CHUNK_BYTES)):
            head += got
        promised = codec_named(self.name)
        if not head and promised is not None:
            raise ParseError(
                f"the file is empty, which no {promised.name} file is",
                code="SRC-CUT",
                source=self.name,
                hint="The file was cut off; fetch or write it again.",
            )
        codec = codec_of(head, self.name)
        if codec is not None:
            self.compression = codec.name
            yield from decode(codec, head, self._raw.read, self.name, self._limits)
            return
        while head:
            yield head
            head = self._raw.read(CHUNK_BYTES)


class _Raw:
    """Reads that count, that name their file when they fail, and that can be given up."""

    def __init__(self, file: BinaryIO, name: str, stop: threading.Event) -> None:
        self._file = file
        self._name = name
        self._stop = stop
        self._poll = _poll_of(file)
        self.taken = 0

    @property
    def may_wait(self) -> bool:
        return self._poll is not None

    def read(self, size: int) -> bytes:
        # A read from a pipe may wait for ever, and then could not be stopped.
        while self._poll is not None and not self._poll.poll(_WAKE_MS):
            if self._stop.is_set():
                return b""
        try:
            got = self._file.read(size) or b""
        except OSError as error:
            raise SourceError(
                f"{self._name}: reading failed at byte {self.taken} ({error.strerror or error})",
                code="SRC-READ",
            ) from None
        self.taken += len(got)
        return got

    def close(self) -> None:
        self._file.close()


def _poll_of(file: BinaryIO) -> Any:
    try:
        descriptor = file.fileno()
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
    except (OSError, AttributeError):
        return None
    return poll_of(descriptor)


class _ReadAhead:
    """An iterator run on a thread, at most ``CHUNKS_AHEAD`` items before its reader."""

    def __init__(self, items: Iterator[bytes]) -> None:
        self._items = items
        self._ready: queue.SimpleQueue[bytes | BaseException | None] = queue.SimpleQueue()
        self._room = Room(CHUNKS_AHEAD)
        self._last: list[BaseException | None] = []  # the end, once it is reached
        self._thread = threading.Thread(target=self._run, name="bearsketch-read", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        last: BaseException | None = None
        try:
            for item in self._items:
                if not self._room.take():
                    return
                self._ready.put(item)
        except BaseException as error:  # handed to the reader, who raises it
            last = error
        self._ready.put(last)

    @property
    def ready(self) -> bool:
        return bool(self._last) or not self._ready.empty()

    def get(self) -> bytes | None:
        item = self._last[0] if self._last else self._ready.get()
        if isinstance(item, bytes):
            self._room.give()
            return item
        self._last = [item]  # the end stays, so that asking again is harmless
        if item is not None:
            raise item
        return None

    def close(self) -> None:
        self._room.close()
        # A caller's own file object may block for ever; the thread is left to its daemon fate.
        self._thread.join(timeout=1.0)
