"""The one loop, spelt out. A learner is a choice of parts."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from reference.directions import Gradient, Lbfgs, Newton
from reference.losses import LOSSES
from reference.one_byte import ByteSketch, CachedByteSketch, CountedSketch
from reference.selection import Measures, Selection, largest, norm
from reference.staged import Staged
from reference.storage import CachedSketch, CountSketch, Dense

# storage, direction, does it select, what gradients see, depth, query
TABLE = {
    "bear+": ("cached", "staged", True, "storage", 1, "mean"),
    "bear+ again": ("cached", "lbfgs", True, "selection", 3, "mean"),  # several passes
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
        if direction == "staged" and settings.step[0] != "auto":
            direction = "gradient"
        self.settings = settings
        self.reads = settings.reads or reads
        self.loss = LOSSES[settings.loss]()
        one_byte = settings.precision == "int8"
        dtype = np.float32 if one_byte else np.dtype(settings.precision).type
        k = settings.k if selects or storage == "dense" else 0
        shared = settings.classes > 1 and not settings.per_class
        short = one_byte and direction == "staged" and settings.loss != "squared"
        kept = (np.int8 if shared else np.int16) if short else dtype
        size_of = largest if direction == "staged" else norm
        self.selection = Selection(k, settings.classes, settings.per_class, kept, size_of)
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
            narrow = CountedSketch if direction == "staged" else CachedByteSketch
            self.storage = (narrow if one_byte else CachedSketch)(
                *shape, selection=self.selection, subtract=storage == "cached"
            )
        for top in self.selection.tops if hasattr(self.storage, "worth") else ():
            top.worth = self.storage.worth
        self.direction = {
            "gradient": Gradient,
            "newton": Newton,
            "lbfgs": lambda: Lbfgs(settings.history),
            "staged": lambda: Staged(settings.step[1] / 0.5, settings),
        }[direction]()
        self.scaled = getattr(self.direction, "scaled", False)
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
        point.residual, point.importance, point.weights = residual, importance, weights
        point.w, point.labels, point.inside, point.passes = w, labels, inside, self.passes
        point.storage, point.intercept = self.storage, self.intercept
        point.groups = max(len(self.selection.tops), 1)
        point.selects = bool(self.selection.tops)
        point.selected = sum(len(keys) for keys in self.selected())
        z = self.direction.direct(point)
        if not self.scaled and np.sum(g * z) <= 0 and np.any(g):
            z = g.copy()
            self.uphill += 1
        step = 1.0 if self.scaled else importance * self.step_size(X, g, z, share)
        measures = getattr(self.direction, "measures", None) or Measures.plain(len(keys))
        self.selection.draw_from(measures.salt)
        self.shrink(self.direction.step if self.scaled else step)
        s, held = self.selection.hold_back(keys, -step * z, self.storage, measures)
        self.storage.add(keys, s)
        if measures.met is not None:
            self.storage.meet(keys, measures.met)
        if self.direction.wants_pair:
            self.remember(keys, X, w, inside, -step * z, g, labels, share)
        staged = self.scaled and self.storage.exact and self.reads == "storage"
        after = w + s if staged else self.storage.query(keys)
        self.selection.offer(keys, after, z, self.storage, measures, held)
        if self.scaled:
            self.intercept = self.intercept + self.direction.intercept_step
        elif self.settings.intercept:
            self.intercept = self.intercept - self.intercept_step(step, importance) * residual.sum(
                axis=0
            )
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
        self.storage.scale(decay * getattr(self.direction, "keep", 1.0))
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
        offset = getattr(self.direction, "offset", 0.0) if selected_only else 0.0
        return np.array(margins) + offset

    def selected(self) -> list[list[int]]:
        return [top.ranked() for top in self.selection.tops]
