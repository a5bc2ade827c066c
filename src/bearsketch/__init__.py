"""The k most predictive features by name, from one pass over a stream, in a memory budget."""

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
    "SourceError",
    "load",
    "make_learner",
]
