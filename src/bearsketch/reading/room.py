"""Room: how far one thread may be ahead of another."""

from __future__ import annotations

import queue


class Room:
    """Places for items on their way from one thread to another.

    With a queue of items this makes a bounded one whose every wait is native: that of the standard
    library takes its locks in Python, which for a batch of a few hundred rows is a tenth of the
    time.

    Parameters
    ----------
    places : int
        Items that may wait.

    Examples
    --------
    >>> room = Room(1)
    >>> room.take()
    True
    >>> room.close()
    >>> room.take()
    False
    """

    def __init__(self, places: int) -> None:
        self._free: queue.SimpleQueue[bool] = queue.SimpleQueue()
        for _ in range(places):
            self._free.put(True)
        self._open = True

    def take(self) -> bool:
        """Wait for a free place; False once there will be none."""
        return self._open and self._free.get() and self._open

    def give(self) -> None:
        """Say that a place is free again."""
        self._free.put(True)

    def close(self) -> None:
        """Let whoever waits go."""
        self._open = False
        self._free.put(False)
