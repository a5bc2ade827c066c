"""The k most predictive features by name, from one pass over a stream, in a memory budget."""

from typing import TYPE_CHECKING, Any

from bearsketch.batch import Batch, Names
from bearsketch.exceptions import (
    BearError,
    DataError,
    DivergedError,
    IncompatibleError,
    LimitError,
    ModelFileError,
    ParameterError,
    ParseError,
    SourceError,
)
from bearsketch.learners import (
    LEARNERS,
    Automatic,
    Constant,
    Decaying,
    Learner,
    load,
    make_learner,
)

if TYPE_CHECKING:
    from bearsketch.estimators import SketchClassifier, SketchRegressor, SketchSelector

__version__ = "0.1.0"

__all__ = [
    "LEARNERS",
    "Automatic",
    "Batch",
    "BearError",
    "Constant",
    "DataError",
    "Decaying",
    "DivergedError",
    "IncompatibleError",
    "Learner",
    "LimitError",
    "ModelFileError",
    "Names",
    "ParameterError",
    "ParseError",
    "SketchClassifier",
    "SketchRegressor",
    "SketchSelector",
    "SourceError",
    "load",
    "make_learner",
]

_ESTIMATORS = ("SketchClassifier", "SketchRegressor", "SketchSelector")


def __getattr__(name: str) -> Any:
    """Import scikit-learn only when an estimator is asked for."""
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'bearsketch' has no attribute {name!r}")
    from bearsketch import estimators

    return getattr(estimators, name)
