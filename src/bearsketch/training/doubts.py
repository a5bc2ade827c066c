"""What a run finds odd about its data or its result, said once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bearsketch.advice import either
from bearsketch.exceptions import DataError
from bearsketch.learners import Learner
from bearsketch.learners.noise import noise_of
from bearsketch.learners.recipes import EXACT, EXACT_PASSES
from bearsketch.metrics import NumberScores
from bearsketch.training.order import LEAST_EXAMPLES, Order, smooth_targets

# A loss so many times that of guessing is told, and so many standard errors above it.
WORSE, SPREADS = 1.05, 3.0
MOST_NOISE = 0.1  # share of the variance that exact solutions may leave
MOST_EMPTY = 0.5  # share of examples without a feature that nothing is said of

Curve = Sequence[Sequence[Any]]


class Doubt(NamedTuple):
    """Something odd that was accepted; a user is told ``warning[code] message``."""

    code: str
    message: str


def check_weighed(learner: Learner, examples: int) -> None:
    """Refuse data whose examples all have weight 0: nothing was learned of them."""
    if examples and learner._core.counters.weight <= 0.0:
        raise weightless(examples, "learned")


def weightless(examples: int, done: str) -> DataError:
    """Say that all examples have weight 0, so that nothing was learned or tested."""
    weights = either("weight_column or the weights of the batches", "--weight-column")
    return DataError(
        f"examples must not all have weight 0, got {examples:,} that have: nothing was {done}",
        code="DATA-WEIGHT",
        hint=f"Check what the weights are ({weights}; the second number of a line of VW text), "
        "or leave them out.",
    )


def last_doubts(
    learner: Learner,
    order: Order | None,
    passes: int,
    curve: Curve,
    numbers: NumberScores | None = None,
    *,
    named: bool = False,
) -> list[Doubt]:
    """Doubts that only the end of a run can tell.

    Parameters
    ----------
    learner : Learner
    order : Order or None
        Of the labels of the first pass; None for regression.
    passes : int
    curve : sequence of (examples so far, mean loss, ...)
        Of the first pass.
    numbers : NumberScores, optional
        Of the first pass, for regression.
    named : bool
        Whether the classes were named, so that some may be missing.
    """
    only = None if order is None or named else order.only
    deviation = None if numbers is None else numbers.deviation
    told = {
        "LABEL-ONE": None if only is None else one_label(learner.labels.label(only)),
        "DATA-ORDER": odd_order(order, numbers, passes),
        "DATA-LOSS": worse_than_guessing(order, curve, deviation),
        "DATA-NOISE": follows_noise(learner, curve, deviation),
        "MEM-SMALL": too_small(learner),
    }
    return [Doubt(code, message) for code, message in told.items() if message is not None]


def odd_order(order: Order | None, numbers: NumberScores | None, passes: int) -> str | None:
    """Say that labels or targets come in an order of their own, where they do."""
    if order is not None:
        return order.warning(passes)
    return None if numbers is None else smooth_targets(numbers, passes)


def one_label(label: Any) -> str:
    """Say that all examples have one label.

    Examples
    --------
    >>> print(one_label(1))
    all examples have label 1: a model of one class tells nothing apart; check which column or \
field is the label, or name all classes (classes=[...])
    """
    return (
        f"all examples have label {label}: a model of one class tells nothing apart; check which "
        "column or field is the label, or name all classes "
        f"({either('classes=[...]', '--classes a,b')})"
    )


def without_features(empty: int, examples: int, form: str) -> list[Doubt]:
    """Say that most examples have no feature, where it is so.

    Examples
    --------
    >>> print(without_features(9, 10, "fastq")[0].message)
    9 of 10 examples have no feature: are the reads shorter than the k-mers?
    >>> without_features(5, 10, "vw")
    []
    """
    if empty <= MOST_EMPTY * examples:
        return []
    why = ": are the reads shorter than the k-mers?" if form in ("fasta", "fastq") else ""
    return [Doubt("DATA-FEATURES", f"{empty:,} of {examples:,} examples have no feature{why}")]


def too_small(learner: Learner) -> str | None:
    """Say that the memory is too small, where it is by the verdict of ``bearsketch info``."""
    noise = noise_of(learner)
    if noise is None or noise.verdict != "too small":
        return None
    how = either("memory, k; bearsketch.planning.plan", "--memory, -k; bearsketch plan")
    return f"{noise.words} ({how} says what a budget buys)"


def worse_than_guessing(
    order: Order | None, curve: Curve, deviation: float | None = None
) -> str | None:
    """Say that predictions were worse than those that need no features, where they were.

    Only the second half of the curve is looked at: the first examples have to be wrong.
    """
    if not curve or curve[-1][0] < LEAST_EXAMPLES:
        return None
    found, n = late_loss(curve)
    if order is not None:
        guess, spread = order.guessing()
        what, best, clearly = "loss", "the shares of the labels", WORSE * guess
        clearly += SPREADS * spread / math.sqrt(n)  # rare labels come in luck
    elif deviation is not None:
        found, guess = math.sqrt(2.0 * found), deviation  # the loss is half the squared error
        what, best, clearly = "RMSE", "the mean", WORSE * guess
    else:
        return None
    if found <= clearly or guess <= 0.0:  # guessing that is never wrong cannot be beaten
        return None
    return (
        "in the second half of the data, predictions before learning were worse than always "
        f"giving {best} ({what} {found:.4g} against {guess:.4g}): numeric columns that grow along "
        "the data, data in a particular order, or features that tell nothing do this"
    )


def follows_noise(learner: Learner, curve: Curve, deviation: float | None) -> str | None:
    """Say that many passes over numbers solve for what is mostly noise, where it is so."""
    exact = learner.config.learner in EXACT and learner.config.direction == "lbfgs"
    if not exact or not curve or curve[-1][0] < LEAST_EXAMPLES or not deviation:
        return None
    left = 2.0 * late_loss(curve)[0] / deviation**2  # the loss is half the squared error
    if left < MOST_NOISE:
        return None
    return (
        f"{EXACT_PASSES} passes or more solve for the selected features exactly, and so follow "
        f"noise; after half of the first pass {min(left, 1.0):.0%} of the variance was noise or "
        "not learned yet: compare with a run of 3 passes on examples that neither has learned "
        f"({either('passes=3', '--passes 3 --holdout 10%')})"
    )


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
