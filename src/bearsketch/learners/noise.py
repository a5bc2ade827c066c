"""How noisy a sketch is, against the weights it has selected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bearsketch.learners.selected import keeps_largest, sizes_of

if TYPE_CHECKING:
    from bearsketch.learners import Learner

# Shares of the selected that chance could have lifted among them, and features per cell: up to the
# first the memory is ample, above the second too small. On RCV1 the accuracy of bear+ with all
# features is .97 up to the first, .95 between them, and .93 or less beyond.
BY_CHANCE = (0.1, 0.25)
CROWDING = (2.2, 3.6)
# Where the smallest of the selected is so many times the floor, crowded cells cost predictions with
# all features and nothing else: the memory is fair.
CLEAR = 10.0
# Crowding is judged by what it can cost: where progressive accuracy, AUC and R2 lack at most this
# much of 1, predictions with more memory could gain no more.
NOTHING_LOST = 0.01
# Of the selected, left out where the smallest is asked for: a frequent feature is selected with a
# smaller weight than others, and one such says nothing about the rest.
LEFT_OUT = 0.05
# Verdicts, and what they mean to a user.
VERDICTS = {
    "ample": "the memory is ample",
    "fair": "the memory is fair",
    "too small": "the memory is too small for this data",
}


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise floor of a sketch, and how the selected weights stand to it.

    Attributes
    ----------
    floor : float
        Expected error of one estimated weight: what other features add to its cells. Each row
        errs by the root mean square of the cells, and the mean of ``depth`` rows by that over
        the root of ``depth``; the median by 1.25 times as much, from three rows on. Where the
        selected are in the cells too (all but ``bear+``) this is too high rather than too low.
    smallest : float
        Smallest selected weight but for the least 5 % of them (the largest of the classes that
        share a heap; of other learners than ``bear+`` their root mean square), times the size of
        the feature's values where that is above 1, and by how often the feature occurred, as it
        counts where features are selected: what one that is met as often as others do on the mean
        needs.
    ratio : float or None
        ``smallest / floor``; None where the floor is 0.
    features : int
        Different features in the cells, from the share of cells in use. A lower bound once
        nearly all are.
    by_chance : float
        How many of those that share a cell an error that follows the normal law would lift to
        the smallest selected weight.
    crowding : float
        Features per cell, over all rows; where cells are few, as many as there may well be.
    selected : int
    verdict : str
        ``ample``, ``fair`` or ``too small``, by the worse of two: ``by_chance`` up to 10 % or 25 %
        of the selected, or more; ``crowding`` up to 2.2 or 3.6, or more
        (a sketch without one empty cell is too small), which counts as fair where ``ratio`` is 10
        or more, and not at all where the run's predictions left nothing to gain.
    """

    floor: float
    smallest: float
    ratio: float | None
    features: int
    by_chance: float
    crowding: float
    selected: int
    verdict: str

    @property
    def words(self) -> str:
        """The verdict in words, with its cause."""
        said = VERDICTS[self.verdict]
        if self.verdict == "ample":
            return said
        if self.by_chance > BY_CHANCE[0] * self.selected:
            many = self.by_chance > BY_CHANCE[-1] * self.selected
            some = "many of" if many else "the weakest of"
            helps = "give more memory, or a smaller k"
            return f"{said}: {some} the selected may be there by chance; {helps}"
        return (
            f"{said}: its cells are crowded, which costs predictions with all features; the "
            "selected stand clear of the noise"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values under the names above."""
        return asdict(self)


def noise_of(learner: Learner) -> Noise | None:
    """Noise of a learner; None where it has no sketch, or has selected nothing.

    Examples
    --------
    >>> from bearsketch import Batch, make_learner
    >>> learner = make_learner(k=2, memory="1KiB")
    >>> _ = learner.learn(Batch.from_rows([["buy"], ["meet"]], [1, -1]))
    >>> noise_of(learner).verdict
    'ample'
    """
    config = learner.config
    if config.k == 0 or config.dimension:
        return None
    weights = learner.selected_weights()
    if len(weights) == 0:
        return None
    fill = learner.fill()
    floor = fill["rms"] * row_error(config.depth, config.query)
    sizes = size_by_class(config.update, weights) * learner.selected_worths() / fill["worth"]
    smallest = float(np.quantile(sizes, LEFT_OUT, method="lower"))
    ratio = smallest / floor if floor > 0.0 else None
    empty = max(1.0 - fill["used"] / fill["cells"], 0.5 / fill["cells"])
    features = round(-config.width * math.log(empty))
    crowding = crowding_of(fill["used"], fill["cells"], config.depth)
    chance = chance_of_largest if config.update == "posterior" else chance_above
    # What has its cells to itself is not there by collisions.
    colliding = -features * math.expm1(-features / config.width)
    by_chance = 0.0 if ratio is None else colliding * chance(ratio, weights.shape[1])
    crowded = math.inf if fill["used"] == fill["cells"] else crowding
    if ratio is not None and ratio >= CLEAR:
        crowded = min(crowded, CROWDING[-1])
    if nothing_lost(learner.run):
        crowded = min(crowded, CROWDING[0])
    verdict = verdict_of(by_chance / len(sizes), crowded)
    return Noise(floor, smallest, ratio, features, by_chance, crowding, len(sizes), verdict)


def nothing_lost(run: Mapping[str, Any]) -> bool:
    """Whether a run predicted examples it had not seen so well that no memory could help.

    Examples
    --------
    >>> nothing_lost({"progressive_accuracy": 0.999, "progressive_auc": 1.0})
    True
    >>> nothing_lost({"progressive_accuracy": 0.999, "progressive_auc": 0.7}), nothing_lost({})
    (False, False)
    """
    scores = [run.get(f"progressive_{score}") for score in ("accuracy", "auc", "r2")]
    known = [score for score in scores if score is not None]
    return bool(known) and min(known) >= 1.0 - NOTHING_LOST


def crowding_of(used: float, cells: float, depth: int) -> float:
    """Features per cell, if by chance as many cells are empty as two standard errors more.

    Examples
    --------
    >>> round(crowding_of(63_000, 100_000, 1), 2), round(crowding_of(26, 30, 1), 2)
    (1.0, 4.09)
    """
    empty = cells - used
    fewer = max(empty - 2.0 * math.sqrt(empty), 0.5)
    return -math.log(fewer / cells) / depth


def row_error(depth: int, query: str) -> float:
    """Error of an estimate from ``depth`` rows, for an error of 1 of each.

    Examples
    --------
    >>> row_error(4, "mean"), round(row_error(4, "median"), 3)
    (0.5, 0.627)
    """
    error = 1.0 / math.sqrt(depth)
    return error * math.sqrt(math.pi / 2) if query == "median" and depth >= 3 else error


def verdict_of(by_chance: float, crowding: float) -> str:
    """Verdict from the share of the selected that chance could have lifted, and the crowding."""
    worse = max(np.searchsorted(BY_CHANCE, by_chance), np.searchsorted(CROWDING, crowding))
    return list(VERDICTS)[int(worse)]


def size_by_class(update: str, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Size of the weights of each key beside the error of one: largest, or root mean square."""
    columns = 1 if keeps_largest(update, weights) else weights.shape[1]
    return sizes_of(update, weights) / math.sqrt(columns)


def chance_of_largest(ratio: float, columns: int) -> float:
    """Chance that the largest of so many normal errors is above ``ratio``; of one its size.

    Examples
    --------
    >>> round(chance_of_largest(2.0, 1), 4), round(chance_of_largest(2.0, 20), 4)
    (0.0455, 0.3689)
    """
    one = 0.5 * math.erfc(ratio / math.sqrt(2))
    return 2.0 * one if columns == 1 else -math.expm1(columns * math.log1p(-one))


def chance_above(ratio: float, columns: int) -> float:
    """Chance that the root mean square of so many normal errors is above ``ratio``."""
    if columns == 1:
        return math.erfc(ratio / math.sqrt(2))
    # Wilson and Hilferty: the cube root of a chi-square over its freedom is nearly normal.
    spread = 2.0 / (9.0 * columns)
    z = (ratio ** (2.0 / 3.0) - (1.0 - spread)) / math.sqrt(spread)
    return 0.5 * math.erfc(z / math.sqrt(2))
