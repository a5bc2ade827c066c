"""Numbers that are missing in JSON Lines, rather than 0."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

# Where numbers are so many different ones, so many spreads from 0, what is not there is no 0. How
# often a word occurs is 1 or 2 mostly, and left out where it is 0.
DIFFERENT, FAR = 20, 2.0


def missing_fields(head: bytes) -> tuple[str, ...]:
    r"""Fields of numbers of which one that is not there is missing, by the first lines.

    Those that are null as often as 0, or more; those that no line lacks and that are never 0; and,
    where neither null nor 0 is written, those far from 0.

    Parameters
    ----------
    head : bytes
        First bytes of the data; a last line that is cut is left out.

    Examples
    --------
    >>> lines = [{"age": 40 + i % 7, "debt": i % 2, "visits": 3} for i in range(40)]
    >>> lines[1:2] = [{"age": None, "debt": 0, "visits": 0}, {"debt": 1}]
    >>> missing_fields("\n".join(map(json.dumps, lines)).encode())
    ('age',)
    """
    numbers: dict[str, list[float]] = {}
    nulls: dict[str, int] = {}
    n_lines = 0
    for line in _objects(head):
        n_lines += 1
        for name, value in _fields(line):
            if value is None:
                nulls[name] = nulls.get(name, 0) + 1
            elif isinstance(value, bool | float) and math.isfinite(value):
                numbers.setdefault(name, []).append(float(value))
    return tuple(
        name
        for name, values in numbers.items()
        if _is_missing(np.array(values), nulls.get(name, 0), n_lines)
    )


def _is_missing(values: Any, nulls: int, lines: int) -> bool:
    zeros = int((values == 0.0).sum())
    if nulls or zeros or len(values) >= lines:
        return zeros <= nulls
    with np.errstate(over="ignore", invalid="ignore"):
        far = abs(values.mean()) > FAR * values.std()
    return bool(far) and len(np.unique(values)) >= DIFFERENT


def _objects(head: bytes) -> Iterator[dict[str, Any]]:
    for line in head.splitlines():
        try:
            found = json.loads(line, parse_int=float)  # an integer may have no end
        except (ValueError, RecursionError):  # the last, or one that the parser will refuse
            continue
        if isinstance(found, dict):
            yield found


def _fields(found: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names of features and values, those of objects in it too."""
    for name, value in found.items():
        if isinstance(value, dict):
            yield from ((f"{name}^{inner}", deep) for inner, deep in value.items())
        else:
            yield name, value
