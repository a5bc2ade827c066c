"""Where sampled rows stand in the data, as one number: the source from 1, then the line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Places

LINE_BITS = 40
# Sources whose names a model keeps; rows of others are known by their number alone.
MOST_SOURCES = 1000


def pack_places(places: Places, sources: list[str]) -> npt.NDArray[np.uint64]:
    """Numbers of the places of rows; names of new sources are appended to ``sources``.

    Examples
    --------
    >>> names = []
    >>> packed = pack_places(Places(np.array([7, 9]), [(0, "a.vw"), (1, "b.vw")]), names)
    >>> [show_place(int(number), names) for number in packed], names
    (['a.vw:7', 'b.vw:9'], ['a.vw', 'b.vw'])
    """
    firsts = [first for first, _ in places.sources]
    numbers = []
    for _, path in places.sources:
        name = path.rsplit("/", 1)[-1]  # equal data gives equal models, wherever it lies
        if name not in sources and len(sources) < MOST_SOURCES:
            sources.append(name)
        numbers.append(sources.index(name) + 1 if name in sources else 0)
    rows = np.searchsorted(firsts, np.arange(len(places.lines)), side="right") - 1
    of_source = np.array(numbers, dtype=np.uint64)[rows]
    return np.asarray(of_source << np.uint64(LINE_BITS) | places.lines.astype(np.uint64))


def show_place(number: int, sources: list[str]) -> str:
    """Show a place as ``file:line``, or the number of the row; 0 is no place."""
    if number == 0:
        return ""
    source, line = number >> LINE_BITS, number & ((1 << LINE_BITS) - 1)
    return f"{sources[source - 1]}:{line}" if 0 < source <= len(sources) else f"row {line}"


def join_sources(into: list[str], own: Sequence[str]) -> list[int]:
    """Append names that are new, and give the number of each of ``own`` there."""
    for name in own:
        if name not in into and len(into) < MOST_SOURCES:
            into.append(name)
    return [into.index(name) + 1 if name in into else 0 for name in own]


def renumber_place(number: int, sources: Sequence[int]) -> int:
    """Give a place the new number of its source; without one it is not known any more."""
    source, line = number >> LINE_BITS, number & ((1 << LINE_BITS) - 1)
    if source == 0 or not sources:
        return number
    return sources[source - 1] << LINE_BITS | line if sources[source - 1] else 0
