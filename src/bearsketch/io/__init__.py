"""Reading: any source and format as a stream of batches, in bounded memory."""

from bearsketch.io.account import Counts
from bearsketch.io.limits import Limits
from bearsketch.io.options import ReadOptions
from bearsketch.io.remember import open_like
from bearsketch.io.stream import Progress, Stream, Warned, open_stream

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
