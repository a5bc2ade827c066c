"""A learner with fewer classes than room was kept for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.evidence import records
from bearsketch.learners import state
from bearsketch.learners.labels import Label, Labels
from bearsketch.learners.learner import Learner
from bearsketch.model_file import Arrays


def keep_classes(learner: Learner, classes: Sequence[Label]) -> Learner:
    """Copy of a softmax learner with its first classes only, under their labels.

    Weights of one class never mix with those of another, so that dropping the columns of classes
    that never occurred changes only their share of the probability. Pairs of L-BFGS are
    left behind.
    """
    n = len(classes)
    arrays, record = state.dump(learner)
    narrow_arrays(arrays, learner, np.arange(n))
    narrow = Learner(replace(learner.config, n_classes=n), Labels("softmax", classes))
    state.restore(narrow, arrays, record)
    return narrow


def narrow_arrays(arrays: Arrays, learner: Learner, numbers: npt.NDArray[np.intp]) -> None:
    """Cut what :func:`state.dump` gives of a softmax learner to some of its classes.

    A number that all classes have in common says nothing about which one it is, and among weights
    of the selected it would pass for their size: it is taken out of them, where they are kept
    apart from the cells, and of the intercept.
    """
    config = learner.config
    cells = _core.narrow_cells(learner._core, numbers.tolist())
    arrays["cells"] = np.frombuffer(cells, dtype=config.precision).reshape(-1, len(numbers))
    arrays["intercept"] = from_mean(arrays["intercept"][numbers])
    if config.k and not config.per_class:
        weights = state.unpack_weights("selected.0", arrays)[:, numbers]
        if config.storage.startswith("cached"):
            weights = _own(weights, arrays.get("selected.0.exponents"))
        arrays |= state.pack_weights("selected.0", weights, config)
    sizes = [len(arrays[f"selected.{g}.keys"]) for g in range(learner._core.groups)]
    records.narrow(arrays, sizes, numbers, per_class=config.per_class)
    offset = f"{state.STATE}update.offset"
    if offset in arrays:
        arrays[offset] = from_mean(arrays[offset][numbers])


def from_mean(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Give what weights or margins of classes, in the last axis, differ by from their mean."""
    return np.asarray(weights - weights.mean(axis=-1, keepdims=True))


def _own(
    weights: npt.NDArray[np.float64], exponents: npt.NDArray[np.int8] | None
) -> npt.NDArray[np.float64]:
    """Give :func:`from_mean`; where a byte each holds them, with the mean in whole steps.

    Halves of a step would be rounded, the weights of two classes towards each other. Where a
    weight would take more steps than a byte counts, steps are twice as long in any case.
    """
    if exponents is None:
        return from_mean(weights)
    step = np.ldexp(1.0, exponents)[:, None]
    own = weights - np.rint(weights.mean(axis=1, keepdims=True) / step) * step
    fits = np.abs(own).max(axis=1, keepdims=True) <= state.LARGEST_BYTE * step
    return np.where(fits, own, from_mean(weights))
