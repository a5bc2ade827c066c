"""The first examples of ``partial_fit``, kept until there are enough to tell how to scale."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bearsketch.batch import Batch
from bearsketch.estimators.doubts import Doubts
from bearsketch.learners import Learner
from bearsketch.training.scaling import LEAST_EXAMPLES


def learn_more(estimator: Any, batches: Iterable[Batch]) -> None:
    """Learn batches; with the first ones, begin anew until all of them tell how to scale.

    Few examples, and often a single one, come in a call; scaled by none, columns of numbers would
    be learned badly for good. What a model has learned so far is the same in any case.
    """
    few: list[Batch] | None = getattr(estimator, "_few", None)
    if few is None:
        estimator._learn(batches, None)
        return
    first = [*few, *batches]
    enough = sum(map(len, first)) >= LEAST_EXAMPLES
    estimator._few = None if enough else first
    estimator.learner_ = Learner(estimator.learner_.config, estimator.learner_.labels)
    estimator._learn(first, Doubts(estimator, first=first) if enough else None)
