"""Errors of the compiled core as those of this package, and what to do about strange data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bearsketch import _core
from bearsketch.exceptions import DivergedError, ParameterError

TINY = 1024  # bytes: of a model with fewer, memory is a reason to diverge


def naming_hint(mine: str, theirs: str) -> str:
    """Say what to do about features of another kind than those learned."""
    if (mine, theirs) == ("id", "name"):
        return (
            "The model knows features as numbers of columns, the data has names. {predict columns}"
        )
    if (mine, theirs) == ("name", "id"):
        return "The model knows features by name, the data has numbers of columns. {predict names}"
    return "Give data of the kind that the model was trained on."


@contextlib.contextmanager
def core_errors(model_bytes: int = TINY) -> Iterator[None]:
    """Errors of the compiled core as errors of this package, for a model of so many bytes."""
    try:
        yield
    except _core.Diverged as error:
        raise DivergedError(
            str(error),
            code="NUM-DIVERGED",
            hint="Values or targets far above 1, or all far below it, do this: bring them near 1 "
            "(divide or multiply them), or drop their column. With a step size of your own, make "
            "it smaller." + (_tiny(model_bytes) if model_bytes < TINY else ""),
        ) from None
    except ValueError as error:
        raise ParameterError(str(error)) from None


def _tiny(model_bytes: int) -> str:
    """Say that the memory may be at fault: features share its few cells."""
    return (
        f" The model has only {model_bytes} bytes, in which features of different sizes share "
        f"cells: give it more ({{memory=4KiB}})."
    )
