"""What an estimator finds odd about its examples, told once for each fit."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bearsketch.batch import Batch
from bearsketch.estimators.columns import looked_up
from bearsketch.training.order import Order
from bearsketch.training.scale import odd_scale


class Doubts:
    """Looks at the batches of a first pass; warns of values out of scale and of labels in runs.

    Parameters
    ----------
    estimator : SketchEstimator
        Whose learner is made.
    """

    def __init__(self, estimator: Any) -> None:
        config = estimator.learner_.config
        self._estimator, self._staged = estimator, config.direction == "staged"
        self._order = Order(config.n_classes) if config.loss != "squared" else None
        self._first = True

    def watch(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Look at all batches of a pass as they go by."""
        for batch in batches:
            self.look(batch)
            yield batch
        self.tell()

    def look(self, batch: Batch) -> None:
        """Look at a batch whose labels are class numbers or targets."""
        if self._first:
            self._first = False
            _warn("DATA-SCALE", odd_scale([batch], self._staged, self._naming(batch)))
        if self._order is not None and batch.labels is not None:
            self._order.add(batch.labels, None, batch.places)

    def tell(self) -> None:
        """Say what the whole of the pass tells."""
        passes = self._estimator.passes
        _warn("DATA-ORDER", None if self._order is None else self._order.warning(passes))

    def _naming(self, batch: Batch) -> Any:
        """From a column to its name, where a matrix has one."""
        given = self._estimator.feature_names
        names = getattr(self._estimator, "feature_names_in_", given)
        if batch.naming != "id" or not hasattr(self._estimator, "n_features_in_"):
            return None
        return lambda key: str(looked_up({} if names is None else names, np.array([key]), "x")[0])


def _warn(code: str, message: str | None) -> None:
    if message is not None:
        warnings.warn(f"{message} [{code}]", UserWarning, stacklevel=_outside())


def _outside() -> int:
    """Level of the caller who is neither this package nor scikit-learn: where fit was called."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(
        ("bearsketch", "sklearn")
    ):
        level, frame = level + 1, frame.f_back
    return level
