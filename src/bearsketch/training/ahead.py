"""Reading ahead: the next batches are parsed on a thread while one is learned."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

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
    ready: queue.Queue[tuple[str, T | BaseException | None]] = queue.Queue(_DEPTH)
    stop = threading.Event()
    worker = threading.Thread(target=_fill, args=(items, ready, stop), daemon=True)
    worker.start()
    try:
        yield _take(ready)
    finally:
        stop.set()
        deadline = time.monotonic() + _PATIENCE
        while worker.is_alive() and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                ready.get_nowait()
            worker.join(0.01)


def _fill(
    items: Iterable[T], ready: queue.Queue[tuple[str, object]], stop: threading.Event
) -> None:
    try:
        for item in items:
            ready.put(("item", item))
            if stop.is_set():
                return
        ready.put(("end", None))
    except BaseException as error:  # raised where the items are used
        ready.put(("error", error))


def _take(ready: queue.Queue[tuple[str, T | BaseException | None]]) -> Iterator[T]:
    while True:
        kind, item = ready.get()
        if kind == "end":
            return
        if kind == "error":
            assert isinstance(item, BaseException)
            raise item
        yield item  # type: ignore[misc]
