"""What an estimator finds odd about its examples, told once for each fit."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from bearsketch.batch import Batch
from bearsketch.estimators.columns import looked_up
from bearsketch.learners.learner import Learner, Progress
from bearsketch.metrics import NumberScores, log_losses
from bearsketch.training.checks import check_weighed, order_warning, worse_than_guessing
from bearsketch.training.curve import Curve
from bearsketch.training.order import Order
from bearsketch.training.scaling import scale_values
from bearsketch.training.warnings import RunWarning, of_stream

POINT_EXAMPLES = 480  # of a point of the learning curve, as for ``bearsketch train``


class Doubts:
    """Looks at the batches of a first pass, as ``bearsketch train`` does, and warns.

    Of values out of scale, of labels in runs, of predictions worse than guessing, and of what a
    stream found odd about its inputs.

    Parameters
    ----------
    estimator : SketchEstimator
        Whose learner is made.
    source : Stream, optional
        Where the batches come from; without ``warnings`` of its own, no warning is given for it.
    every_class : bool
        Whether all classes should come, so that one alone is odd.
    first : sequence of Batch, optional
        What columns of numbers are scaled by; the first batch otherwise.
    """

    def __init__(
        self,
        estimator: Any,
        source: Any = None,
        *,
        every_class: bool = False,
        first: Sequence[Batch] = (),
    ) -> None:
        config = estimator.learner_.config
        self._estimator = estimator
        self._source, self._told = source, 0
        self._order = Order(config.n_classes) if config.loss != "squared" else None
        self._curve, self._numbers = Curve(), NumberScores()
        self._first, self._sample, self._every_class = True, first, every_class

    def look(self, batch: Batch) -> None:
        """Look at a batch that is to be learned; its labels are class numbers or targets.

        By the first its columns of numbers are scaled.
        """
        self._tell_source()
        if self._first:
            self._first = False
            learner, naming = self._estimator.learner_, self._naming(batch)
            for odd in scale_values(learner, self._sample or [batch], self._source, naming):
                warn(odd)

    def learned(self, batch: Batch, progress: Progress) -> None:
        """See how well a batch was predicted before it was learned."""
        assert batch.labels is not None
        targets, margins = batch.labels, progress.margins
        if self._order is not None:
            self._order.add(targets, batch.weights, batch.places)
            losses = log_losses(targets.astype(np.intp), margins)
        else:
            self._numbers.add(targets, margins, batch.weights)
            losses = 0.5 * (targets - margins[:, 0]) ** 2
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        losses = weights * losses
        for start in range(0, len(batch), POINT_EXAMPLES):
            part = slice(start, start + POINT_EXAMPLES)
            sums = float(losses[part].sum()), float(weights[part].sum())
            self._curve.add(len(losses[part]), *sums, None)

    def tell(self) -> None:
        """Say what the whole of the pass tells."""
        self._tell_source()
        learner = self._estimator.learner_
        check_weighed(learner, learner.counters["examples"])
        order, deviation = self._order, self._numbers.deviation
        only = None if order is None or not self._every_class else order.only
        if only is not None:
            known = self._estimator._known_classes()
            label = known.classes[known.numbers == only][0].item()
            warn(RunWarning("LABEL-ONE", {"label": label}))
        warn(order_warning(order, self._numbers, self._estimator.passes))
        warn(worse_than_guessing(order, self._curve.points(), deviation))

    def _tell_source(self) -> None:
        found = getattr(self._source, "warnings", [])
        for odd in found[self._told :]:
            warn(of_stream(odd))
        self._told = len(found)

    def _naming(self, batch: Batch) -> Any:
        """From a column to its name, where a matrix has one."""
        given = self._estimator.feature_names
        names = getattr(self._estimator, "feature_names_in_", given)
        if batch.naming != "id" or not hasattr(self._estimator, "n_features_in_"):
            return None
        return lambda key: str(looked_up({} if names is None else names, np.array([key]), "x")[0])


def warn_of_ids(learner: Learner, X: Any) -> None:
    """Warn of a matrix for a model of svmlight data, whose ids begin with 1 as a rule.

    A matrix whose first column is empty was read so that its columns are the ids.
    """
    if learner.run.get("format") != "svmlight" or not _has_first_column(X):
        return
    warn(RunWarning("DATA-IDS", {"matrix": True}))


def _has_first_column(X: Any) -> bool:
    """Whether a checked matrix, an array or CSR, has a number other than 0 in its first column."""
    if isinstance(X, np.ndarray):
        return bool(X[:, 0].any())
    return bool(X.data[X.indices == 0].any())


def warn(warning: RunWarning | None) -> None:
    """Warn whoever called this package, if there is something to say."""
    if warning is not None and warning.raised:
        warnings.warn(f"{warning} [{warning.code}]", UserWarning, stacklevel=_outside())


def _outside() -> int:
    """Level of the caller who is neither this package nor scikit-learn: where fit was called."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(
        ("bearsketch", "sklearn")
    ):
        level, frame = level + 1, frame.f_back
    return level
