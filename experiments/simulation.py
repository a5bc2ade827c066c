"""Sparse recovery as in the paper: Gaussian rows, k true features, are exactly those found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.exceptions import DivergedError, LimitError, ParameterError
from bearsketch.learners import RECIPES, Automatic, Constant, Learner, make_learner

METHODS = ("bear+", "bear", "mission", "newton", "sgd", "olbfgs")
LARGEST_DATA = 1 << 28
MINIBATCHES_AT_ONCE = 5  # per call of the core: few calls, and keys that stay in the cache


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of an experiment: data, learner and stopping rule; only the seed is missing.

    Attributes
    ----------
    learner : str
        One of ``METHODS``. Gradients see the selection, as in algorithm 2 of the paper.
    compression : float
        Possible features divided by cells; ignored by the dense learners. ``bear+`` has the bytes
        of as many floats for all that it keeps.
    step : float
        The constant step; with ``automatic`` the fraction phi of the automatic one. ``bear+`` takes
        none, as it takes no minibatch, depth, query or history.
    query : str
        ``median`` or ``mean`` of the rows of the sketch.
    passes : int
        Most passes over the data; fewer when every gradient of a pass is below ``tolerance``.
    noise : float
        Standard deviation of the Gaussian noise on the labels.
    summed : bool
        Whether ``step`` is meant for gradients summed over a minibatch, as the paper's text has
        them, instead of averaged: for a first-order learner, a step ``batch_size`` times larger.
    """

    learner: str = "bear+"
    compression: float = 3.0
    step: float = 0.5
    automatic: bool = True
    query: str = "mean"
    passes: int = 40
    noise: float = 0.0
    summed: bool = False
    depth: int = 3
    batch_size: int = 20
    history: int = 5
    p: int = 1000
    n: int = 900
    k: int = 8
    tolerance: float = 1e-7

    @property
    def dense(self) -> bool:
        """Whether one weight per possible feature is kept."""
        return RECIPES[self.learner].storage == "dense"

    @property
    def width(self) -> int:
        """Columns of the sketch that the compression leaves."""
        width = int(self.p / self.compression / self.depth + 0.5)
        if width < 1:
            raise ParameterError(
                f"compression must leave at least one cell per row, got {self.compression} for "
                f"p={self.p}, k={self.k} and depth {self.depth}",
                code="SIM-COMPRESSION",
                hint="Give a smaller compression.",
            )
        return width

    def check(self) -> None:
        """Refuse what cannot be simulated."""
        if self.learner not in METHODS:
            raise ParameterError(
                f"learner must be one of {', '.join(METHODS)}, got {self.learner!r}",
                code="SIM-LEARNER",
            )
        if not 1 <= self.k <= self.p:
            raise ParameterError(
                f"k must be 1 to p={self.p}, got {self.k}",
                code="SIM-K",
                hint="Give fewer true features or a larger p.",
            )
        for name in ("compression", "step", "tolerance"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ParameterError(f"{name} must be finite and above 0, got {value}")
        if not (math.isfinite(self.noise) and self.noise >= 0):
            raise ParameterError(f"noise must be finite and not negative, got {self.noise}")
        if self.n * self.p > LARGEST_DATA:
            raise LimitError(
                f"n x p must be at most {LARGEST_DATA:,}, since every row is full, got "
                f"{self.n * self.p:,}",
                code="SIM-SIZE",
                hint="Give a smaller n or p.",
            )
        make(self, seed=0)

    def to_json(self) -> dict[str, Any]:
        """Fields as plain values."""
        return asdict(self)


class Data(NamedTuple):
    """Rows, labels and the truth; ``y`` is computed in double from the rounded rows."""

    X: npt.NDArray[np.float32]
    y: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    support: npt.NDArray[np.intp]


class Trial(NamedTuple):
    """What one run found. ``l2_error`` is None for a run that diverged."""

    seed: int
    success: bool
    l2_error: float | None
    passes: int
    converged: bool
    diverged: bool


class Summary(NamedTuple):
    """Averages over trials, with standard errors; ``l2_error`` leaves diverged runs out."""

    trials: int
    success: float
    success_se: float
    l2_error: float | None
    l2_error_se: float | None
    passes: float
    converged: float
    diverged: float


def make_data(setting: Setting, seed: int) -> Data:
    """Draw normal rows, k weights in [0.8, 1.2] at random places, and labels linear in them.

    Examples
    --------
    >>> data = make_data(Setting(p=50, n=30, k=3), seed=0)
    >>> data.X.shape, len(data.support), bool((data.weights[data.support] >= 0.8).all())
    ((30, 50), 3, True)
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((setting.n, setting.p)).astype(np.float32)
    support = np.sort(random.choice(setting.p, setting.k, replace=False))
    weights = np.zeros(setting.p)
    weights[support] = random.uniform(0.8, 1.2, setting.k)
    # A plain sum instead of a matrix product: the same bits whatever BLAS is installed.
    y = (X[:, support].astype(np.float64) * weights[support]).sum(axis=1)
    if setting.noise:
        y += setting.noise * random.standard_normal(setting.n)
    return Data(X, y, weights, support)


def make(setting: Setting, seed: int) -> Learner:
    """Make the learner of a setting; all of one seed and width share their hash functions."""
    if setting.learner == "bear+":  # of as many bytes as floats of the others take
        memory = int(4 * setting.p / setting.compression)
        return make_learner("bear+", k=setting.k, memory=memory, loss="squared", seed=seed)
    size: dict[str, int] = (
        {"dimension": setting.p}
        if setting.dense
        else {"width": setting.width, "depth": setting.depth}
    )
    return make_learner(
        setting.learner,
        k=setting.k,
        loss="squared",
        step_size=_step(setting),
        history=setting.history,
        query=setting.query,
        reads="selection",
        batch_size=setting.batch_size,
        seed=seed,
        precision="float64",
        **size,  # type: ignore[arg-type]
    )


def _step(setting: Setting) -> Automatic | Constant:
    if setting.automatic:
        return Automatic(setting.step)
    return Constant(setting.step * (setting.batch_size if setting.summed else 1))


def run_trial(setting: Setting, seed: int) -> Trial:
    """Learn one data set until gradients vanish, passes run out or the run diverges.

    Examples
    --------
    >>> run_trial(Setting(p=50, n=60, k=2, compression=1.0), seed=1).success
    True
    """
    data = make_data(setting, seed)
    learner = make(setting, seed)
    random = np.random.default_rng([seed, 1])
    done, converged = 0, False
    while done < setting.passes and not converged:
        try:
            _one_pass(learner, data, random.permutation(setting.n))
        except DivergedError:
            return Trial(seed, False, None, done + 1, False, True)
        done += 1
        # bear+ takes no steps along gradients, and makes all passes.
        converged = learner.config.update != "posterior" and (
            learner.gradient_norm < setting.tolerance
        )
        learner.finish_pass()
    selected = learner.selected()
    keys = selected.keys.astype(np.intp)
    found = np.zeros(setting.p)
    found[keys] = selected.weights
    success = np.array_equal(np.sort(keys), data.support)
    error = float(np.sqrt(np.sum((found - data.weights) ** 2)))
    return Trial(seed, success, error, done, converged, False)


def _one_pass(learner: Learner, data: Data, order: npt.NDArray[np.intp]) -> None:
    p = data.X.shape[1]
    rows = min(MINIBATCHES_AT_ONCE * learner.config.batch_size, len(order))
    keys = np.tile(np.arange(p, dtype=np.uint64), rows)
    indptr = np.arange(rows + 1, dtype=np.int64) * p
    for start in range(0, len(order), rows):
        chosen = order[start : start + rows]
        n = len(chosen)
        learner.learn(
            Batch(
                indptr[: n + 1],
                keys[: n * p],
                data.X[chosen].ravel(),
                data.y[chosen],
                trusted=True,
            )
        )


def summarise(trials: Sequence[Trial]) -> Summary:
    """Averages over trials.

    Examples
    --------
    >>> found, lost = Trial(0, True, 0.1, 5, True, False), Trial(1, False, None, 2, False, True)
    >>> summary = summarise([found, lost])
    >>> summary.success, summary.l2_error, summary.diverged
    (0.5, 0.1, 0.5)
    """
    n = len(trials)
    success = sum(trial.success for trial in trials) / n
    errors = np.array([trial.l2_error for trial in trials if trial.l2_error is not None])
    spread = float(errors.std(ddof=1)) / math.sqrt(len(errors)) if len(errors) > 1 else None
    return Summary(
        trials=n,
        success=success,
        success_se=math.sqrt(success * (1 - success) / n),
        l2_error=float(errors.mean()) if len(errors) else None,
        l2_error_se=spread,
        passes=sum(trial.passes for trial in trials) / n,
        converged=sum(trial.converged for trial in trials) / n,
        diverged=sum(trial.diverged for trial in trials) / n,
    )
