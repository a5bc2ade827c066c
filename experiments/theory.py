"""The two theorems of the paper, checked by experiment."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import __version__
from bearsketch.batch import Batch
from bearsketch.learners import RECIPES, Constant, Decaying, Learner, make_learner
from experiments.grid import Done

Vector = npt.NDArray[np.float64]

WIDTHS = (32, 64, 128, 256, 512, 1024, 2048)
DEPTHS = (1, 3, 5, 9, 15)
QUERIES = ("median", "mean")
CHARIKAR = 8.0  # the constant of the bound in the proof of Charikar et al.


def sketch_of(values: Vector, width: int, depth: int, query: str, seed: int, k: int) -> Learner:
    """Sketch that holds a vector: one example with label 1 and step 1 adds its own values.

    Examples
    --------
    >>> sketch_of(np.array([0.0, 2.0, 0.0]), 8, 1, "mean", seed=0, k=1).selected().keys
    array([1], dtype=uint64)
    """
    learner = make_learner(
        "mission",
        k=k,
        width=width,
        depth=depth,
        query=query,
        loss="squared",
        step_size=Constant(1.0),
        seed=seed,
        precision="float64",
    )
    keys = np.arange(len(values), dtype=np.uint64)
    learner.learn(Batch([0, len(values)], keys, values.astype(np.float32), [1.0]))  # type: ignore[arg-type]
    return learner


@dataclass(frozen=True, slots=True)
class SketchError:
    """Theorem 1 at one width, depth and query: k values near 1 over a Gaussian tail."""

    width: int
    depth: int
    query: str
    trials: int
    p: int = 10_000
    k: int = 8
    tail: float = 1.0  # Euclidean norm of what is not among the k

    @property
    def key(self) -> str:
        """All fields and the version as JSON."""
        return json.dumps({"theorem": 1, "version": __version__, **asdict(self)}, sort_keys=True)

    @property
    def cost(self) -> float:
        """Cells hashed."""
        return self.trials * self.p * (self.depth + 5) / 1e6

    @property
    def bound(self) -> float:
        """8 |tail| / sqrt(width): no top-k estimate is off by more, with high probability."""
        return CHARIKAR * self.tail / math.sqrt(self.width)

    def run(self) -> dict[str, float]:
        """Largest errors over the top k and over all; how often the bound and the top k held."""
        top, overall, found = np.zeros(self.trials), np.zeros(self.trials), 0
        for seed in range(self.trials):
            values, support = self.vector(seed)
            learner = sketch_of(values, self.width, self.depth, self.query, seed, self.k)
            estimate = learner.weights_of(np.arange(self.p, dtype=np.uint64))[:, 0]
            error = np.abs(estimate - values.astype(np.float32))
            top[seed], overall[seed] = error[support].max(), error.max()
            found += set(learner.selected().keys.tolist()) == set(support.tolist())
        return {
            "error": float(top.mean()),
            "error_95": float(np.quantile(top, 0.95)),
            "error_all": float(overall.mean()),
            "within": float((top <= self.bound).mean()),
            "within_all": float((overall <= self.bound).mean()),
            "found": found / self.trials,
        }

    def vector(self, seed: int) -> tuple[Vector, npt.NDArray[np.intp]]:
        """Return the vector of a seed and the places of its k largest."""
        random = np.random.default_rng(seed)
        values = random.standard_normal(self.p)
        support = random.choice(self.p, self.k, replace=False)
        values[support] = 0.0
        values *= self.tail / np.sqrt(np.sum(values**2))
        values[support] = random.uniform(0.8, 1.2, self.k) * random.choice([-1.0, 1.0], self.k)
        return values, support


def theorem1_jobs(trials: int, _done: Done) -> list[SketchError]:
    """Every width, depth and query."""
    return [SketchError(w, d, q, trials) for q in QUERIES for d in DEPTHS for w in WIDTHS]


def theorem1_rows(trials: int, done: Done) -> Iterator[dict[str, Any]]:
    """One row per width, depth and query."""
    for job in theorem1_jobs(trials, done):
        if job.key in done:
            yield {**asdict(job), "bound": job.bound, **done[job.key], "version": __version__}


POINTS = 24
MOST_DATA_SETS = 40  # a run is long and its average smooth: more would tell nothing new
FIT_FROM = 0.1  # of all minibatches: before that the start still shows, not the rate


@dataclass(frozen=True, slots=True)
class LossGap:
    """Theorem 2 on one data set: least squares with noise, steps eta0 / (t + t0).

    Gradients see all weights and the query is the mean, as the proof has it; minibatches are
    drawn independently. The gap is to the best that the storage can hold: all of R^p when dense,
    the range of the sketch otherwise.
    """

    learner: str
    batch_size: int
    eta0: float
    t0: float
    seed: int = 0
    p: int = 100
    n: int = 2000
    width: int = 10
    depth: int = 3
    noise: float = 1.0
    first: int = 300
    minibatches: int = 30_000

    @property
    def key(self) -> str:
        """All fields and the version as JSON."""
        return json.dumps({"theorem": 2, "version": __version__, **asdict(self)}, sort_keys=True)

    @property
    def cost(self) -> float:
        """Entries learned."""
        return self.minibatches * (self.batch_size + 20) * self.p / 1e7

    @property
    def dense(self) -> bool:
        """Whether one weight per feature is kept."""
        return RECIPES[self.learner].storage == "dense"

    def times(self) -> list[int]:
        """Minibatches after which the loss is looked at, evenly spaced in the logarithm."""
        grid = np.geomspace(self.first, self.minibatches, POINTS)
        return [int(t) for t in np.unique(np.round(grid))]

    def run(self) -> dict[str, Any]:
        """Loss gaps at the times, and the eigenvalues of the sketch in units of p / m."""
        random = np.random.default_rng(self.seed)
        X = random.standard_normal((self.n, self.p)).astype(np.float32)
        truth = random.uniform(0.8, 1.2, self.p) * (np.arange(self.p) < 8)
        y = X @ truth + self.noise * random.standard_normal(self.n)
        basis, eigenvalues = self.range_of_storage()
        best = basis @ np.linalg.lstsq(X @ basis, y, rcond=None)[0]
        floor = 0.5 * float(np.mean((X @ best - y) ** 2))
        learner, gaps, t = self.make(), [], 0
        keys = np.arange(self.p, dtype=np.uint64)
        for stop in self.times():
            while t < stop:
                n = min(500, stop - t)
                self.learn(learner, X, y, random.integers(self.n, size=n * self.batch_size))
                t += n
            w = learner.weights_of(keys)[:, 0]
            gaps.append(0.5 * float(np.mean((X @ w - y) ** 2)) - floor)
        return {"gaps": gaps, "least": eigenvalues[0], "largest": eigenvalues[1]}

    def make(self) -> Learner:
        """Return the learner the theorem speaks of."""
        size = {"width": self.width, "depth": self.depth, "k": 1}
        if self.dense:
            size = {"dimension": self.p}
        return make_learner(
            self.learner,
            loss="squared",
            query="mean",
            reads="storage",
            step_size=Decaying(self.eta0, self.t0),
            batch_size=self.batch_size,
            seed=self.seed,
            precision="float64",
            **size,  # type: ignore[arg-type]
        )

    def learn(
        self, learner: Learner, X: npt.NDArray[np.float32], y: Vector, rows: npt.NDArray[np.int64]
    ) -> None:
        """Learn some rows, in their order."""
        keys = np.tile(np.arange(self.p, dtype=np.uint64), len(rows))
        indptr = np.arange(len(rows) + 1, dtype=np.int64) * self.p
        learner.learn(Batch(indptr, keys, X[rows].ravel(), y[rows], trusted=True))

    def range_of_storage(self) -> tuple[Vector, tuple[float, float]]:
        """Basis of the weights that the storage can hold, and its extreme eigenvalues.

        Adding a vector and querying it is z -> S S' z; its eigenvalues other than 0 are those of
        the S' S in the paper's proof, which expects them all near p / m.
        """
        if self.dense:
            return np.eye(self.p), (1.0, 1.0)
        keys = np.arange(self.p, dtype=np.uint64)
        columns = [
            sketch_of(row, self.width, self.depth, "mean", self.seed, 1).weights_of(keys)[:, 0]
            for row in np.eye(self.p)
        ]
        values, vectors = np.linalg.eigh(np.array(columns))
        kept = values > 1e-9 * values[-1]
        scale = self.p / (self.width * self.depth)
        return vectors[:, kept], (float(values[kept][0] / scale), float(values[-1] / scale))


# Batches of 10 among 100 features tell L-BFGS little, and its direction is nearly the gradient;
# batches of 50 give it a real metric. First order on the same sketch shows what that metric does.
CASES: Mapping[str, LossGap] = {
    "olbfgs, dense, batches of 10": LossGap("olbfgs", 10, 100.0, 1000.0),
    "bear, sketched, batches of 10": LossGap("bear", 10, 100.0, 1000.0),
    "olbfgs, dense, batches of 50": LossGap("olbfgs", 50, 100.0, 1000.0),
    "bear, sketched, batches of 50": LossGap("bear", 50, 100.0, 1000.0),
    "mission, sketched, batches of 50": LossGap("mission", 50, 5.0, 100.0),
}


def theorem2_jobs(trials: int, _done: Done) -> list[LossGap]:
    """Every case on every data set."""
    seeds = range(min(trials, MOST_DATA_SETS))
    return [replace(case, seed=seed) for seed in seeds for case in CASES.values()]


def theorem2_rows(trials: int, done: Done) -> Iterator[dict[str, Any]]:
    """Mean gap at each time with its standard error, and the slope of its logarithm."""
    trials = min(trials, MOST_DATA_SETS)
    for series, case in CASES.items():
        keys = [replace(case, seed=seed).key for seed in range(trials)]
        results = [done[key] for key in keys if key in done]
        if len(results) < trials:
            continue
        gaps = np.array([result["gaps"] for result in results])
        times = np.array(case.times(), dtype=np.float64)
        late = times >= FIT_FROM * case.minibatches
        slope, low, high = slope_of(times[late] + case.t0, gaps[:, late])
        for t, column in zip(times, gaps.T, strict=True):
            yield {
                "series": series,
                **asdict(case),
                "trials": trials,
                "t": int(t),
                "gap": float(column.mean()),
                "gap_se": float(column.std(ddof=1) / math.sqrt(trials)) if trials > 1 else 0.0,
                "slope": slope,
                "slope_low": low,
                "slope_high": high,
                "least_eigenvalue": float(np.mean([result["least"] for result in results])),
                "largest_eigenvalue": float(np.mean([result["largest"] for result in results])),
                "version": __version__,
            }


def slope_of(times: Vector, gaps: Vector) -> tuple[float, float, float]:
    """Log-log slope of the mean gap, with its 95 % interval from resampled data sets.

    Parameters
    ----------
    times : ndarray, shape (n_times,)
    gaps : ndarray, shape (n_trials, n_times)

    Examples
    --------
    >>> t = np.array([1.0, 10.0, 100.0])
    >>> [round(value, 6) for value in slope_of(t, np.array([3 / t, 5 / t]))]
    [-1.0, -1.0, -1.0]
    """
    random = np.random.default_rng(0)
    x = np.log(times) - np.log(times).mean()

    def fit(mean: Vector) -> float:
        return float(x @ np.log(mean) / (x @ x))

    draws = random.integers(len(gaps), size=(2000, len(gaps)))
    slopes = [fit(gaps[draw].mean(axis=0)) for draw in draws]
    low, high = np.quantile(slopes, [0.025, 0.975])
    return fit(gaps.mean(axis=0)), float(low), float(high)
