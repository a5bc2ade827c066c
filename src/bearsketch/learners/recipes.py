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
        ``gradient``, ``lbfgs`` or ``newton``.
    depth : int
        Rows of the sketch where the user gives none.
    query : str
        ``mean`` or ``median`` of the rows.
    reads : str
        What gradients see: ``storage`` (all active features), ``selection`` (the selected only),
        or ``auto``: the selection when several passes are made, the storage in one pass.
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
    selects: bool = True
    summary: str = ""


RECIPES: Mapping[str, Recipe] = {
    "bear+": Recipe(
        "cached", "lbfgs", 3, "mean", "auto", summary="BEAR made to work untuned: our default"
    ),
    "bear": Recipe("sketch", "lbfgs", summary="the paper's algorithm 2, with guards"),
    "mission": Recipe("sketch", "gradient", summary="first-order twin of BEAR"),
    "newton": Recipe("sketch", "newton", summary="BEAR with the exact Hessian of the batch"),
    "sgd": Recipe(
        "dense", "gradient", 1, "mean", "storage", False, "one weight per possible feature"
    ),
    "olbfgs": Recipe(
        "dense", "lbfgs", 1, "mean", "storage", False, "online L-BFGS on all possible features"
    ),
    "fh": Recipe(
        "sketch", "gradient", 1, "mean", "storage", False, "feature hashing: predicts, cannot name"
    ),
    "awm": Recipe("cached_keep", "gradient", 1, "mean", "storage", summary="Active-Set WM-Sketch"),
}
LEARNERS: tuple[str, ...] = tuple(RECIPES)
