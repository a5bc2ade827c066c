"""Twins of the storages. Cells are rounded to their width after every single add."""

from __future__ import annotations

from functools import cache

import numpy as np

from reference import hashing


def mean(rows: np.ndarray) -> np.ndarray:
    """Over a few rows, without what NumPy's own checks of its arguments take."""
    return np.add.reduce(rows) / len(rows)


def median(rows: np.ndarray) -> np.ndarray:
    """Over a few rows: the middle one, or the mean of the two in the middle."""
    ordered, half = np.sort(rows, axis=0), len(rows) // 2
    return ordered[half] if len(rows) % 2 else (ordered[half - 1] + ordered[half]) / 2


class Dense:
    exact = False

    def __init__(self, dimension: int, classes: int, dtype: type) -> None:
        self.cells = np.zeros((dimension, classes), dtype=dtype)

    def estimate(self, key: int) -> np.ndarray:
        return self.cells[key].astype(float)

    def query(self, keys: list[int]) -> np.ndarray:
        return np.array([self.estimate(key) for key in keys])

    def add(self, keys: list[int], step: np.ndarray) -> None:
        for key, amount in zip(keys, step, strict=True):
            self.cells[key] = self.cells[key].astype(float) + amount

    def scale(self, c: float) -> None:
        self.cells = (c * self.cells.astype(float)).astype(self.cells.dtype)

    def admit(self, key, columns, weights) -> None:
        pass

    def release(self, key, columns, weights) -> None:
        pass


class CountSketch:
    """Depth rows of width signed buckets, read by the mean or the median of the rows."""

    exact = False

    def __init__(self, width, depth, classes, query, seed, dtype) -> None:
        self.width, self.depth, self.seed = width, depth, seed
        self.average = {"mean": mean, "median": median}[query]
        self.cells = np.zeros((depth, width, classes), dtype=dtype)
        self.places = cache(self._places)

    def _places(self, key: int) -> list[tuple[int, int, int]]:
        """Row, bucket and sign of a key, once for each row."""
        hashed = hashing.key_hash(key, self.seed)
        rows = [(row, hashing.row_hash(hashed, row)) for row in range(self.depth)]
        return [(row, hashing.bucket_of(h, self.width), hashing.sign_of(h)) for row, h in rows]

    def estimate(self, key: int) -> np.ndarray:
        read = [sign * self.cells[row, bucket] for row, bucket, sign in self.places(key)]
        return self.average(np.array(read, dtype=float))

    def query(self, keys: list[int]) -> np.ndarray:
        return np.array([self.estimate(key) for key in keys])

    def put(self, key: int, columns: slice, amount: np.ndarray) -> None:
        for row, bucket, sign in self.places(key):
            cell = self.cells[row, bucket]
            cell[columns] = cell[columns].astype(float) + sign * amount

    def add(self, keys: list[int], step: np.ndarray) -> None:
        for key, amount in zip(keys, step, strict=True):
            self.put(key, slice(None), amount)

    def reflect(self, keys: list[int], step: np.ndarray) -> tuple[np.ndarray, int]:
        """What the next query would differ by, and how many numbers would move."""
        block = np.zeros(self.cells.shape)
        for key, amount in zip(keys, step, strict=True):
            for row, bucket, sign in self.places(key):
                block[row, bucket] += sign * amount
        read = [[s * block[row, at] for row, at, s in self.places(key)] for key in keys]
        return self.average(np.array(read).swapaxes(0, 1)), np.count_nonzero(block)

    def crowd(self, keys: list[int], amounts: np.ndarray) -> np.ndarray:
        """Amounts of all keys in the cells of each, the mean over its rows."""
        block = np.zeros(self.cells.shape[:2])
        for key, amount in zip(keys, amounts, strict=True):
            for row, bucket, _ in self.places(key):
                block[row, bucket] += amount
        return np.array([np.mean([block[r, at] for r, at, _ in self.places(k)]) for k in keys])

    def scale(self, c: float) -> None:
        self.cells = (c * self.cells.astype(float)).astype(self.cells.dtype)

    def admit(self, key, columns, weights) -> None:
        pass

    def release(self, key, columns, weights) -> None:
        pass


class CachedSketch(CountSketch):
    """Exact weights for the selected: taken out of the sketch, or (AWM) left as a stale copy."""

    exact = True

    def __init__(self, *shape, selection, subtract) -> None:
        super().__init__(*shape)
        self.selection = selection
        self.subtract = subtract

    def query(self, keys: list[int]) -> np.ndarray:
        weights = super().query(keys)
        for top, columns in zip(self.selection.tops, self.selection.columns, strict=True):
            for i, key in enumerate(keys):
                if key in top:
                    weights[i, columns] = top.weights[key]
        return weights

    def add(self, keys: list[int], step: np.ndarray) -> None:
        rest = step.copy()
        for top, columns in zip(self.selection.tops, self.selection.columns, strict=True):
            for i, key in enumerate(keys):
                if key in top:
                    top.put(key, top.weights[key] + step[i, columns])
                    rest[i, columns] = 0.0
        super().add(keys, rest)

    def admit(self, key, columns, weights) -> None:
        if self.subtract:
            self.put(key, columns, -weights)

    def release(self, key, columns, weights) -> None:
        stale = 0.0 if self.subtract else self.estimate(key)[columns]
        self.put(key, columns, weights - stale)
