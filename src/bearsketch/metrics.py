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

    Examples
    --------
    >>> scores = ClassScores(2)
    >>> scores.add(np.array([0, 1, 1]), np.array([[-2.0], [1.0], [-1.0]]))
    >>> round(scores.accuracy, 3), scores.auc
    (0.667, 1.0)
    """

    SUMS = ("examples", "weight", "right", "_loss", "_positive")

    def __init__(self, n_classes: int, *, confusion: bool = False) -> None:
        self.n_classes = n_classes
        self.examples = 0
        self.weight = self.right = self._loss = self._positive = 0.0
        self.ranking = Ranking()
        self.confusion = np.zeros((n_classes, n_classes)) if confusion else None

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


def make_scores(loss: str, n_classes: int, *, confusion: bool = False) -> Scores:
    """Scores that fit a loss."""
    return NumberScores() if loss == "squared" else ClassScores(n_classes, confusion=confusion)


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
