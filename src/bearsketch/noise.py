"""How noisy a sketch is, against the weights it has selected."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bearsketch.learners import Learner

# Shares of the selected that chance could have lifted among them: below the first the memory is
# ample, from the second on too small. On RCV1 bear+ alone on its selected loses 1 and 7 points.
FAIR, TOO_SMALL = 0.05, 0.25


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
        Smallest selected weight (root mean square over the classes that share a heap).
    ratio : float or None
        ``smallest / floor``; None where the floor is 0.
    features : int
        Different features in the cells, from the share of cells in use. A lower bound once
        nearly all are.
    by_chance : float
        How many of these an error that follows the normal law would lift to the smallest
        selected weight.
    selected : int
    verdict : str
        ``ample``, ``fair`` or ``too small``: ``by_chance`` is below 5 %, below 25 %, or above, of
        the selected.
    """

    floor: float
    smallest: float
    ratio: float | None
    features: int
    by_chance: float
    selected: int
    verdict: str

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
    weights = learner.selected().all_weights
    if len(weights) == 0:
        return None
    fill = learner.fill()
    floor = fill["rms"] / math.sqrt(config.depth)
    if config.query == "median" and config.depth >= 3:
        floor *= math.sqrt(math.pi / 2)
    sizes = np.sqrt((weights**2).mean(axis=1))
    smallest = float(sizes.min())
    ratio = smallest / floor if floor > 0.0 else None
    empty = max(1.0 - fill["used"] / fill["cells"], 0.5 / fill["cells"])
    features = round(-config.width * math.log(empty))
    columns = weights.shape[1]
    by_chance = 0.0 if ratio is None else features * _tail(ratio, columns)
    share = by_chance / len(sizes)
    verdict = "ample" if share < FAIR else "fair" if share < TOO_SMALL else "too small"
    return Noise(floor, smallest, ratio, features, by_chance, len(sizes), verdict)


def _tail(ratio: float, columns: int) -> float:
    """Chance that the root mean square of so many normal errors is above ``ratio``."""
    if columns == 1:
        return math.erfc(ratio / math.sqrt(2))
    # Wilson and Hilferty: the cube root of a chi-square over its freedom is nearly normal.
    spread = 2.0 / (9.0 * columns)
    z = (ratio ** (2.0 / 3.0) - (1.0 - spread)) / math.sqrt(spread)
    return 0.5 * math.erfc(z / math.sqrt(2))
