"""Reading: any source and format as a stream of batches, in bounded memory.

Names are imported when they are first used: commands take their options from here before they need
anything else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bearsketch.reading.account import Counts
    from bearsketch.reading.limits import Limits
    from bearsketch.reading.options import ReadOptions
    from bearsketch.reading.remember import open_like
    from bearsketch.reading.stream import Progress, Stream, Warned, open_stream

_HOME_OF = {
    "Counts": "account",
    "Limits": "limits",
    "Progress": "stream",
    "ReadOptions": "options",
    "Stream": "stream",
    "Warned": "stream",
    "open_like": "remember",
    "open_stream": "stream",
}

__all__ = [
    "Counts",
    "Limits",
    "Progress",
    "ReadOptions",
    "Stream",
    "Warned",
    "open_like",
    "open_stream",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'bearsketch.reading' has no attribute {name!r}")
    return getattr(importlib.import_module(f"bearsketch.reading.{_HOME_OF[name]}"), name)
