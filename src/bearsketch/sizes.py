"""Bytes: reading "256KiB", and how a budget is split between cells and selected entries."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bearsketch.exceptions import LimitError, ParameterError

UNITS = {"": 1, "B": 1}
UNITS |= {f"{letter}iB": 1 << (10 * i) for i, letter in enumerate("KMGT", start=1)}
UNITS |= {f"{letter}B": 10 ** (3 * i) for i, letter in enumerate("KMGT", start=1)}
UNITS |= {letter: 1 << (10 * i) for i, letter in enumerate("KMGT", start=1)}

KEY_BYTES = 8
DEFAULT_SHARE = 4  # without a wanted k, the selected get 1/4 of the budget ...
DEFAULT_K = 1000  # ... and never more than this many features
LARGEST = 1 << 48


def parse_bytes(size: str | int) -> int:
    """Bytes of a size such as ``"256KiB"``, ``"64k"``, ``"1.5MB"`` or a plain number.

    Examples
    --------
    >>> parse_bytes("256KiB"), parse_bytes("1.5MB"), parse_bytes(1000)
    (262144, 1500000, 1000)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(size))
    scale = None
    if match:
        by_case = {unit.lower(): value for unit, value in UNITS.items()}
        scale = by_case.get(match[2].lower())
    if match is None or scale is None:
        raise ParameterError(
            f"a size must be a number with an optional unit B, KB, KiB, MB, MiB, GB, GiB, TB, TiB, "
            f"got {size!r}"
        )
    n = int(float(match[1]) * scale)
    if not 1 <= n <= LARGEST:
        raise ParameterError(f"a size must be 1 byte to 2^48 bytes, got {size!r}")
    return n


def format_bytes(n: float) -> str:
    """Bytes for a reader.

    Examples
    --------
    >>> format_bytes(262144), format_bytes(1900)
    ('256.0 KiB', '1.9 KiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1023.95 or unit == "GiB":  # what would be shown as 1024.0 is one of the next unit
            break
        n /= 1024
    return f"{n:.0f} B" if unit == "B" else f"{n:.1f} {unit}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a model keeps: its shape, and the bytes of cells and of selected entries.

    Names are outside: they are O(k) and reported separately.
    """

    width: int
    depth: int
    k: int
    cell_bytes: int
    selected_bytes: int

    @property
    def model_bytes(self) -> int:
        """Bytes of cells and selected entries together."""
        return self.cell_bytes + self.selected_bytes


def entry_bytes(
    classes: int, per_class: bool, weight_bytes: int = 4, counter_bytes: int = 0
) -> int:
    """Bytes of one selected feature: its key, a counter where it has one, and a weight per class.

    One heap shared by the classes keeps a key once; one heap per class keeps it for each. Weights
    of one byte have an exponent in common, a byte as well.

    Examples
    --------
    >>> entry_bytes(1, False), entry_bytes(15, False), entry_bytes(15, True)
    (12, 68, 180)
    >>> entry_bytes(15, False, weight_bytes=1)
    24
    """
    if per_class:
        return classes * (KEY_BYTES + counter_bytes + weight_bytes)
    return KEY_BYTES + counter_bytes + classes * weight_bytes + (weight_bytes == 1)


def split_memory(
    memory: str | int,
    k: int | None,
    *,
    depth: int,
    classes: int = 1,
    per_class: bool = False,
    cell_bytes: int = 4,
    weight_bytes: int = 4,
    counter_bytes: int = 0,
) -> Sizes:
    """How a budget in bytes is split: k selected entries first, all the rest into cells.

    Parameters
    ----------
    memory : str or int
        The budget of the model, in bytes.
    k : int or None
        Selected features wanted (per class with ``per_class``). None: a quarter of the budget,
        at most 1,000. 0: every byte becomes cells.
    depth : int
        Rows of the sketch.
    classes : int
        Weights per feature (1 for two classes or regression).
    per_class : bool
        One heap for each class instead of one shared by all.
    cell_bytes, weight_bytes, counter_bytes : int
        Bytes of one cell, of one weight of a selected feature, and of its counter.

    Returns
    -------
    Sizes

    Examples
    --------
    >>> split_memory("64KiB", 1000, depth=3)
    Sizes(width=4461, depth=3, k=1000, cell_bytes=53532, selected_bytes=12000)
    """
    budget = parse_bytes(memory)
    entry = entry_bytes(classes, per_class, weight_bytes, counter_bytes)
    if k is None:
        k = max(min(DEFAULT_K, budget // DEFAULT_SHARE // entry), 1)
    width = (budget - k * entry) // (depth * classes * cell_bytes)
    if width < 1:
        least = k * entry + depth * classes * cell_bytes
        raise LimitError(
            f"memory must be at least {least} bytes for k={k}, {classes} weight(s) per feature "
            f"and depth {depth}, got {budget}",
            code="MEM-BUDGET",
            hint="Give more memory, a smaller k or a smaller depth.",
        )
    return Sizes(width, depth, k, width * depth * classes * cell_bytes, k * entry)
