"""Twins of sketches with one-byte cells."""

from __future__ import annotations

import itertools

import numpy as np

from reference import hashing
from reference.storage import CachedSketch, CountSketch

# What each level of a counter stands for.
COUNTS = list(itertools.accumulate([1.0] * 255, lambda count, one: count * 1.08 + one, initial=0.0))


def inner(bits: int) -> float:
    """Between 0 and 1, without these."""
    return ((bits >> 12) + 0.5) * 2.0**-52


class ByteSketch(CountSketch):
    """Whole multiples of a quantum, rounded at random in proportion, once per cell and batch."""

    top = 127

    def __init__(self, width, depth, classes, query, seed, dtype) -> None:
        super().__init__(width, depth, classes, query, seed, np.int64)
        self.quantum = 0.0
        self.writes = 0
        self.salt = hashing.mix64(seed ^ 0x726F756E64696E67)

    def estimate(self, key: int) -> np.ndarray:
        read = [sign * self.quantum * self.cells[row, at] for row, at, sign in self.places(key)]
        return self.average(np.array(read, dtype=float))

    def bits(self, place: tuple[int, int, int]) -> int:
        at = np.ravel_multi_index(place, self.cells.shape)
        mixed = (self.salt + self.writes * hashing.GOLDEN) ^ (int(at) * hashing.GOLDEN)
        return hashing.mix64(mixed % 2**64)

    def write(self, place: tuple[int, int, int], amount: float, draw: float) -> bool:
        """Away from what stands there with the lower draws, whichever way that is."""
        exact = self.cells[place] + amount / self.quantum
        self.cells[place] = self.round(exact, draw if amount < 0 else 1 - draw)
        return abs(exact) > self.top + 1e-6

    def round(self, exact: float, draw: float) -> int:
        return int(np.clip(np.floor(exact + draw), -self.top, self.top))

    def put(self, key: int, columns: slice, amount: np.ndarray) -> None:
        classes = range(self.cells.shape[2])[columns]
        for row, bucket, sign in self.places(key):
            for c, value in zip(classes, np.broadcast_to(amount, len(classes)), strict=True):
                if value != 0.0:
                    self.quantum = self.quantum or abs(value) / self.top
                    self.writes += 1
                    place = (row, bucket, c)
                    self.write(place, sign * value, inner(self.bits(place)))

    def push(self, keys: list[int], step: np.ndarray):
        """Amounts by place, and the number of the first of each."""
        block: dict[tuple[int, int, int], float] = {}
        numbers: dict[tuple[int, int, int], int] = {}
        places = ((p, amount) for k, amount in zip(keys, step, strict=True) for p in self.places(k))
        for i, ((row, bucket, sign), amount) in enumerate(places):
            for c, value in enumerate(amount):
                place = (row, bucket, c)
                block[place] = block.get(place, 0.0) + sign * value
                numbers.setdefault(place, i * len(amount) + c)
        return block, numbers

    def add(self, keys: list[int], step: np.ndarray) -> None:
        block, numbers = self.push(keys, step)
        self.quantum = self.quantum or max(map(abs, block.values()), default=0.0) / self.top
        if self.quantum == 0.0:
            return
        self.writes += 1
        salt = hashing.mix64((self.salt + self.writes * hashing.GOLDEN) % 2**64)
        clipped = 0
        for place, amount in block.items():
            draw = inner((salt + numbers[place] * hashing.GOLDEN) % 2**64)
            if draw * self.quantum < abs(amount):
                clipped += self.write(place, amount, draw)
        if clipped > 0.001 * len(block):
            self.double()

    def double(self) -> None:
        self.quantum *= 2
        self.writes += 1
        for place in np.ndindex(self.cells.shape):
            draw = hashing.uniform(self.bits(place))
            self.cells[place] = self.round(0.5 * self.cells[place], draw)

    def scale(self, c: float) -> None:
        self.quantum *= c


class CachedByteSketch(CachedSketch, ByteSketch):
    """The same with exact weights for the selected."""
