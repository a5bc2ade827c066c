"""A learner with fewer classes than room was kept for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bearsketch.learners import state
from bearsketch.learners.config import Config
from bearsketch.learners.labels import Label, Labels
from bearsketch.learners.learner import Learner
from bearsketch.model_file import Arrays


def keep_classes(learner: Learner, classes: Sequence[Label]) -> Learner:
    """Copy of a softmax learner with its first classes only, under their labels.

    Weights of one class never mix with those of another, so that dropping the columns of classes
    that never occurred changes nothing but their share of the probability. Pairs of L-BFGS are
    left behind.
    """
    n = len(classes)
    arrays, record = state.dump(learner)
    narrowed = ["cells"] if learner.config.per_class else ["cells", "selected.0.weights"]
    for name in narrowed:
        if name in arrays:
            arrays[name] = np.ascontiguousarray(arrays[name][:, :n])
    arrays["intercept"] = arrays["intercept"][:n]
    narrow_shares(arrays, learner.config, np.arange(n))
    narrow = Learner(replace(learner.config, n_classes=n), Labels("softmax", classes))
    state.restore(narrow, arrays, record)
    return narrow


def narrow_shares(arrays: Arrays, config: Config, numbers: npt.NDArray[np.intp]) -> None:
    """Cut the last numbers of the staged direction, offsets and shares of classes, to some."""
    if config.direction != "staged" or not config.intercept:
        return
    n = config.n_classes
    rest, offsets, shares = np.split(arrays["numbers.direction"], [-2 * n, -n])
    kept = shares[numbers] / shares[numbers].sum()
    arrays["numbers.direction"] = np.concatenate([rest, offsets[numbers], kept])
