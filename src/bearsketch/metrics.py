"""How good predictions are, summed up over a stream in bounded memory."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bearsketch import _core

Reals = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

_BINS = 1 << 16  # of a histogram of scores, see scores.hpp
_ROUNDING = 1e-12  # a spread so small beside the mean is that of equal numbers


class Sums(NamedTuple):
    """What some examples add up to."""

    weight: float
    right: float  # weight of what was predicted right
    loss: float
    positive: float  # weight of the second of two classes


class Ranking:
    """Area under the ROC curve, from a histogram of scores: 1 MiB however many examples.

    Scores in one bin count as ties, each worth a half. So the exact area is at most
    :attr:`error` away, and as a rule far less.

    Examples
    --------
    >>> ranking = Ranking()
    >>> ranking.add(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    >>> ranking.auc
    0.75
    """

    def __init__(self) -> None:
        self._mass: Reals | None = None

    def add(self, scores: Reals, positive: npt.NDArray[Any], weights: Reals | None = None) -> None:
        """Enter scores of examples, and which of them are positive."""
        self.add_margins(scores, positive, weights)

    def add_margins(
        self, scores: Reals, positive: npt.NDArray[Any], weights: Reals | None = None
    ) -> Sums:
        """Enter scores that are margins; returns what these examples add up to."""
        if self._mass is None:
            self._mass = np.zeros((2, _BINS))
        given = (positive, scores) if weights is None else (positive, scores, weights)
        numbers, margins, *rest = (np.ascontiguousarray(part, dtype=np.float64) for part in given)
        weighted = rest[0] if rest else None
        return Sums(*_core.add_scores(numbers, margins, weighted, self._mass.ravel()))

    @property
    def auc(self) -> float | None:
        """Share of pairs in order; None until there are examples of both sides."""
        pairs = self._pairs()
        if pairs is None or self._mass is None:
            return None
        negative, positive = self._mass
        below = np.cumsum(negative) - 0.5 * negative
        return _dot(positive, below) / pairs

    @property
    def error(self) -> float | None:
        """Largest possible distance of :attr:`auc` from the exact area."""
        pairs = self._pairs()
        if pairs is None or self._mass is None:
            return None
        return 0.5 * _dot(self._mass[0], self._mass[1]) / pairs

    def histogram(self) -> dict[str, npt.NDArray[Any]]:
        """Places of the histogram that are not empty, and what is in them."""
        mass = np.zeros((2, 0)) if self._mass is None else self._mass
        bins = np.flatnonzero(mass)
        return {"bins": bins.astype(np.uint64), "mass": mass.ravel()[bins]}

    def restore(self, bins: npt.NDArray[np.uint64], mass: Reals) -> None:
        """Inverse of :meth:`histogram`."""
        size = 2 * _BINS
        if bins.dtype != np.uint64 or mass.dtype != np.float64 or bins.shape != mass.shape:
            raise ValueError("a histogram must have one number for each bin")
        if bins.size and not (bins.max() < size and np.isfinite(mass).all()):
            raise ValueError(f"a histogram must have finite numbers in bins below {size}")
        self._mass = np.zeros((2, _BINS)) if bins.size else None
        if self._mass is not None:
            self._mass.ravel()[bins.astype(np.intp)] = mass

    def to_bytes(self) -> bytes:
        """Histogram as bytes, none where it is empty; :meth:`join` takes them."""
        return b"".join(array.tobytes() for array in self.histogram().values())

    def join(self, part: bytes) -> None:
        """Enter all that another ranking holds, given as its bytes."""
        bins, mass = np.frombuffer(part, np.uint64), np.frombuffer(part, np.float64)
        other, half = Ranking(), len(bins) // 2
        other.restore(bins[:half], mass[half:])
        if other._mass is not None:
            self._mass = other._mass if self._mass is None else self._mass + other._mass

    def roc(self, points: int = 200) -> list[tuple[float, float]]:
        """Points of (false positive rate, true positive rate), from (0, 0) to (1, 1).

        Examples
        --------
        >>> ranking = Ranking()
        >>> ranking.add(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
        >>> ranking.roc()
        [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)]
        """
        if self._pairs() is None or self._mass is None:
            return []
        used = np.flatnonzero(self._mass.sum(axis=0))[::-1]
        rates = np.cumsum(self._mass[:, used], axis=1) / self._mass.sum(axis=1, keepdims=True)
        keep = np.unique(np.linspace(0, len(used) - 1, min(points, len(used))).round().astype(int))
        return [(0.0, 0.0), *((float(x), float(y)) for x, y in rates[:, keep].T)]

    def _pairs(self) -> float | None:
        total = 0.0 if self._mass is None else float(self._mass.sum(axis=1).prod())
        return total or None


def _dot(a: Reals, b: Reals) -> float:
    """Sum of products; that of ``np.dot`` depends on how many threads its library has."""
    return float((a * b).sum())


# Bins of probabilities: those up to a half by exponent and the first five bits of the fraction,
# those above by what is left to 1. Neighbours differ by at most 3 %, near 0 and near 1 as well.
_OCTAVES, _PER_OCTAVE = 32, 32
_HALF = _OCTAVES * _PER_OCTAVE


def _probability_bins(p: Reals) -> Numbers:
    fraction, exponent = np.frexp(np.minimum(p, 1.0 - p))
    octave = exponent.astype(np.intp) + _OCTAVES - 1
    within = ((fraction - 0.5) * (2 * _PER_OCTAVE)).astype(np.intp)
    bins = np.where((octave < 0) | (fraction == 0.0), 0, octave * _PER_OCTAVE + within)
    return np.asarray(np.where(p > 0.5, 2 * _HALF - 1 - bins, bins), dtype=np.intp)


def _least_probability(number: int) -> float:
    """Give the lower end of a bin; what is there is at least that probable."""
    if number >= _HALF:
        return 1.0 - _least_probability(2 * _HALF - number)
    octave, within = divmod(number, _PER_OCTAVE)
    return math.ldexp(0.5 + within / (2 * _PER_OCTAVE), octave - _OCTAVES + 1) if number else 0.0


class CalibrationBin(NamedTuple):
    """Predictions of nearly one probability; ``low`` and ``high`` hold the share 95 times of 100.

    They are for the share that the predictions have in truth (Wilson's interval).
    """

    probability: float
    share: float
    low: float
    high: float
    examples: float


class Answered(NamedTuple):
    """What is left when only predictions of at least ``min_proba`` are given."""

    min_proba: float
    share: float
    accuracy: float


class Reliability:
    """How often predicted probabilities come true, from a histogram: 64 KiB for any stream.

    The calibration error is the mean distance, over 15 bins of equal weight, between what was
    predicted and what happened. It is above 0 even for probabilities that hold, by chance;
    :attr:`chance` is its mean over 100 simulations in which the predicted probabilities hold.

    Examples
    --------
    >>> reliability = Reliability()
    >>> reliability.add(np.full(100, 0.75), np.arange(100) < 70)
    >>> round(reliability.error, 3)
    0.05
    >>> 0.03 < reliability.chance < 0.04
    True
    """

    BINS = 15
    SIMULATIONS = 100

    def __init__(self) -> None:
        # Weight, its square, weight times probability, weight of what came true.
        self._sums = np.zeros((4, 2 * _HALF))

    def add(self, p: Reals, happened: npt.NDArray[Any], weights: Reals | None = None) -> None:
        """Enter probabilities, and whether what they were of was so."""
        w = np.ones(len(p)) if weights is None else weights
        bins = _probability_bins(p)
        for sums, values in zip(self._sums, (w, w * w, w * p, w * happened), strict=True):
            sums += np.bincount(bins, values, minlength=2 * _HALF)

    @property
    def error(self) -> float | None:
        """Calibration error; None without examples."""
        joined = self._joined()
        return None if joined is None else _distance(joined, joined[3])

    @property
    def chance(self) -> float | None:
        """Mean calibration error by chance, were the probabilities true."""
        joined = self._joined()
        if joined is None:
            return None
        used = self._sums[0] > 0.0
        weight, squares, predicted, _ = self._sums[:, used]
        effective = np.maximum(np.rint(weight * weight / squares), 1.0).astype(np.int64)
        shares = np.clip(predicted / weight, 0.0, 1.0)
        drawn = np.random.default_rng(0).binomial(
            effective, shares, size=(self.SIMULATIONS, len(shares))
        )
        groups = self._groups()[used]
        errors = [
            _distance(joined, np.bincount(groups, weight * (some / effective), minlength=self.BINS))
            for some in drawn
        ]
        return float(np.mean(errors))

    def curve(self) -> list[CalibrationBin]:
        """Bins of about equal weight, by rising probability; fewer where predictions are equal."""
        joined = self._joined()
        if joined is None:
            return []
        return [
            CalibrationBin(p / w, true / w, *_wilson(true / w, w * w / squares), w)
            for w, squares, p, true in joined.T.tolist()
            if w > 0.0
        ]

    def answered(self, *, two_sided: bool) -> list[Answered]:
        """Accuracy where only the surest predictions are given: all, 95 %, ..., 5 % of them.

        Parameters
        ----------
        two_sided : bool
            Whether the probabilities are of the second of two classes; else they are of the
            class that was predicted.
        """
        weight, _, _, true = self._sums
        if two_sided:  # a probability of .2 is one of .8 for the other class
            weight = weight[_HALF:] + weight[:_HALF][::-1]
            true = true[_HALF:] + (self._sums[0] - true)[:_HALF][::-1]
        first = _HALF if two_sided else 0
        total = float(weight.sum())
        if not total:
            return []
        given, right = (np.cumsum(sums[::-1])[::-1] for sums in (weight, true))
        found: list[Answered] = []
        for percent in range(100, 0, -5):
            # The bin above which less than that is left; the least probable of all is in the first.
            at = int(np.flatnonzero(given >= total * percent / 100 * (1 - 1e-12))[-1])
            share, accuracy = float(given[at] / total), float(right[at] / given[at])
            least = _least_probability(first + at)
            if not found or share < found[-1].share:
                found.append(Answered(least, share, accuracy))
        return found

    def _groups(self) -> Numbers:
        """Give the large bin of each small one, by where the middle of its weight lies."""
        before = np.cumsum(self._sums[0]) - 0.5 * self._sums[0]
        total = float(self._sums[0].sum())
        groups = (before / total * self.BINS).astype(np.intp)
        return np.asarray(np.minimum(groups, self.BINS - 1))

    def _joined(self) -> Reals | None:
        if not self._sums[0].sum():
            return None
        groups = self._groups()
        return np.array([np.bincount(groups, sums, minlength=self.BINS) for sums in self._sums])


def _distance(joined: Reals, true: npt.NDArray[Any]) -> float:
    return float(np.abs(joined[2] - true).sum() / joined[0].sum())


def _wilson(share: float, examples: float) -> tuple[float, float]:
    """Interval that holds a true share 95 times of 100, from one observed in so many examples."""
    square = 1.959963984540054**2 / examples
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * share * (1 - share) + square * square / 4) / (1 + square)
    return max(middle - half, 0.0), min(middle + half, 1.0)


class _Sums:
    """Sums by name, as a checkpoint keeps them."""

    SUMS: tuple[str, ...] = ()
    examples: int

    def sums(self) -> dict[str, float]:
        """Everything but the histogram."""
        return {name: getattr(self, name) for name in self.SUMS}

    def histogram(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays beside the sums; none."""
        return {}

    def restore(self, sums: dict[str, float], bins: Any = None, mass: Any = None) -> None:
        """Inverse of :meth:`sums` and :meth:`histogram`."""
        for name in self.SUMS:
            setattr(self, name, float(sums[name]))
        self.examples = int(sums["examples"])


class ClassScores(_Sums):
    """Accuracy, log-loss, confusion and (two classes) AUC of a stream of predictions.

    Examples count by their weight.

    Parameters
    ----------
    n_classes : int
    confusion : bool
        Whether to keep the matrix of true against predicted classes.
    probabilities : bool
        Whether to measure probabilities as well: Brier score and :class:`Reliability`, of the
        second of two classes, or of whichever class is predicted.

    Examples
    --------
    >>> scores = ClassScores(2)
    >>> scores.add(np.array([0, 1, 1]), np.array([[-2.0], [1.0], [-1.0]]))
    >>> round(scores.accuracy, 3), scores.auc
    (0.667, 1.0)
    """

    SUMS = ("examples", "weight", "right", "_loss", "_positive")

    def __init__(
        self, n_classes: int, *, confusion: bool = False, probabilities: bool = False
    ) -> None:
        self.n_classes = n_classes
        self.examples = 0
        self.weight = self.right = self._loss = self._positive = 0.0
        self.ranking = Ranking()
        self.confusion = np.zeros((n_classes, n_classes)) if confusion else None
        self.reliability = Reliability() if probabilities else None
        self._squares = 0.0

    def add(self, numbers: npt.NDArray[Any], margins: Reals, weights: Reals | None = None) -> None:
        """Enter true class numbers and margins of shape (n, 1) or (n, n_classes)."""
        self.examples += len(numbers)
        if margins.shape[1] == 1:
            sums = self.ranking.add_margins(margins[:, 0], numbers, weights)
        else:
            sums = _several_classes(np.asarray(numbers, dtype=np.intp), margins, weights)
        self.weight += sums.weight
        self.right += sums.right
        self._loss += sums.loss
        self._positive += sums.positive
        if self.confusion is not None:
            cells = (np.asarray(numbers, dtype=np.intp), class_numbers(margins))
            np.add.at(self.confusion, cells, 1.0 if weights is None else weights)
        if self.reliability is not None:
            self._add_probabilities(np.asarray(numbers, dtype=np.intp), margins, weights)

    def _add_probabilities(self, numbers: Numbers, margins: Reals, weights: Reals | None) -> None:
        assert self.reliability is not None
        p = _core.probabilities(np.ascontiguousarray(margins))
        w = np.ones(len(numbers)) if weights is None else weights
        if p.shape[1] == 1:
            self._squares += _dot(w, (p[:, 0] - numbers) ** 2)
            self.reliability.add(p[:, 0], numbers == 1, weights)
            return
        rows, predicted = np.arange(len(numbers)), class_numbers(margins)
        own = p[rows, numbers]
        self._squares += _dot(w, (p**2).sum(axis=1) - 2.0 * own + 1.0)
        self.reliability.add(p[rows, predicted], predicted == numbers, weights)

    def join(self, other: ClassScores) -> None:
        """Enter all that another holds."""
        for name in self.SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.ranking.join(other.ranking.to_bytes())

    def histogram(self) -> dict[str, npt.NDArray[Any]]:
        """Histogram of the scores of two classes."""
        return self.ranking.histogram()

    def restore(self, sums: dict[str, float], bins: Any = None, mass: Any = None) -> None:
        """Inverse of :meth:`sums` and :meth:`histogram`."""
        super().restore(sums)
        self.ranking.restore(bins, mass)

    @property
    def accuracy(self) -> float | None:
        """Share of examples predicted right."""
        return self.right / self.weight if self.weight else None

    @property
    def log_loss(self) -> float | None:
        """Mean of minus the log of the probability given to the true class."""
        return self._loss / self.weight if self.weight else None

    @property
    def brier(self) -> float | None:
        """Mean squared distance of probabilities from what happened; None where not measured.

        Of more than two classes it is summed over them.
        """
        measured = self.reliability is not None and self.weight
        return self._squares / self.weight if measured else None

    @property
    def auc(self) -> float | None:
        """Area under the ROC curve; None for more than two classes."""
        return self.ranking.auc

    @property
    def skewed(self) -> bool:
        """Whether one of two classes has less than a tenth of the examples."""
        if self.n_classes != 2 or not self.weight:
            return False
        share = self._positive / self.weight
        return min(share, 1.0 - share) < 0.1

    def to_json(self) -> dict[str, Any]:
        """Results under their documented keys."""
        plain: dict[str, Any] = {
            "accuracy": self.accuracy,
            "auc": self.auc,
            "log_loss": self.log_loss,
        }
        if self.reliability is not None:
            plain |= {
                "brier": self.brier,
                "calibration_error": self.reliability.error,
                "calibration_error_by_chance": self.reliability.chance,
                "answered": [
                    row._asdict()
                    for row in self.reliability.answered(two_sided=self.n_classes == 2)
                ],
                "reliability": [row._asdict() for row in self.reliability.curve()],
            }
        if self.confusion is not None:
            whole = bool((self.confusion == np.rint(self.confusion)).all())
            table = self.confusion.astype(np.int64) if whole else self.confusion
            plain["confusion"] = table.tolist()
        return plain


class NumberScores(_Sums):
    """Root mean square error and R2 of a stream of predicted numbers.

    Examples
    --------
    >>> scores = NumberScores()
    >>> scores.add(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    >>> round(scores.rmse, 3), scores.r2
    (0.577, 0.5)
    """

    SUMS = ("examples", "weight", "_squares", "_mean", "_spread", "_steps", "_last")

    def __init__(self) -> None:
        self.examples = 0
        self.weight = self._squares = self._mean = self._spread = self._steps = self._last = 0.0

    def add(self, targets: Reals, predicted: Reals, weights: Reals | None = None) -> None:
        """Enter true and predicted numbers, shape (n,) or (n, 1)."""
        predicted = np.asarray(predicted).reshape(len(targets))
        w = np.ones(len(targets)) if weights is None else weights
        added = float(w.sum())
        self._follow(targets)
        self.examples += len(targets)
        if added == 0.0:
            return
        self._squares += _dot(w, (targets - predicted) ** 2)
        mean = _dot(w, targets) / added
        self._join_spread(added, mean, _dot(w, (targets - mean) ** 2))

    def join(self, later: NumberScores) -> None:
        """Enter all that another holds; the step from the last target to its first is not known."""
        self.examples += later.examples
        self._steps, self._last = self._steps + later._steps, later._last
        if later.weight:
            self._squares += later._squares
            self._join_spread(later.weight, later._mean, later._spread)

    def _join_spread(self, added: float, mean: float, spread: float) -> None:
        """Join means and spreads of two parts exactly; a running sum of squares would cancel."""
        total = self.weight + added
        self._spread += spread
        self._spread += (mean - self._mean) ** 2 * self.weight * added / total
        self._mean += (mean - self._mean) * added / total
        self.weight = total

    def _follow(self, targets: Reals) -> None:
        if len(targets) == 0:
            return
        if self.examples:
            self._steps += float(targets[0] - self._last) ** 2
        self._steps += float(((targets[1:] - targets[:-1]) ** 2).sum())
        self._last = float(targets[-1])

    @property
    def roughness(self) -> float | None:
        """Mean square of the step from target to target, 1 in a random order and near 0 in theirs.

        Weights do not count. None where all targets are equal.
        """
        if self.examples < 2 or not self._spread:
            return None
        return self._steps / (self.examples - 1) / (2.0 * self._spread / self.weight)

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared error."""
        return math.sqrt(self._squares / self.weight) if self.weight else None

    @property
    def deviation(self) -> float | None:
        """Root of the mean squared error of always giving the mean; 0 where all are equal."""
        if not self.weight:
            return None
        found = math.sqrt(self._spread / self.weight)
        return found if found > _ROUNDING * abs(self._mean) else 0.0

    @property
    def r2(self) -> float | None:
        """One minus the squared error over that of the mean; None where all targets are equal."""
        return 1.0 - self._squares / self._spread if self._spread else None

    def to_json(self) -> dict[str, Any]:
        """Results under their documented keys."""
        return {"rmse": self.rmse, "r2": self.r2}


def _several_classes(numbers: Numbers, margins: Reals, weights: Reals | None) -> Sums:
    w = np.ones(len(numbers)) if weights is None else weights
    right = float(w[class_numbers(margins) == numbers].sum())
    return Sums(float(w.sum()), right, _dot(w, log_losses(numbers, margins)), 0.0)


Scores = ClassScores | NumberScores


def make_scores(
    loss: str, n_classes: int, *, confusion: bool = False, probabilities: bool = False
) -> Scores:
    """Scores that fit a loss."""
    if loss == "squared":
        return NumberScores()
    return ClassScores(n_classes, confusion=confusion, probabilities=probabilities)


def class_numbers(margins: Reals) -> Numbers:
    """Most probable class number of each row of margins."""
    if margins.shape[1] == 1:
        return np.asarray(margins[:, 0] > 0, dtype=np.intp)
    return np.asarray(np.argmax(margins, axis=1))


def log_losses(numbers: Numbers, margins: Reals) -> Reals:
    """Log-loss of each example, without overflow.

    Examples
    --------
    >>> log_losses(np.array([1]), np.array([[0.0]])).round(3)
    array([0.693])
    """
    if margins.shape[1] == 1:
        away = np.where(numbers == 1, -1.0, 1.0) * margins[:, 0]
        return np.asarray(np.maximum(away, 0.0) + _core.log1p(_core.exp(-np.abs(away))))
    top = margins.max(axis=1, keepdims=True)
    shares = _core.exp((margins - top).ravel()).reshape(margins.shape)
    norm = _core.log(shares.sum(axis=1)) + top[:, 0]
    return np.asarray(norm - margins[np.arange(len(numbers)), numbers])
