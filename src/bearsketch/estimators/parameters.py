"""Parameters of an estimator, checked when it is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from bearsketch.estimators.rows import plain
from bearsketch.exceptions import ParameterError
from bearsketch.learners import LEARNERS
from bearsketch.learners.parts import check_choice, check_number
from bearsketch.sizes import parse_bytes

LARGEST_CLASSES = 65536


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that no data could make good."""
    check_choice("learner", estimator.learner, LEARNERS)
    for name in ("fit_intercept", "shuffle"):
        given = getattr(estimator, name)
        if not isinstance(given, bool | np.bool_):
            raise ParameterError(f"{name} must be True or False, got {given!r}")
    parse_bytes(plain(estimator.memory))
    for name in ("passes", "batch_size"):
        if getattr(estimator, name) is None:
            raise ParameterError(f"{name} must be a whole number, got None")
        check_number(name, plain(getattr(estimator, name)))
    n = plain(estimator.max_classes)
    if not isinstance(n, int) or not 2 <= n <= LARGEST_CLASSES:
        raise ParameterError(f"max_classes must be 2 to {LARGEST_CLASSES}, got {n!r}")
