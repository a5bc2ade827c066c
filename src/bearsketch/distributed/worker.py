"""A worker of the pool: a process that learns what comes through its pipe."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from bearsketch import _core
from bearsketch.distributed.task import Beat, Job, Opened, learn_partition, open_partition
from bearsketch.exceptions import BearError, ModelFileError

_BEAT_SECONDS = 0.25


def work(pipe: Connection, copied: Sequence[Connection]) -> None:
    """Learn what comes through the pipe, until its other end is gone."""
    for end in copied:
        end.close()
    _core.keep_freed_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one tells
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    beat, following, model = _beating(pipe), _Following(), b""
    # Whoever started this process may be gone by now: then there is nothing left to do.
    with contextlib.suppress(EOFError, OSError):
        pipe.send(("ready", None))
        while True:
            changed, part, job, follows = pipe.recv()
            model = model if changed is None else changed
            pipe.send(("begun", None))
            pipe.send(_answer(model, part, job, beat, following.take(part, job)))
            following.begin(follows, job)


def _beating(pipe: Connection) -> Beat:
    said = time.monotonic()

    def beat(examples: int) -> None:
        nonlocal said
        if time.monotonic() - said >= _BEAT_SECONDS:
            said = time.monotonic()
            pipe.send(("beat", examples))

    return beat


def _answer(
    model: bytes, part: Any, job: Job, beat: Beat, opened: Opened | None
) -> tuple[str, Any]:
    try:
        return "done", learn_partition(model, part, job, beat, opened)
    except Exception as error:
        # What the data is to blame for is final. All else is tried again, and then reported
        # with its partition: also a model that was damaged on its way here.
        if isinstance(error, BearError) and not isinstance(error, ModelFileError):
            return "error", error
        return "failed", f"{type(error).__name__}: {error}"


class _Following:
    """The partition that probably comes next: read while the worker waits for its model."""

    def __init__(self) -> None:
        self._opened: Opened | None = None

    def begin(self, partition: Any, job: Job) -> None:
        """Begin to read it, unless that is done; leave any other."""
        opened = self.take(partition, job)
        if self._opened is not None:
            self._opened.closing.close()
        if opened is None and partition is not None:
            with contextlib.suppress(Exception):  # an error is for the task that needs it
                opened = open_partition(partition, job, ahead=True)
        self._opened = opened

    def take(self, partition: Any, job: Job) -> Opened | None:
        """Give it away, if it is the one asked for."""
        opened = self._opened
        if opened is None or (opened.partition, opened.job) != (partition, job):
            return None
        self._opened = None
        return opened
