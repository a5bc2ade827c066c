"""How noisy a sketch is, against the weights it has selected."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bearsketch.learners import Learner

# A weight this many times the floor is hardly noise: one in 370 errors of a normal law is as large.
CLEAR = 3.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise floor of a sketch, and how the selected weights stand to it.

    Attributes
    ----------
    floor : float
        Expected error of one estimated weight: what other features add to its cells. Each row
        errs by the root mean square of the cells, and the mean of ``depth`` rows by that over
        the root of ``depth`` (the median by 1.25 times as much, from three rows on).
    smallest : float
        Smallest selected weight (root mean square over the classes that share a heap).
    ratio : float or None
        ``smallest / floor``; None where the floor is 0.
    clear, selected : int
        How many selected weights are at least three times the floor, of how many.
    verdict : str
        ``ample``, ``fair`` or ``too small``: what this says about the memory.
    """

    floor: float
    smallest: float
    ratio: float | None
    clear: int
    selected: int
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """Plain values under the names above."""
        return asdict(self)


def noise_of(learner: Learner) -> Noise | None:
    """Noise of a learner; None where it has no sketch, or selects nothing.

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
    rows = 1.0 / math.sqrt(config.depth)
    if config.query == "median" and config.depth >= 3:
        rows *= math.sqrt(math.pi / 2)
    floor = learner.fill()["rms"] * rows
    weights = learner.selected().all_weights
    sizes = np.sqrt((weights**2).mean(axis=1))
    smallest = float(sizes.min()) if len(sizes) else 0.0
    clear = int((sizes >= CLEAR * floor).sum())
    share = clear / len(sizes) if len(sizes) else 1.0
    verdict = "ample" if share >= 0.9 else "fair" if share >= 0.5 else "too small"
    ratio = smallest / floor if floor else None
    return Noise(floor, smallest, ratio, clear, len(sizes), verdict)
