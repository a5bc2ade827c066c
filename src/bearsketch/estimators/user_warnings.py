"""Warnings of a session as Python has them: a UserWarning where fit was called."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from bearsketch.learners.learner import Learner
from bearsketch.training.session import Sink
from bearsketch.training.warnings import RunWarning


class UserWarnings(Sink):
    """Raises each warning of a session as a UserWarning."""

    def warned(self, warning: RunWarning) -> None:
        """Warn whoever called this package, unless it is for a summary alone."""
        if warning.raised:
            warnings.warn(f"{warning} [{warning.code}]", UserWarning, stacklevel=_outside())


def warn_of_ids(learner: Learner, X: Any) -> None:
    """Warn of a matrix for a model of svmlight data, whose ids begin with 1 as a rule.

    A matrix whose first column is empty was read so that its columns are the ids.
    """
    if learner.run.get("format") == "svmlight" and _has_first_column(X):
        UserWarnings().warned(RunWarning("DATA-IDS", {"matrix": True}))


def _has_first_column(X: Any) -> bool:
    """Whether a checked matrix, an array or CSR, has a number other than 0 in its first column."""
    if isinstance(X, np.ndarray):
        return bool(X[:, 0].any())
    return bool(X.data[X.indices == 0].any())


def _outside() -> int:
    """Level of the caller who is neither this package nor scikit-learn: where fit was called."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(
        ("bearsketch", "sklearn")
    ):
        level, frame = level + 1, frame.f_back
    return level
