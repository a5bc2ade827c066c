"""What a checkpoint keeps of an estimator that learns from a stream, and how it continues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bearsketch.estimators.targets import ClassMap
from bearsketch.exceptions import ParameterError
from bearsketch.learners import state
from bearsketch.model_file import Arrays
from bearsketch.training.checkpoint import Checkpoints, Saved
from bearsketch.training.resume import reading, version

if TYPE_CHECKING:
    from bearsketch.estimators.base import SketchEstimator


class StreamRun:
    """``fit_stream`` as a keeper sees it.

    Parameters
    ----------
    estimator : SketchEstimator
    batches : Stream or iterable of Batch
    seed : int
    classes : array-like or None
        As they were declared.
    """

    def __init__(self, estimator: SketchEstimator, batches: Any, seed: int, classes: Any) -> None:
        self.n_pass, self.batches = 1, 0
        self._estimator, self._source, self._seed = estimator, batches, seed
        self._classes = None if classes is None else np.asarray(classes).tolist()

    def asked(self) -> dict[str, Any]:
        """Parameters, declared classes, and options of the stream."""
        given = {name: repr(value) for name, value in self._estimator.get_params().items()}
        options = reading(self._source) if hasattr(self._source, "options") else {}
        return {**version(), **given, "classes": self._classes, **options}

    def inputs(self) -> list[list[Any]]:
        """Tell what the inputs of a stream are now; nothing of batches in memory."""
        from bearsketch.reading.remember import input_record

        return input_record(self._source) if hasattr(self._source, "options") else []

    def config(self, saved: Saved) -> dict[str, Any]:
        """Nothing that the parameters do not say."""
        return {}

    def capture(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and record of the learner, and the classes so far."""
        estimator = self._estimator
        arrays, record = state.dump(estimator.learner_, exact=True)
        classes = None
        if estimator._classifies():
            order = np.argsort(estimator._class_numbers)
            classes = estimator.classes_[order].tolist()
        record["training"] = {"n_pass": self.n_pass, "batches": self.batches, "seen": classes}
        return arrays, record

    def restore(self, saved: Saved) -> None:
        """Put the estimator where it was captured."""
        n_pass, batches = (int(saved.record[name]) for name in ("n_pass", "batches"))
        config, seen = saved.learner.config, saved.record["seen"]
        if n_pass != saved.learner.counters["passes"] + 1 or not 0 <= batches < 2**63:
            raise ValueError("the number of the pass or of batches")
        self.n_pass, self.batches = n_pass, batches
        estimator = self._estimator
        estimator._forget_columns()
        estimator.learner_ = saved.learner
        if seen is not None:
            values = np.array(seen)
            order = np.argsort(values)
            estimator._set_classes(ClassMap(values[order], order, config.n_classes, config.loss))


def check_seeded(checkpoint: Checkpoints | None, random_state: Any) -> None:
    """Refuse a run that could not be repeated."""
    if checkpoint is not None and not isinstance(random_state, int | np.integer):
        raise ParameterError(
            f"random_state must be a whole number with checkpoints, got {random_state!r}",
            hint="The run that continues must hash names as the one that stopped did.",
        )
