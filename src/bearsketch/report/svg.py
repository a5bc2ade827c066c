"""Small drawings: axes, lines, steps and bars, as inline SVG that follows the page's colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 560, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 12, 24

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """Values along one side of a chart, and where they lie on it."""

    low: float
    high: float
    ticks: Sequence[float]
    text: Callable[[float], str]
    log: bool = False

    def share(self, value: float) -> float:
        """Place of a value, from 0 to 1."""
        if self.log:
            value, low, high = (math.log(max(v, 1e-300)) for v in (value, self.low, self.high))
        else:
            low, high = self.low, self.high
        return min(max((value - low) / ((high - low) or 1.0), 0.0), 1.0)


def even_axis(low: float, high: float, text: Callable[[float], str] = "{:g}".format) -> Axis:
    """Axis with four to seven round ticks that cover low to high.

    Examples
    --------
    >>> even_axis(0.0, 0.41).ticks
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    """
    span = max(high - low, 1e-6 * max(abs(low), abs(high))) or 1.0
    rough = span / 5
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(m * scale for m in (1, 2, 2.5, 5, 10) if m * scale >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [float(f"{i * step:.10g}") for i in range(first, max(last, first + 1) + 1)]
    return Axis(ticks[0], ticks[-1], ticks, text)


def count_axis(high: float) -> Axis:
    """Axis of counts from 0, which ends where the data does."""
    axis = even_axis(0.0, max(high, 1.0), short_count)
    ticks = [t for t in axis.ticks if t <= high * 1.0001] or [0.0]
    return Axis(0.0, max(high, 1.0), ticks, short_count)


def log_axis(low: float, high: float) -> Axis:
    """Axis of magnitudes: ticks at 1, 2 and 5 times powers of ten, or the powers alone."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high / low < 200 else (1,)
    ticks = [m * 10.0**e for e in range(first, last + 1) for m in steps]
    return Axis(low, high, [t for t in ticks if low <= t <= high], "{:g}".format, log=True)


def short_count(value: float) -> str:
    """Count in a few letters.

    Examples
    --------
    >>> short_count(17059), short_count(1.5e6), short_count(240)
    ('17.1k', '1.5M', '240')
    """
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:g}"


class Chart:
    """A drawing with two axes, to which lines and bars are added."""

    def __init__(self, x: Axis, y: Axis, label: str, *, square: bool = False) -> None:
        self.x, self.y, self._label = x, y, label
        self._width = 300 if square else WIDTH
        self._height = 300 if square else HEIGHT
        self._shapes: list[str] = []

    def at(self, x: float, y: float) -> Point:
        """Place of a point in the drawing."""
        across = self._width - LEFT - RIGHT
        down = self._height - TOP - BOTTOM
        return LEFT + across * self.x.share(x), TOP + down * (1.0 - self.y.share(y))

    def line(self, points: Sequence[Point], style: str) -> None:
        """Join points."""
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in (self.at(x, y) for x, y in points))
        self._shapes.append(f'<polyline class="{style}" points="{path}"/>')

    def spots(self, points: Sequence[tuple[float, float, str]], style: str) -> None:
        """Add spots, invisible until pointed at, that tell their figures."""
        for x, y, text in points:
            a, b = self.at(x, y)
            self._shapes.append(
                f'<circle class="spot {style}" cx="{a:.1f}" cy="{b:.1f}" r="5">'
                f"<title>{escape(text)}</title></circle>"
            )

    def area(self, points: Sequence[tuple[float, float, float]], style: str) -> None:
        """Shade what lies between two heights, given as (x, low, high)."""
        above = [self.at(x, high) for x, _, high in points]
        below = [self.at(x, low) for x, low, _ in points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in [*above, *reversed(below)])
        self._shapes.append(f'<polygon class="{style}" points="{path}"/>')

    def dots(self, points: Sequence[tuple[float, float, str]], style: str) -> None:
        """Add dots that tell their figures where they are pointed at."""
        for x, y, text in points:
            a, b = self.at(x, y)
            self._shapes.append(
                f'<circle class="dot {style}" cx="{a:.1f}" cy="{b:.1f}" r="3">'
                f"<title>{escape(text)}</title></circle>"
            )

    def bar(self, low: float, high: float, y: float, text: str, style: str) -> None:
        """Add a bar from low to high, of height y."""
        (a, top), (b, bottom) = self.at(low, y), self.at(high, self.y.low)
        self._shapes.append(
            f'<rect class="{style}" x="{a + 0.5:.1f}" y="{top:.1f}" '
            f'width="{max(b - a - 1, 0.5):.1f}" height="{max(bottom - top, 0):.1f}">'
            f"<title>{escape(text)}</title></rect>"
        )

    def band(self, low: float, high: float, style: str) -> None:
        """Shade a range of x over the whole height."""
        (a, top), (b, bottom) = self.at(low, self.y.high), self.at(high, self.y.low)
        self._shapes.append(
            f'<rect class="{style}" x="{a:.1f}" y="{top:.1f}" width="{b - a:.1f}" '
            f'height="{bottom - top:.1f}"/>'
        )

    def rule(self, x: float, text: str) -> None:
        """Draw an upright line with words beside it."""
        a, top = self.at(x, self.y.high)
        _, bottom = self.at(x, self.y.low)
        right = a > self._width * 0.6
        anchor = ' text-anchor="end"' if right else ""
        self._shapes.append(
            f'<line class="rule" x1="{a:.1f}" x2="{a:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'
            f'<text class="rule-text" x="{a + (-6 if right else 6):.1f}" y="{top + 10:.1f}"'
            f"{anchor}>{escape(text)}</text>"
        )

    def render(self) -> str:
        """Give the SVG."""
        return (
            f'<svg viewBox="0 0 {self._width} {self._height}" role="img" '
            f'aria-label="{escape(self._label)}">{self._grid()}{"".join(self._shapes)}</svg>'
        )

    def _grid(self) -> str:
        parts = []
        left, bottom = self.at(self.x.low, self.y.low)
        right, _ = self.at(self.x.high, self.y.low)
        for tick in self.y.ticks:
            _, y = self.at(self.x.low, tick)
            parts.append(
                f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
                f'<text x="{left - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">'
                f"{escape(self.y.text(tick))}</text>"
            )
        for tick in self.x.ticks:
            x, _ = self.at(tick, self.y.low)
            parts.append(
                f'<text x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle">'
                f"{escape(self.x.text(tick))}</text>"
            )
        parts.append(
            f'<line class="axis" x1="{left:.1f}" x2="{right:.1f}" y1="{bottom:.1f}" '
            f'y2="{bottom:.1f}"/>'
        )
        return "".join(parts)
