"""Twin of the top-k heap: a dictionary, sorted whenever somebody asks."""

from __future__ import annotations

import numpy as np


class Top:
    """The k keys with the largest norm of weights times magnitude of values.

    Of two equal norms the larger key goes.
    """

    def __init__(self, k: int, dtype: type) -> None:
        self.k = k
        self.dtype = dtype
        self.weights: dict[int, np.ndarray] = {}
        self.magnitudes: dict[int, float] = {}

    def __contains__(self, key: int) -> bool:
        return key in self.weights

    def put(self, key: int, weights: np.ndarray) -> None:
        self.weights[key] = np.asarray(weights, dtype=self.dtype).astype(float)

    def scale(self, c: float) -> None:
        for key, weights in self.weights.items():
            self.put(key, c * weights)

    def ranked(self) -> list[int]:
        return sorted(self.weights, key=lambda key: (-self.norm(key), key))

    def norm(self, key: int) -> float:
        return norm(self.weights[key]) * self.magnitudes.get(key, 1.0)

    def meet(self, key: int, square: float) -> None:
        known = self.magnitudes.get(key, 1.0) ** 2
        self.magnitudes[key] = float(np.float32(np.sqrt(known + 0.1 * (square - known))))

    def full(self) -> bool:
        return len(self.weights) == self.k

    def smallest(self) -> int:
        return self.ranked()[-1]

    def bar(self) -> float:
        """What a newcomer must beat."""
        return self.norm(self.smallest()) if self.full() else 0.0


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

    def offer(self, keys, weights, z, storage, damping, often, enough) -> None:
        sizes = np.ones(len(keys)) if damping is None else 1.0 / np.sqrt(damping)
        for top, columns in zip(self.tops, self.columns, strict=True):

            def above(i, own, top=top):
                return (norm(own) * sizes[i]) ** 2 * often[i] > top.bar() ** 2 * enough

            fresh = [i for i, key in enumerate(keys) if key not in top]
            if not storage.exact:
                for i in set(range(len(keys))) - set(fresh):
                    top.put(keys[i], weights[i, columns])
            if damping is not None:
                for i in set(range(len(keys))) - set(fresh):
                    top.meet(keys[i], 1.0 / damping[i])
            fresh = [i for i in fresh if above(i, weights[i, columns])]
            fresh.sort(key=lambda i: (-norm(z[i, columns]), keys[i]))
            for i in fresh:
                estimate = storage.estimate(keys[i])[columns]
                if above(i, estimate):
                    self._admit(top, columns, keys[i], sizes[i], estimate, storage)

    @staticmethod
    def _admit(top, columns, key, size, estimate, storage) -> None:
        bar, size_now = top.bar(), norm(estimate) * size
        if top.full():
            out = top.smallest()
            storage.release(out, columns, top.weights.pop(out))
        started = estimate * min(1.0, 1.01 * bar / size_now) if size > 8 else estimate
        storage.admit(key, columns, started)
        top.put(key, started)
        top.magnitudes[key] = float(np.float32(size))

    def scale(self, c: float) -> None:
        for top in self.tops:
            top.scale(c)
