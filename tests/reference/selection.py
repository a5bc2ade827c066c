"""Twin of the top-k heap: a dictionary, sorted whenever somebody asks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference import hashing


@dataclass
class Measures:
    """How weights are compared: the sizes of values, how often keys occur, and what that says."""

    magnitudes: np.ndarray
    trust: np.ndarray
    worth: np.ndarray  # squared
    met: np.ndarray | None = None
    enough: float = 1.0
    usual: float = 1.0
    salt: int = 0

    @classmethod
    def plain(cls, n: int) -> Measures:
        return cls(np.ones(n), np.ones(n), np.ones(n))

    def size_of(self, i: int, value: float) -> float:
        return value / np.sqrt(self.worth[i])

    def coarse(self, magnitude: float, bar: float, storage) -> bool:
        grain = getattr(storage, "quantum", 0.0)
        return magnitude > 8 * self.usual and grain * magnitude > 0.25 * bar


class Top:
    """The k keys that are worth most: norm of weights times magnitude of values times worth.

    Of two that are worth the same the larger key goes. ``dtype`` int8: bytes, in multiples of a
    power of two; int16: the first half of a float32.
    """

    def __init__(self, k: int, dtype: type, size_of) -> None:
        self.k = k
        self.dtype = dtype
        self.size_of = size_of
        self.salt = 0
        self.worth = lambda key: 1.0
        self.weights: dict[int, np.ndarray] = {}
        self.magnitudes: dict[int, float] = {}

    def __contains__(self, key: int) -> bool:
        return key in self.weights

    def put(self, key: int, weights: np.ndarray) -> None:
        weights = np.asarray(weights, dtype=float)
        largest = np.abs(weights).max()
        start = hashing.mix64(self.salt ^ key)
        bits = [(start + c * hashing.GOLDEN) % 2**64 for c in range(len(weights))]
        if self.dtype is np.int16:
            added = np.array([each >> 48 for each in bits], dtype=np.uint32)
            whole = weights.astype(np.float32).view(np.uint32) + added
            weights = (whole >> 16 << 16).view(np.float32).astype(float)
        elif self.dtype is not np.int8:
            weights = weights.astype(self.dtype).astype(float)
        elif largest > 0:
            unit = 2.0 ** np.ceil(np.log2(largest / 127))
            draws = [hashing.uniform(hashing.mix64(each)) for each in bits]
            weights = unit * np.floor(weights / unit + draws)
        self.weights[key] = weights

    def scale(self, c: float) -> None:
        for key, weights in self.weights.items():
            self.put(key, c * weights)

    def ranked(self) -> list[int]:
        return sorted(self.weights, key=lambda key: (-self.norm(key), key))

    def norm(self, key: int) -> float:
        return self.size_of(self.weights[key]) * self.magnitudes.get(key, 1.0)

    def meet(self, key: int, square: float) -> None:
        known = self.magnitudes.get(key, 1.0)
        self.magnitudes[key] = float(np.float32(known * (np.sqrt(square) / known) ** 0.1))

    def full(self) -> bool:
        return len(self.weights) == self.k

    def value(self, key: int) -> float:
        return self.norm(key) * self.worth(key)

    def least(self) -> int:
        return min(self.weights, key=lambda key: (self.value(key), -key))

    def bar(self) -> float:
        """What a newcomer must beat."""
        return self.value(self.least()) if self.full() else 0.0


def norm(weights: np.ndarray) -> float:
    return float(np.sqrt(np.sum(weights**2))) if len(weights) > 1 else float(abs(weights[0]))


def largest(weights: np.ndarray) -> float:
    return max(float(weights.max()), 0.0) if len(weights) > 1 else float(abs(weights[0]))


class Selection:
    """One heap shared by the classes, or one for each (``per_class``), or none (k = 0)."""

    def __init__(self, k: int, classes: int, per_class: bool, dtype: type, size_of=norm) -> None:
        n = 0 if k == 0 else classes if per_class else 1
        self.size_of = size_of
        self.tops = [Top(k, dtype, size_of) for _ in range(n)]
        self.columns = [slice(g, g + 1) if per_class else slice(0, classes) for g in range(n)]

    def members(self, keys: list[int], classes: int) -> np.ndarray:
        """Boolean, keys x classes: whose weights are selected."""
        inside = np.zeros((len(keys), classes), dtype=bool)
        for top, columns in zip(self.tops, self.columns, strict=True):
            for i, key in enumerate(keys):
                inside[i, columns] = key in top
        return inside

    def hold_back(self, keys, step, storage, measures):
        """The step without what cells are too coarse for, and whose that is."""
        step, held = step.copy(), []
        for i, key in enumerate(keys):
            for top, columns in zip(self.tops, self.columns, strict=True):
                bar = measures.size_of(i, top.bar())
                if key not in top and measures.coarse(measures.magnitudes[i], bar, storage):
                    step[i, columns] = 0.0
                    held.append((i, self.tops.index(top)))
        return step, held

    def offer(self, keys, weights, z, storage, measures, held) -> None:
        for top, columns in zip(self.tops, self.columns, strict=True):

            def above(i, own, top=top):
                size = self.size_of(own) * measures.magnitudes[i]
                return size**2 * measures.trust[i] > top.bar() ** 2 * measures.enough

            fresh = [i for i, key in enumerate(keys) if key not in top]
            for i in set(range(len(keys))) - set(fresh):
                if not storage.exact:
                    top.put(keys[i], weights[i, columns])
                top.meet(keys[i], measures.magnitudes[i] ** 2)
            fresh = [i for i in fresh if above(i, weights[i, columns])]
            fresh.sort(key=lambda i: (-norm(z[i, columns]), keys[i]))
            for i in fresh:
                taken = started = storage.estimate(keys[i])[columns]
                if above(i, taken):
                    size, bar = measures.magnitudes[i], measures.size_of(i, top.bar())
                    if measures.coarse(size, bar, storage):
                        started = started * min(1.0, bar / (self.size_of(taken) * size))
                    self._admit(top, columns, keys[i], size, taken, started, storage, measures)
        self._draw(keys, z, storage, measures, held)

    def _draw(self, keys, z, storage, measures, held) -> None:
        """Steps that were held back: the bar or nothing, at random in proportion."""
        for i, group in held:
            top, columns = self.tops[group], self.columns[group]
            step, size = z[i, columns], measures.magnitudes[i]
            moved, bar = self.size_of(-step) * size, measures.size_of(i, top.bar())
            mixed = hashing.key_hash(keys[i], storage.seed) ^ hashing.mix64(measures.salt + group)
            if keys[i] not in top and hashing.uniform(hashing.mix64(mixed)) * bar < moved:
                started = -step * max(1.0, bar / moved)
                self._admit(top, columns, keys[i], size, 0 * step, started, storage, measures)

    @staticmethod
    def _admit(top, columns, key, size, taken, started, storage, measures) -> None:
        if top.full():
            out = top.least()
            coarse = measures.coarse(top.magnitudes.get(out, 1.0), top.norm(out), storage)
            weights = top.weights.pop(out)
            if not coarse:
                storage.release(out, columns, weights)
        storage.admit(key, columns, taken)
        top.put(key, started)
        top.magnitudes[key] = float(np.float32(size))

    def draw_from(self, salt: int) -> None:
        for top in self.tops:
            top.salt = salt

    def scale(self, c: float) -> None:
        for top in self.tops:
            top.scale(c)
