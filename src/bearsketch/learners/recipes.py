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
    update : str
        ``gradient``, ``lbfgs`` or ``newton``: a step along a direction; or ``posterior``: a
        Gaussian for every weight, which finds its steps itself.
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
    batch_size : int
        Examples of a minibatch where the user gives none.
    summary : str
        One line for a reader.
    """

    storage: str
    update: str
    depth: int = 5
    query: str = "median"
    reads: str = "selection"
    precision: str = "float32"
    intercept: bool = False
    selects: bool = True
    batch_size: int = 20
    summary: str = ""


RECIPES: Mapping[str, Recipe] = {
    "bear+": Recipe(
        "cached",
        "posterior",
        1,
        "mean",
        "storage",
        "int8",
        True,
        batch_size=100,
        summary="ours: best per byte",
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


def minibatch(learner: str, batch_size: int | None = None) -> int:
    """Examples of a minibatch: as many as given, or what the table says of the learner.

    Examples
    --------
    >>> minibatch("bear+"), minibatch("bear"), minibatch("bear", 50)
    (100, 20, 50)
    """
    return batch_size or (RECIPES[learner].batch_size if learner in RECIPES else 20)
