"""Signals that ask a run to stop, taken where its state is whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self

from bearsketch.system import STOPPING
from bearsketch.wording import Render, for_python


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM stopped a run; ``number`` is the signal's."""

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(message)
        self.number = number

    def text(self, render: Render = for_python) -> str:
        """Say what became of the run, with options spelt for the reader."""
        return render(self.args[0])

    def __str__(self) -> str:
        return self.text()


class Interrupts:
    """SIGINT and SIGTERM raise :class:`Interrupted`, but never inside :meth:`held`.

    Outside the main thread, where Python gives no signals, and for a signal that is ignored, as
    under nohup, nothing changes.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._holding = 0
        self._caught: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._caught = number
        if not self._holding:
            raise Interrupted(number)

    @contextlib.contextmanager
    def held(self, *, raises: bool = True) -> Iterator[None]:
        """Put off what comes in here until the end, or without ``raises`` until the next end."""
        self._holding += 1
        try:
            yield
        finally:
            self._holding -= 1
        if raises and self._caught is not None:
            raise Interrupted(self._caught)
