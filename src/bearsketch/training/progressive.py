"""Progressive results: each example is predicted, scored, and only then learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import model_file
from bearsketch.batch import Batch
from bearsketch.learners.learner import Progress
from bearsketch.metrics import ClassScores, NumberScores, make_scores
from bearsketch.model_file import Arrays
from bearsketch.training.curve import Curve
from bearsketch.training.order import Order

Numbers = npt.NDArray[np.float64]


class Progressive:
    """What the examples of one pass tell of a model, each before it was learned.

    Parts of a pass join: a worker has one for its partition, the driver one of all.

    Parameters
    ----------
    loss : str
    n_classes : int

    Attributes
    ----------
    scores : ClassScores or NumberScores
    order : Order or None
        Labels in their order; None for regression.
    curve : Curve
    """

    def __init__(self, loss: str, n_classes: int) -> None:
        self._n_classes = n_classes
        self.scores: Any = make_scores(loss, n_classes)
        self.order = None if loss == "squared" else Order(n_classes)
        self.curve = Curve()
        self.examples = 0
        self._loss = self._weight = 0.0

    def add(self, batch: Batch, numbers: Numbers, progress: Progress) -> None:
        """Enter a batch, its class numbers or targets, and how it was predicted."""
        before = self.right
        self.scores.add(numbers, progress.margins, batch.weights)
        if self.order is not None:
            self.order.add(numbers, batch.weights, batch.places)
        loss = progress.loss * progress.weight
        self._count(len(batch), loss, progress.weight)
        self._draw(len(batch), loss, progress.weight, before)

    def join(self, parts: list[Progressive]) -> None:
        """Enter parts of the pass in their order; together they are a point of the curve."""
        before, examples, loss, weight = self.right, self.examples, self._loss, self._weight
        for part in parts:
            self.scores.join(part.scores)
            if self.order is not None and part.order is not None:
                self.order.join(part.order)
            self._count(part.examples, part._loss, part._weight)
        if self._weight > weight:
            self._draw(self.examples - examples, self._loss - loss, self._weight - weight, before)

    def _count(self, examples: int, loss: float, weight: float) -> None:
        self.examples += examples
        self._loss += loss
        self._weight += weight

    def _draw(self, examples: int, loss: float, weight: float, before: float | None) -> None:
        gained = None if before is None else (self.right or 0.0) - before
        self.curve.add(examples, loss, weight, gained)

    @property
    def right(self) -> float | None:
        """Weight of the examples that were predicted right; None for regression."""
        return self.scores.right if isinstance(self.scores, ClassScores) else None

    @property
    def numbers(self) -> NumberScores | None:
        """Scores of a regression."""
        return self.scores if isinstance(self.scores, NumberScores) else None

    @property
    def loss(self) -> float | None:
        """Mean loss; None before there is an example of some weight."""
        return self._loss / self._weight if self._weight else None

    def results(self) -> dict[str, float | None]:
        """Results under the names that summaries and models have."""
        scores = self.scores
        return {
            "progressive_loss": self.loss,
            "progressive_accuracy": getattr(scores, "accuracy", None),
            "progressive_auc": getattr(scores, "auc", None),
            "progressive_rmse": getattr(scores, "rmse", None),
            "progressive_r2": getattr(scores, "r2", None),
        }

    def dump(self) -> tuple[Arrays, dict[str, Any]]:
        """All it needs to continue, as arrays and plain values."""
        arrays = dict(self.scores.histogram())
        if self.order is not None:
            arrays["order"] = self.order.to_array()
        sums = [self.examples, self._loss, self._weight]
        return arrays, {
            "sums": sums,
            "scores": self.scores.sums(),
            "curve": self.curve.to_json(),
        }

    def restore(self, arrays: Arrays, record: dict[str, Any]) -> None:
        """Inverse of :meth:`dump`; raises ValueError, KeyError or TypeError on nonsense."""
        examples, loss, weight = record["sums"]
        self.examples, self._loss, self._weight = int(examples), float(loss), float(weight)
        self.scores.restore(record["scores"], arrays.get("bins"), arrays.get("mass"))
        self.curve.restore(record["curve"])
        if self.order is not None:
            self.order.restore(arrays["order"])

    def to_bytes(self) -> bytes:
        """Bytes of all of it, to be sent; equal parts give equal bytes."""
        return model_file.pack(*self.dump())

    def from_bytes(self, data: bytes) -> Progressive:
        """Make the part of a pass of the same task that these bytes hold."""
        part = Progressive("squared" if self.order is None else "", self._n_classes)
        part.restore(*model_file.unpack(data))
        return part
