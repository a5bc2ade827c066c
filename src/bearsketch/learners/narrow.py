"""A learner with fewer classes than room was kept for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bearsketch.learners import state
from bearsketch.learners.labels import Label, Labels
from bearsketch.learners.learner import Learner


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
    if learner.config.direction == "staged" and learner.config.intercept:
        # The last of its numbers are the shares of the classes.
        rest, shares = np.split(arrays["numbers.direction"], [-learner.config.n_classes])
        kept = shares[:n] / shares[:n].sum()
        arrays["numbers.direction"] = np.concatenate([rest, kept])
    narrow = Learner(replace(learner.config, n_classes=n), Labels("softmax", classes))
    state.restore(narrow, arrays, record)
    return narrow
