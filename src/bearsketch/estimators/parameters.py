"""Parameters of an estimator, checked when it is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bearsketch.estimators.rows import plain
from bearsketch.exceptions import LimitError, ParameterError
from bearsketch.learners import LEARNERS, RECIPES
from bearsketch.learners.parts import check_choice, check_number
from bearsketch.sizes import format_bytes, parse_bytes

LARGEST_CLASSES = 65536
DENSE_CELL_BYTES = 4


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that no data could make good."""
    check_choice("learner", estimator.learner, LEARNERS)
    for name in ("fit_intercept", "shuffle", "selected_only"):
        given = getattr(estimator, name)
        if not isinstance(given, bool | np.bool_):
            raise ParameterError(f"{name} must be True or False, got {given!r}")
    if estimator.selected_only and not RECIPES[estimator.learner].selects:
        raise ParameterError(
            f"selected_only needs a learner that selects features, got {estimator.learner!r}",
            hint="Leave it False, or use bear+, bear, mission, newton or awm.",
        )
    if estimator.selected_only and plain(estimator.k) == 0:
        raise ParameterError(
            "k must be at least 1 with selected_only, got 0", hint="Leave k or selected_only out."
        )
    parse_bytes(plain(estimator.memory))
    if estimator.passes is None:
        raise ParameterError("passes must be a whole number, got None")
    for name in ("passes", "batch_size"):
        check_number(name, plain(getattr(estimator, name)))
    n = plain(estimator.max_classes)
    if n is not None and (not isinstance(n, int) or not 2 <= n <= LARGEST_CLASSES):
        raise ParameterError(f"max_classes must be 2 to {LARGEST_CLASSES}, got {n!r}")


def check_feature_names(names: Any, columns: int | None) -> None:
    """Refuse names that are not one for each column; a mapping may name some of them."""
    if names is None or isinstance(names, Mapping):
        return
    if columns is None or len(names) != columns:
        raise ParameterError(
            f"feature_names must be one name per column "
            f"({'of a matrix' if columns is None else columns}), got {len(names)}",
            hint="Give a dict from column to name to name some of them.",
        )


def dense_dimension(estimator: Any, columns: int | None, n_weights: int) -> int | None:
    """Columns of a learner that keeps every weight, when the budget allows; None for others."""
    learner = estimator.learner
    if RECIPES[learner].storage != "dense":
        return None
    if columns is None:
        raise ParameterError(
            f"learner {learner!r} keeps every weight and needs a matrix, got features by name or "
            "a stream",
            hint="Use bear+, bear, mission, newton, fh or awm.",
        )
    need, budget = columns * n_weights * DENSE_CELL_BYTES, parse_bytes(estimator.memory)
    if need > budget:
        raise LimitError(
            f"memory must be at least {format_bytes(need)} for learner {learner!r}, which keeps "
            f"{columns} x {n_weights} weights, got {format_bytes(budget)}",
            code="MEM-BUDGET",
            hint="Give more memory, or use bear+, which needs none per column.",
        )
    return columns
