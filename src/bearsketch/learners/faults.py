"""Errors of the compiled core as those of this package, and what to do about strange data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bearsketch import _core
from bearsketch.advice import either
from bearsketch.exceptions import DivergedError, ParameterError


def naming_hint(mine: str, theirs: str) -> str:
    """Say what to do about features of another kind than those learned."""
    if (mine, theirs) == ("id", "name"):
        return "The model knows features as numbers of columns, the data has names. " + either(
            "Predict with the matrix or frame that fit took, or fit_stream such data.",
            "A model that fit of a scikit-learn estimator made predicts in Python, from a matrix "
            "or frame; for a file, use bearsketch train or fit_stream.",
        )
    if (mine, theirs) == ("name", "id"):
        return "The model knows features by name, the data has numbers of columns. " + either(
            "Read a frame or file as the model's data was, with bearsketch.io.open_like(model, "
            "data), and predict its batches; or fit the matrix.",
            "Give data with names, or train on data such as this.",
        )
    return "Give data of the kind that the model was trained on."


@contextlib.contextmanager
def core_errors() -> Iterator[None]:
    """Errors of the compiled core as errors of this package."""
    try:
        yield
    except _core.Diverged as error:
        raise DivergedError(
            str(error),
            code="NUM-DIVERGED",
            hint="Values or targets far above 1, or all far below it, do this: bring them near 1 "
            "(divide or multiply them), or drop their column. With a step size of your own, make "
            "it smaller.",
        ) from None
    except ValueError as error:
        raise ParameterError(str(error)) from None
