"""Reading ahead: the next batches are parsed on a thread while one is learned."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from bearsketch.reading.room import Room

T = TypeVar("T")
_DEPTH = 2  # batches that wait; each costs its memory
_PATIENCE = 1.0  # seconds


@contextlib.contextmanager
def read_ahead(
    items: Iterable[T],
    threads: int = 2,
    *,
    depth: int = _DEPTH,
    places: Callable[[T], int] = lambda _: 1,
) -> Iterator[Iterator[T]]:
    """Iterate over ``items``, made on another thread if ``threads`` is 2 or more.

    Items may wait while they take up to ``depth`` places together. What the other thread raises is
    raised here, in its place. Leaving the context stops it; one that waits for an input that says
    nothing (a quiet pipe) is left to end with the process.

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
    room = Room(depth)

    def taken(item: T) -> int:
        return min(places(item), depth)

    worker = threading.Thread(target=_fill, args=(items, ready, room, taken), daemon=True)
    worker.start()
    try:
        yield _take(ready, room, taken)
    finally:
        room.close()
        worker.join(_PATIENCE)


def _fill(
    items: Iterable[T],
    ready: queue.SimpleQueue[tuple[str, object]],
    room: Room,
    taken: Callable[[T], int],
) -> None:
    try:
        for item in items:
            if not all(room.take() for _ in range(taken(item))):
                return
            ready.put(("item", item))
        ready.put(("end", None))
    except BaseException as error:  # raised where the items are used
        ready.put(("error", error))


def _take(
    ready: queue.SimpleQueue[tuple[str, Any]], room: Room, taken: Callable[[Any], int]
) -> Iterator[Any]:
    while True:
        kind, item = ready.get()
        if kind == "end":
            return
        if kind == "error":
            raise item
        for _ in range(taken(item)):
            room.give()
        yield item
