"""What the end of a run tells about its data and its model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bearsketch.exceptions import DataError
from bearsketch.learners import Learner
from bearsketch.learners.noise import noise_of
from bearsketch.metrics import NumberScores
from bearsketch.training.order import LEAST_EXAMPLES, Order, smooth_targets
from bearsketch.training.warnings import RunWarning

if TYPE_CHECKING:
    from bearsketch.training.labelling import Labelling
    from bearsketch.training.progressive import Progressive

# A loss so many times that of guessing is reported, and so many standard errors above it.
WORSE, SPREADS = 1.05, 3.0
MOST_EMPTY = 0.5  # share of examples without a feature that no warning is given for

Curve = Sequence[Sequence[Any]]


def check_weighed(learner: Learner, examples: int) -> None:
    """Refuse data whose examples all have weight 0: nothing was learned of them."""
    if examples and learner._core.counters.weight <= 0.0:
        raise weightless(examples, "learned")


def weightless(examples: int, done: str) -> DataError:
    """Say that all examples have weight 0, so that nothing was learned or tested."""
    return DataError(
        f"all {examples:,} examples have weight 0: nothing was {done}",
        code="DATA-WEIGHT",
        hint="Check what the weights are ({weight_column}; the second number of a line of VW text; "
        "the weights of batches), or leave them out.",
    )


def last_warnings(
    learner: Learner, first: Progressive, passes: int, labelling: Labelling
) -> list[RunWarning]:
    """Warn of what only the end of a run can tell.

    Parameters
    ----------
    learner : Learner
    first : Progressive
        Results of the first pass.
    passes : int
    labelling : Labelling
        Knows whether all classes should have come.
    """
    order, numbers, curve = first.order, first.numbers, first.curve.points()
    only = order.only if order is not None and labelling.every_class else None
    deviation = None if numbers is None else numbers.deviation
    found = [
        None if only is None else RunWarning("LABEL-ONE", {"label": labelling.label(only)}),
        order_warning(order, numbers, passes),
        worse_than_guessing(order, curve, deviation),
        too_small(learner),
    ]
    return [warning for warning in found if warning is not None] + of_evidence(learner)


def of_evidence(learner: Learner) -> list[RunWarning]:
    """Warn of what the error rates of proven names do not cover."""
    evidence = learner.evidence
    found = [] if evidence is None else evidence.warnings()
    return [RunWarning(code, {"message": text}) for code, text in found]


def order_warning(
    order: Order | None, numbers: NumberScores | None, passes: int
) -> RunWarning | None:
    """Warn of labels or targets that come in an order of their own."""
    if order is not None:
        return order.warning(passes)
    return None if numbers is None else smooth_targets(numbers, passes)


def without_features(empty: int, examples: int, form: str) -> list[RunWarning]:
    """Warn where most examples have no feature.

    Examples
    --------
    >>> print(without_features(9, 10, "fastq")[0])
    9 of 10 examples have no feature: are the reads shorter than the k-mers?
    >>> without_features(5, 10, "vw")
    []
    """
    if empty <= MOST_EMPTY * examples:
        return []
    facts = {"empty": empty, "examples": examples, "reads": form in ("fasta", "fastq")}
    return [RunWarning("DATA-FEATURES", facts)]


def too_small(learner: Learner) -> RunWarning | None:
    """Warn of a memory that is too small by the verdict of ``bearsketch info``."""
    noise = noise_of(learner)
    if noise is None or noise.verdict != "too small":
        return None
    return RunWarning("MEM-SMALL", {"verdict": noise.words})


def worse_than_guessing(
    order: Order | None, curve: Curve, deviation: float | None = None
) -> RunWarning | None:
    """Warn of predictions that were worse than those that need no features.

    Only the second half of the curve is looked at: the first examples have to be wrong.
    """
    if not curve or curve[-1][0] < LEAST_EXAMPLES:
        return None
    found, n = late_loss(curve)
    if order is not None:
        guess, spread = order.guessing()
        # Rare labels come in luck.
        what, clearly = "loss", WORSE * guess + SPREADS * spread / math.sqrt(n)
    elif deviation is not None:
        found, guess = math.sqrt(2.0 * found), deviation  # the loss is half the squared error
        what, clearly = "RMSE", WORSE * guess
    else:
        return None
    if found <= clearly or guess <= 0.0:  # guessing that is never wrong cannot be beaten
        return None
    return RunWarning("DATA-LOSS", {"what": what, "found": found, "guess": guess})


def late_loss(curve: Curve) -> tuple[float, int]:
    """Mean loss of the second half of the points of a curve, and how many examples these are.

    Examples
    --------
    >>> late_loss([(100, 9.0), (200, 0.5), (300, 0.3)])
    (0.4, 200)
    """
    first = len(curve) // 2
    start = curve[first - 1][0] if first else 0
    sizes = np.diff([start, *(point[0] for point in curve[first:])])
    n = int(sizes.sum())
    return float((sizes * [point[1] for point in curve[first:]]).sum() / n), n
