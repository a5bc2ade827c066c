"""Reading ahead: the next batches are parsed on a thread while one is learned."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from bearsketch.io.room import Room

T = TypeVar("T")
_DEPTH = 2  # batches that wait; each costs its memory
_PATIENCE = 1.0  # seconds


@contextlib.contextmanager
def read_ahead(items: Iterable[T], threads: int = 2) -> Iterator[Iterator[T]]:
    """Iterate over ``items``, made on another thread if ``threads`` is 2 or more.

    What the other thread raises is raised here, in its place. Leaving the context stops it; one
    that waits for an input that says nothing (a quiet pipe) is left to end with the process.

    Examples
    --------
    >>> with read_ahead([1, 2, 3]) as numbers:
    ...     list(numbers)
    [1, 2, 3]
    """
    if threads < 2:
        yield iter(items)
        return
    ready: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
    room = Room(_DEPTH)
    worker = threading.Thread(target=_fill, args=(items, ready, room), daemon=True)
    worker.start()
    try:
        yield _take(ready, room)
    finally:
        room.close()
        worker.join(_PATIENCE)


def _fill(items: Iterable[T], ready: queue.SimpleQueue[tuple[str, object]], room: Room) -> None:
    try:
        for item in items:
            if not room.take():
                return
            ready.put(("item", item))
        ready.put(("end", None))
    except BaseException as error:  # raised where the items are used
        ready.put(("error", error))


def _take(ready: queue.SimpleQueue[tuple[str, Any]], room: Room) -> Iterator[Any]:
    while True:
        kind, item = ready.get()
        if kind == "end":
            return
        if kind == "error":
            raise item
        room.give()
        yield item
