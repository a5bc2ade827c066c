"""Twins of sketches with one-byte cells."""

from __future__ import annotations

import numpy as np

from reference import hashing
from reference.storage import CachedSketch, CountSketch

TOP = 127


class ByteSketch(CountSketch):
    """Whole multiples of a quantum, rounded at random in proportion, once per cell and batch."""

    def __init__(self, width, depth, classes, query, seed, dtype) -> None:
        super().__init__(width, depth, classes, query, seed, np.int64)
        self.quantum = 0.0
        self.writes = 0
        self.salt = hashing.mix64(seed ^ 0x726F756E64696E67)

    def estimate(self, key: int) -> np.ndarray:
        read = [sign * self.quantum * self.cells[row, at] for row, at, sign in self.places(key)]
        return self.average(np.array(read, dtype=float), axis=0)

    def draw(self, place: tuple[int, int, int]) -> float:
        at = np.ravel_multi_index(place, self.cells.shape)
        mixed = (self.salt + self.writes * hashing.GOLDEN) ^ (int(at) * hashing.GOLDEN)
        return hashing.uniform(hashing.mix64(mixed % 2**64))

    def write(self, place: tuple[int, int, int], amount: float) -> bool:
        exact = self.cells[place] + amount / self.quantum
        self.cells[place] = np.clip(np.floor(exact + self.draw(place)), -TOP, TOP)
        return abs(exact) > TOP + 1e-6

    def put(self, key: int, columns: slice, amount: np.ndarray) -> None:
        classes = range(self.cells.shape[2])[columns]
        for row, bucket, sign in self.places(key):
            for c, value in zip(classes, np.broadcast_to(amount, len(classes)), strict=True):
                if value != 0.0:
                    self.quantum = self.quantum or abs(value) / TOP
                    self.writes += 1
                    self.write((row, bucket, c), sign * value)

    def push(self, keys: list[int], step: np.ndarray) -> dict[tuple[int, int, int], float]:
        block: dict[tuple[int, int, int], float] = {}
        for key, amount in zip(keys, step, strict=True):
            for row, bucket, sign in self.places(key):
                for c, value in enumerate(amount):
                    place = (row, bucket, c)
                    block[place] = block.get(place, 0.0) + sign * value
        return block

    def add(self, keys: list[int], step: np.ndarray) -> None:
        block = self.push(keys, step)
        largest = max(map(abs, block.values()), default=0.0)
        if largest == 0.0:
            return
        self.quantum = self.quantum or largest / TOP
        self.writes += 1
        clipped = sum(self.write(place, amount) for place, amount in block.items())
        if clipped > 0.001 * len(block):
            self.double()

    def double(self) -> None:
        self.quantum *= 2
        self.writes += 1
        for place in np.ndindex(self.cells.shape):
            self.cells[place] = np.floor(0.5 * self.cells[place] + self.draw(place))

    def scale(self, c: float) -> None:
        self.quantum *= c


class CachedByteSketch(CachedSketch, ByteSketch):
    """The same with exact weights for the selected."""
