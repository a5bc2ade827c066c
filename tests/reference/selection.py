"""Twin of the top-k heap: a dictionary, sorted whenever somebody asks."""

from __future__ import annotations

import numpy as np


class Top:
    """The k keys of the largest norms. Of two that are the same the larger key goes."""

    def __init__(self, k: int, dtype: type) -> None:
        self.k = k
        self.dtype = dtype
        self.weights: dict[int, np.ndarray] = {}

    def __contains__(self, key: int) -> bool:
        return key in self.weights

    def put(self, key: int, weights: np.ndarray) -> None:
        self.weights[key] = np.asarray(weights, dtype=float).astype(self.dtype).astype(float)

    def scale(self, c: float) -> None:
        for key, weights in self.weights.items():
            self.put(key, c * weights)

    def ranked(self) -> list[int]:
        return sorted(self.weights, key=lambda key: (-self.norm(key), key))

    def norm(self, key: int) -> float:
        return norm(self.weights[key])

    def full(self) -> bool:
        return len(self.weights) == self.k

    def least(self) -> int:
        return min(self.weights, key=lambda key: (self.norm(key), -key))

    def bar(self) -> float:
        """What a newcomer must beat."""
        return self.norm(self.least()) if self.full() else 0.0


def norm(weights: np.ndarray) -> float:
    return float(np.sqrt(np.sum(weights**2))) if len(weights) > 1 else float(abs(weights[0]))


class Selection:
    """One heap shared by the classes, or one for each (``per_class``), or none (k = 0)."""

    def __init__(self, k: int, classes: int, per_class: bool, dtype: type) -> None:
        n = 0 if k == 0 else classes if per_class else 1
        self.tops = [Top(k, dtype) for _ in range(n)]
        self.columns = [slice(g, g + 1) if per_class else slice(0, classes) for g in range(n)]

    def members(self, keys: list[int], classes: int) -> np.ndarray:
        """Boolean, keys x classes: whose weights are selected."""
        inside = np.zeros((len(keys), classes), dtype=bool)
        for top, columns in zip(self.tops, self.columns, strict=True):
            for i, key in enumerate(keys):
                inside[i, columns] = key in top
        return inside

    def offer(self, keys, weights, z, storage) -> None:
        for top, columns in zip(self.tops, self.columns, strict=True):
            fresh = [i for i, key in enumerate(keys) if key not in top]
            for i in set(range(len(keys))) - set(fresh):
                if not storage.exact:
                    top.put(keys[i], weights[i, columns])
            fresh = [i for i in fresh if norm(weights[i, columns]) > top.bar()]
            fresh.sort(key=lambda i: (-norm(z[i, columns]), keys[i]))
            for i in fresh:
                taken = storage.estimate(keys[i])[columns]
                if norm(taken) > top.bar():
                    self._admit(top, columns, keys[i], taken, storage)

    @staticmethod
    def _admit(top, columns, key, taken, storage) -> None:
        if top.full():
            out = top.least()
            storage.release(out, columns, top.weights.pop(out))
        storage.admit(key, columns, taken)
        top.put(key, taken)

    def scale(self, c: float) -> None:
        for top in self.tops:
            top.scale(c)
