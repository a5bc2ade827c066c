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
    narrow = Learner(replace(learner.config, n_classes=n), Labels("softmax", classes))
    old, new = learner._core, narrow._core
    dtype = np.dtype(learner.config.precision)
    cells = np.frombuffer(old.cells(), dtype=dtype).reshape(-1, learner.config.columns)
    new.restore_cells(np.ascontiguousarray(cells[:, :n]).tobytes())
    new.intercept = old.intercept[:n]
    for g in range(new.groups):
        group = old.selected(g)
        weights = group["weights"] if new.groups > 1 else group["weights"][:, :n]
        new.restore_selected(
            g,
            group["keys"],
            np.ascontiguousarray(weights, dtype=np.float64).ravel(),
            group["names"],
            group["aliases"],
        )
    for name in state.COUNTERS:
        setattr(new.counters, name, getattr(old.counters, name))
    for name in state.GUARDS:
        setattr(new.guards, name, getattr(old.guards, name))
    new.name_collisions = old.name_collisions
    narrow.naming, narrow.run = learner.naming, learner.run
    return narrow
