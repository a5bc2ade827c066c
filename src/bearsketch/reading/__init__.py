"""Reading: any source and format as a stream of batches, in bounded memory."""

from bearsketch.reading.account import Counts
from bearsketch.reading.limits import Limits
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.remember import open_like
from bearsketch.reading.stream import Progress, Stream, Warned, open_stream

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
