"""The learning curve of a stream of unknown length, in a bounded number of points."""

from __future__ import annotations

from typing import Any

MOST_POINTS = 64


class Curve:
    """Loss and accuracy of successive parts of a stream.

    There are never more than 64 points: whenever there would be, neighbours are joined and each
    later point stands for twice as many examples.

    Examples
    --------
    >>> curve = Curve()
    >>> curve.add(100, 70.0, 100.0, 50.0)
    >>> curve.points()
    [[100, 0.7, 0.5]]
    """

    def __init__(self) -> None:
        self._parts: list[list[float]] = []
        self._least = 1

    def add(self, examples: int, loss: float, weight: float, right: float | None) -> None:
        """Enter a batch: sums of the loss, the weights, and the weights predicted right."""
        sums = [examples, loss, weight, -1.0 if right is None else right]
        if self._parts and self._parts[-1][0] < self._least:
            self._parts[-1] = _joined(self._parts[-1], sums)
        else:
            self._parts.append(sums)
        if len(self._parts) > MOST_POINTS:
            pairs = zip(self._parts[::2], self._parts[1::2], strict=False)
            odd = self._parts[-1:] if len(self._parts) % 2 else []
            self._parts = [_joined(a, b) for a, b in pairs] + odd
            self._least = int(max(part[0] for part in self._parts))

    def points(self) -> list[list[float | int | None]]:
        """Points of (examples so far, mean loss, accuracy); accuracy None for regression."""
        points: list[list[float | int | None]] = []
        seen = 0
        for examples, loss, weight, right in self._parts:
            seen += int(examples)
            share = max(weight, 1e-300)
            accuracy = None if right < 0 else round(right / share, 4)
            points.append([seen, float(f"{loss / share:.6g}"), accuracy])
        return points

    def to_json(self) -> dict[str, Any]:
        """All it needs to continue."""
        return {"parts": self._parts, "least": self._least}

    def restore(self, plain: dict[str, Any]) -> None:
        """Inverse of :meth:`to_json`; raises ValueError, KeyError or TypeError on nonsense."""
        parts = [[int(part[0]), *map(float, part[1:])] for part in plain["parts"]]
        if len(parts) > MOST_POINTS or any(len(part) != 4 for part in parts):
            raise ValueError("a curve has at most 64 points of four sums")
        self._parts, self._least = parts, int(plain["least"])


def _joined(a: list[float], b: list[float]) -> list[float]:
    sums = [x + y for x, y in zip(a, b, strict=True)]
    return sums if a[3] >= 0 else [*sums[:3], -1.0]
