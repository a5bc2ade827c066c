"""Accuracy against bytes: one pass over real data, every method with the same budget.

The budget is 4 bytes for every possible feature, divided by the compression factor. Cells count
at their width and every selected feature as its key (8 bytes) and weights (4 bytes each), whoever
selects it; names, minibatches and pairs of L-BFGS count for nobody.
"""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bearsketch import __version__
from bearsketch.batch import Batch
from bearsketch.exceptions import DivergedError, LimitError
from bearsketch.learners import Learner, make_learner
from bearsketch.metrics import Ranking, class_numbers
from bearsketch.sizes import entry_bytes
from experiments.datasets import DATASETS, RECIPE_VERSION, prepared_path
from experiments.datasets.prepared import Prepared
from experiments.grid import Done
from experiments.plans import SEARCH_SEED
from experiments.search import climb

FLOAT_BYTES = 4
SELECTED_SHARE = 4  # the selected have 1/4 of the budget unless k is given
READ_OUTS = ("all", "selected")
LADDER = tuple(float(f"{m}e{e}") for e in range(-5, 5) for m in (1, 3))
FIRST_ORDER, SECOND_ORDER = (1.0, 3.0, 10.0), (0.1, 0.3, 1.0)
START = {"bear": SECOND_ORDER, "olbfgs": SECOND_ORDER}
COST = {"bear+": 2.0, "bear": 4.0, "mission": 2.0, "olbfgs": 4.0}


@dataclass(frozen=True, slots=True)
class Run:
    """One learner over one data set, once.

    Attributes
    ----------
    dataset, learner, precision : str
    compression : float
        Bytes of a float32 weight for every possible feature, divided by those of the model.
    query : str
        ``mean`` or ``median`` of the rows of a sketch.
    k : int or None
        Features to select; None gives them a quarter of the bytes.
    step : float or None
        The constant step; None is automatic.
    validation : bool
        Fit on a part of the training rows and score the rest of them, instead of the test rows.
    folder : Path
        Where prepared data sets are; the result does not depend on it.
    """

    dataset: str
    learner: str
    precision: str
    compression: float
    query: str = "mean"
    k: int | None = None
    step: float | None = None
    seed: int = 0
    validation: bool = False
    folder: Path = field(default=Path(), repr=False)

    @property
    def key(self) -> str:
        """All but the folder, with versions, as JSON."""
        return _key(self)

    @property
    def cost(self) -> float:
        """Weights read, times what a learner does with each."""
        return DATASETS[self.dataset].work * COST.get(self.learner, 1.0)

    def run(self) -> dict[str, Any]:
        """Scores by read-out; None where the learner diverged or does not fit."""
        prepared, fit, rest = prepared_rows(self)
        result: dict[str, Any] = dict.fromkeys((*READ_OUTS, "bytes", "k", "seconds"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # many selected, on purpose
                learner = self.make(prepared)
            result |= {"bytes": learner.sizes.model_bytes, "k": learner.config.k}
            started = time.perf_counter()
            learner.learn(fit)
        except (DivergedError, LimitError):
            return result
        result["seconds"] = time.perf_counter() - started
        for read_out in READ_OUTS if learner.config.k else READ_OUTS[:1]:
            margins = learner.predict_margin(rest, selected_only=read_out == "selected")
            result[read_out] = score(rest, margins, auc=DATASETS[self.dataset].skewed)
        return result

    def make(self, prepared: Prepared) -> Learner:
        """Make the learner with its share of the budget."""
        dataset = DATASETS[self.dataset]
        budget = int(FLOAT_BYTES * prepared.dimension / self.compression)
        columns = prepared.classes if prepared.classes > 2 else 1
        k = self.k
        if k is None and self.learner != "fh":
            k = max(budget // SELECTED_SHARE // entry_bytes(columns, False), 1)
        dense = self.learner in ("sgd", "olbfgs")
        size: dict[str, Any] = (
            {"dimension": prepared.dimension} if dense else {"memory": max(budget, 1), "k": k}
        )
        own: dict[str, Any] = {} if self.learner == "bear+" else {"intercept": dataset.skewed}
        return make_learner(
            self.learner,
            **size,
            **own,
            loss="softmax" if columns > 1 else "logistic",
            classes=list(range(prepared.classes)),
            step_size="auto" if self.step is None else self.step,
            query=None if self.learner == "bear+" else self.query,
            reads="storage",  # one pass: gradients see all active weights
            seed=self.seed,
            precision=self.precision,
        )


@cache  # asked for again after every finished run
def _key(run: Run) -> str:
    plain = {name: getattr(run, name) for name in run.__slots__ if name != "folder"}
    versions = {"version": __version__, "prepared": RECIPE_VERSION}
    return json.dumps({"run": "equal-bytes", **versions, **plain}, sort_keys=True)


def prepared_rows(run: Run) -> tuple[Prepared, Batch, Batch]:
    """Return the data set of a run, the rows it is fitted on and those it is scored on."""
    return _rows(prepared_path(run.dataset, run.folder), run.validation)


@lru_cache(maxsize=2)
def _rows(path: Path, validation: bool) -> tuple[Prepared, Batch, Batch]:
    prepared = _load(path)
    return (prepared, *(prepared.split() if validation else (prepared.train, prepared.test)))


@lru_cache(maxsize=1)
def _load(path: Path) -> Prepared:
    return Prepared.load(path)


def score(batch: Batch, margins: Any, *, auc: bool) -> float | None:
    """Accuracy, or the area under the ROC curve.

    Examples
    --------
    >>> rows = Batch([0, 0, 0], [], [], labels=[0, 1])
    >>> score(rows, np.array([[0.1], [0.3]]), auc=False), score(rows, [[0.1], [0.3]], auc=True)
    (0.5, 1.0)
    """
    margins = np.asarray(margins)
    assert batch.labels is not None
    if not auc:
        return float(np.mean(class_numbers(margins) == batch.labels))
    ranking = Ranking()
    # The bins of a ranking are finest around zero, and a shift changes no order.
    ranking.add(margins[:, 0] - np.median(margins), batch.labels)
    return ranking.auc


@dataclass(frozen=True, slots=True)
class Line:
    """A series of a table at one compression: a run whose seed, and maybe step, is left open."""

    series: str
    run: Run
    search: bool
    read_outs: tuple[str, ...] = READ_OUTS


def tuned(run: Run) -> Line:
    """Return a line for a baseline, named after it, whose step is searched."""
    read_outs = READ_OUTS[:1] if run.learner in ("fh", "sgd", "olbfgs") else READ_OUTS
    return Line(f"{run.learner}, {run.precision}", run, True, read_outs)


def lines(
    names: Sequence[str], compressions: Mapping[str, Sequence[float]], folder: Path
) -> list[Line]:
    """Ours untuned, with selected features and without, against every baseline tuned."""
    found = []
    for name in names:
        for compression in compressions[name]:
            ours = Run(name, "bear+", "int8", compression, folder=folder)
            found.append(Line("bear+", ours, False))
            found.append(Line("bear+, k=0", replace(ours, k=0), False, READ_OUTS[:1]))
            found += [
                tuned(Run(name, learner, precision, compression, folder=folder))
                for precision in ("float32", "int8")
                for learner in ("fh", "mission", "bear", "awm")
            ]
    return found


def jobs(some: Sequence[Line], seeds: int, done: Done) -> list[Run]:
    """Return all runs known to be needed: searches first, then results whose step is known."""
    needed: list[Run] = []
    for line in some:
        for read_out in line.read_outs:
            tried, chosen = search(line, read_out, done)
            needed += tried
            if chosen is not None:
                needed += [replace(chosen, seed=seed) for seed in range(seeds)]
    return list(dict.fromkeys(needed))


def rows(some: Sequence[Line], seeds: int, done: Done) -> Iterator[dict[str, Any]]:
    """Rows of the table: one for each line and read-out that is finished."""
    for line in some:
        for read_out in line.read_outs:
            tried, chosen = search(line, read_out, done)
            finals = [] if chosen is None else [replace(chosen, seed=s) for s in range(seeds)]
            if chosen is not None and all(run.key in done for run in finals):
                found = [done[run.key] for run in finals]
                yield _row(line, read_out, chosen, len(tried), found)


def search(line: Line, read_out: str, done: Done) -> tuple[list[Run], Run | None]:
    """Give the runs of the search for a step, and the chosen run once it is over."""
    if not line.search:
        return [], line.run
    start = [LADDER.index(step) for step in START.get(line.run.learner, FIRST_ORDER)]

    def at(rung: int) -> Run:
        return replace(line.run, step=LADDER[rung], seed=SEARCH_SEED, validation=True)

    def best(rungs: Sequence[int]) -> int | None:
        runs = [at(rung) for rung in rungs]
        if any(run.key not in done for run in runs):
            return None
        if done[runs[0].key]["bytes"] is None:
            return 1  # too small a budget for any step
        # Whatever stays finite is better than what does not; ties go to small steps.
        found = [done[run.key][read_out] for run in runs]
        return max(range(len(runs)), key=lambda i: (-1.0 if found[i] is None else found[i], -i))

    rungs, place = climb(start, len(LADDER), best)
    tried = [at(rung) for rung in rungs]
    return tried, None if place is None else replace(line.run, step=LADDER[rungs[place]])


def _row(
    line: Line, read_out: str, chosen: Run, n_tried: int, found: list[dict[str, Any]]
) -> dict[str, Any]:
    scores = [result[read_out] for result in found if result[read_out] is not None]
    whole = len(scores) == len(found)
    return {
        "series": line.series,
        "dataset": chosen.dataset,
        "compression": chosen.compression,
        "bytes": found[0]["bytes"],
        "k": found[0]["k"],
        "read_out": read_out,
        "metric": "auc" if DATASETS[chosen.dataset].skewed else "accuracy",
        "score": float(np.mean(scores)) if whole else None,
        "sd": float(np.std(scores, ddof=1)) if whole and len(scores) > 1 else None,
        "learner": chosen.learner,
        "precision": chosen.precision,
        "query": chosen.query,
        "step": "auto" if chosen.step is None else chosen.step,
        "steps_tried": n_tried,
        "seeds": len(found),
        "seconds": float(np.mean([result["seconds"] for result in found])) if whole else None,
        "version": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
