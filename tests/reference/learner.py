"""The one loop, spelt out. A learner is a choice of parts."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from reference.directions import Gradient, Lbfgs, Newton
from reference.losses import LOSSES
from reference.one_byte import ByteSketch, CachedByteSketch
from reference.selection import Selection
from reference.storage import CachedSketch, CountSketch, Dense

# storage, direction, does it select, what gradients see, depth, query
TABLE = {
    "bear": ("sketch", "lbfgs", True, "selection", 5, "median"),
    "mission": ("sketch", "gradient", True, "selection", 5, "median"),
    "newton": ("sketch", "newton", True, "selection", 5, "median"),
    "sgd": ("dense", "gradient", False, "storage", 1, "mean"),
    "olbfgs": ("dense", "lbfgs", False, "storage", 1, "mean"),
    "fh": ("sketch", "gradient", False, "storage", 1, "mean"),
    "awm": ("stale", "gradient", True, "storage", 1, "mean"),
}


@dataclass
class Settings:
    learner: str
    loss: str = "logistic"
    classes: int = 1  # weights per key
    k: int = 0
    width: int = 1
    dimension: int = 0
    depth: int | None = None
    query: str | None = None
    reads: str | None = None
    per_class: bool = False
    history: int = 5
    step: tuple = ("auto", 0.5)  # ("auto", phi), ("constant", eta) or ("decaying", eta0, t0)
    l2: float = 0.0
    intercept: bool = False
    seed: int = 0
    precision: str = "float32"


class Twin:
    """Learns one minibatch at a time from rows of {key: value}."""

    def __init__(self, settings: Settings) -> None:
        storage, direction, selects, reads, depth, query = TABLE[settings.learner]
        self.settings = settings
        self.reads = settings.reads or reads
        self.loss = LOSSES[settings.loss]()
        one_byte = settings.precision == "int8"
        dtype = np.float32 if one_byte else np.dtype(settings.precision).type
        k = settings.k if selects or storage == "dense" else 0
        self.selection = Selection(k, settings.classes, settings.per_class, dtype)
        shape = (
            settings.width,
            settings.depth or depth,
            settings.classes,
            settings.query or query,
            settings.seed,
            dtype,
        )
        if storage == "dense":
            self.storage = Dense(settings.dimension, settings.classes, dtype)
        elif storage == "sketch":
            self.storage = (ByteSketch if one_byte else CountSketch)(*shape)
        else:
            self.storage = (CachedByteSketch if one_byte else CachedSketch)(
                *shape, selection=self.selection, subtract=storage == "cached"
            )
        self.direction = {
            "gradient": Gradient,
            "newton": Newton,
            "lbfgs": lambda: Lbfgs(settings.history),
        }[direction]()
        self.intercept = np.zeros(settings.classes)
        self.batches = self.passes = self.uphill = 0
        self.weighed, self.weight = 0, 0.0

    def learn(self, rows: list[dict[int, float]], labels, weights=None) -> np.ndarray:
        """Margins of the rows before they were learned."""
        keys = list(dict.fromkeys(key for row in rows for key in sorted(row)))
        X = np.array([[row.get(key, 0.0) for key in keys] for row in rows], dtype=float)
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
        share = weights / weights.sum()
        weighed = np.count_nonzero(weights)
        self.weighed, self.weight = self.weighed + weighed, self.weight + weights.sum()
        importance = min(weights.sum() / weighed / (self.weight / self.weighed), 2.0)
        labels = np.asarray(labels, dtype=float)
        inside = self.selection.members(keys, self.settings.classes)
        w = self.read(keys, inside)
        margins, residual = self.evaluate(X, w, labels, share)
        g = X.T @ residual
        point = SimpleNamespace(keys=keys, X=X, g=g, loss=self.loss, margins=margins, share=share)
        point.residual = residual
        z = self.direction.direct(point)
        if np.sum(g * z) <= 0 and np.any(g):
            z = g.copy()
            self.uphill += 1
        step = importance * self.step_size(X, g, z, share)
        self.shrink(step)
        self.storage.add(keys, -step * z)
        if self.direction.wants_pair:
            self.remember(keys, X, w, inside, -step * z, g, labels, share)
        self.selection.offer(keys, self.storage.query(keys), z, self.storage)
        if self.settings.intercept:
            moved = self.intercept_step(step, importance) * residual.sum(axis=0)
            self.intercept = self.intercept - moved
        self.batches += 1
        return margins

    def read(self, keys, inside) -> np.ndarray:
        w = self.storage.query(keys)
        return np.where(inside, w, 0.0) if self.reads == "selection" else w

    def evaluate(self, X, w, labels, share):
        margins = X @ w + self.intercept
        return margins, self.loss.residual(margins, labels, share)

    def step_size(self, X, g, z, share) -> float:
        kind, *numbers = self.settings.step
        if kind == "constant":
            return numbers[0]
        if kind == "decaying":
            return numbers[0] / (self.batches + numbers[1])
        bend = self.loss.kmax * share @ np.sum((X @ z) ** 2, axis=1)
        return self.phi() * np.sum(g * z) / bend if bend > 0 else 0.0

    def phi(self) -> float:
        return self.settings.step[1] / np.sqrt(1 + self.passes)

    def intercept_step(self, step: float, importance: float) -> float:
        """A block of its own: the automatic step along the constant, averaged down."""
        if self.settings.step[0] != "auto":
            return step
        return importance * self.phi() / self.loss.kmax / np.sqrt(1 + self.batches)

    def shrink(self, step: float) -> None:
        decay = max(1 - step * self.settings.l2, 0.0)
        self.storage.scale(decay)
        if decay != 1.0:
            self.selection.scale(decay)

    def remember(self, keys, X, w, inside, s, g, labels, share) -> None:
        """The pair between two points: masked queries, or the weights and the step made."""
        moved = self.read(keys, inside) if self.reads == "selection" else w + s
        _, residual = self.evaluate(X, moved, labels, share)
        self.direction.observe(keys, moved - w, X.T @ residual - g)

    def weights_of(self, keys) -> np.ndarray:
        """As predictions use them: cells are no model where exact weights are solved for alone."""
        inside = self.selection.members(keys, self.settings.classes)
        solves = self.storage.exact and self.reads == "selection"
        return np.where(inside | (not solves), self.storage.query(keys), 0.0)

    def predict(self, rows, selected_only: bool = False) -> np.ndarray:
        margins = []
        for row in rows:
            keys = sorted(row)
            if not keys:
                margins.append(self.intercept)
                continue
            w = self.weights_of(keys)
            if selected_only:
                w = np.where(self.selection.members(keys, self.settings.classes), w, 0.0)
            margins.append(np.array([row[key] for key in keys]) @ w + self.intercept)
        return np.array(margins)

    def selected(self) -> list[list[int]]:
        return [top.ranked() for top in self.selection.tops]
