"""The table of learners: a named algorithm is a row, never a loop of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of a learner by name, and its defaults.

    Attributes
    ----------
    storage : str
        ``dense``; ``sketch``; ``cached`` (exact weights for the selected, which leave the
        sketch); ``cached_keep`` (the copy in the sketch stays, as in AWM).
    direction : str
        ``gradient``, ``lbfgs``, ``newton``, or ``staged`` (the selected as a model of their own,
        then the cells on what is left, each with an automatic step).
    depth : int
        Rows of the sketch where the user gives none.
    query : str
        ``mean`` or ``median`` of the rows.
    reads : str
        What gradients see: ``storage`` (all active features) or ``selection`` (the selected only).
    precision : str
        Type of the cells: ``int8`` (one byte, with a common quantum), ``float32``, ``float64``.
    intercept : bool
        Whether a constant per class is learned where the user does not say.
    selects : bool
        Whether it can name features.
    summary : str
        One line for a reader.
    """

    storage: str
    direction: str
    depth: int = 5
    query: str = "median"
    reads: str = "selection"
    precision: str = "float32"
    intercept: bool = False
    selects: bool = True
    summary: str = ""


RECIPES: Mapping[str, Recipe] = {
    "bear+": Recipe(
        "cached", "staged", 1, "mean", "storage", "int8", True, summary="ours: best per byte"
    ),
    "bear": Recipe("sketch", "lbfgs", summary="the paper's algorithm 2, with guards"),
    "mission": Recipe("sketch", "gradient", summary="first-order twin of BEAR"),
    "newton": Recipe("sketch", "newton", summary="BEAR with the exact Hessian of the batch"),
    "sgd": Recipe(
        "dense", "gradient", 1, "mean", "storage", selects=False, summary="every possible weight"
    ),
    "olbfgs": Recipe(
        "dense", "lbfgs", 1, "mean", "storage", selects=False, summary="online L-BFGS on the same"
    ),
    "fh": Recipe(
        "sketch", "gradient", 1, "mean", "storage", selects=False, summary="feature hashing"
    ),
    "awm": Recipe("cached_keep", "gradient", 1, "mean", "storage", summary="Active-Set WM-Sketch"),
}
LEARNERS: tuple[str, ...] = tuple(RECIPES)

# Of numbers, a learner that comes back to its data often enough solves for the selected exactly:
# second order, float cells, gradients that see the selected only. In fewer passes this is worse
# than what one pass does, and of labels it would follow the noise.
EXACT: Mapping[str, Recipe] = {
    "bear+": Recipe("cached", "lbfgs", 3, "mean", "selection", summary="exact recovery"),
}
EXACT_PASSES = 12


def recipe_of(learner: str, *, loss: str, passes: int = 1, k: int | None = None) -> Recipe:
    """Row of the table for a learner, by its loss and how many passes it will make."""
    if loss == "squared" and passes >= EXACT_PASSES and k != 0 and learner in EXACT:
        return EXACT[learner]
    return RECIPES[learner]
