"""The k most predictive features by name, from one pass over a stream, in a memory budget.

Public names are imported when they are first used, so that ``import bearsketch`` and the command
line stay light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bearsketch.batch import Batch, Names
    from bearsketch.estimators import SketchClassifier, SketchRegressor, SketchSelector
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
    from bearsketch.reading import Limits, Stream, open_stream

__version__ = "0.1.0"

_HOMES = {
    "bearsketch.batch": "Batch Names",
    "bearsketch.estimators": "SketchClassifier SketchRegressor SketchSelector",
    "bearsketch.exceptions": (
        "BearError DataError DivergedError IncompatibleError LimitError ModelFileError "
        "ParameterError ParseError SourceError"
    ),
    "bearsketch.reading": "Limits Stream open_stream",
    "bearsketch.learners": "LEARNERS Automatic Constant Decaying Learner load make_learner",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

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
    "Limits",
    "ModelFileError",
    "Names",
    "ParameterError",
    "ParseError",
    "SketchClassifier",
    "SketchRegressor",
    "SketchSelector",
    "SourceError",
    "Stream",
    "load",
    "make_learner",
    "open_stream",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'bearsketch' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
