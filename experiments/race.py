"""Run time: the CPU seconds of a pass, and those until all competitors are equally good."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bearsketch import __version__
from bearsketch.batch import Batch
from experiments.datasets import DATASETS
from experiments.equal_bytes import Line, Run, prepared_rows, score, search
from experiments.grid import Done
from experiments.plans import SEARCH_SEED

PARTS = 20  # scored after each
MINIBATCH = 20


@dataclass(frozen=True, slots=True)
class Race:
    """Several runs over the same rows, in turns, each several times.

    The CPU time of the thread is taken, without that of scoring: other work on the machine changes
    it little, and in turns it changes all alike.
    """

    runs: tuple[Run, ...]
    repeats: int

    @property
    def key(self) -> str:
        """The runs and repeats, as JSON."""
        runs = [json.loads(run.key) for run in self.runs]
        return json.dumps({"run": "race", "runs": runs, "repeats": self.repeats}, sort_keys=True)

    @property
    def cost(self) -> float:
        """That of all passes."""
        return self.repeats * sum(run.cost for run in self.runs)

    def run(self) -> list[dict[str, Any]]:
        """For every run: scores after each part, and seconds of each part in each repeat."""
        found: list[dict[str, Any]] = [{"seconds": []} for _ in self.runs]
        for repeat in range(self.repeats):
            for run, result in zip(self.runs, found, strict=True):
                seconds, scores = _timed(run, scored=repeat == 0)
                result["seconds"].append(seconds)
                if scores:
                    result["scores"] = scores
        return found


def _timed(run: Run, *, scored: bool) -> tuple[list[float], list[float | None]]:
    prepared, fit, rest = prepared_rows(run)
    learner = run.make(prepared)
    seconds, scores = [], []
    for part in parts(fit):
        started = time.thread_time()
        learner.learn(part)
        seconds.append(time.thread_time() - started)
        if scored:
            auc = DATASETS[run.dataset].skewed
            scores.append(score(rest, learner.predict_margin(rest), auc=auc))
    return seconds, scores


def parts(rows: Batch) -> list[Batch]:
    """Return whole minibatches in about equal parts, so that learning them is one pass.

    Examples
    --------
    >>> rows = Batch(np.zeros(446, dtype=int), [], [], labels=np.zeros(445))
    >>> [len(part) for part in parts(rows)][-3:]
    [40, 20, 25]
    """
    edges = np.linspace(0, len(rows), PARTS + 1).astype(int) // MINIBATCH * MINIBATCH
    edges[-1] = len(rows)
    return [rows.rows(int(a), int(b)) for a, b in pairwise(edges)]


def jobs(teams: Sequence[Sequence[Line]], repeats: int, done: Done) -> list[Run | Race]:
    """Return the searches for steps, and the race of every team whose steps are known."""
    needed: list[Run | Race] = []
    for team in teams:
        for line in team:
            needed += search(line, "all", done)[0]
        race = _race(team, repeats, done)
        if race is not None:
            needed.append(race)
    return needed


def rows(teams: Sequence[Sequence[Line]], repeats: int, done: Done) -> Iterator[dict[str, Any]]:
    """One row for every line of a finished race; the last of a team is what others are held to."""
    for team in teams:
        race = _race(team, repeats, done)
        if race is None or race.key not in done:
            continue
        found = done[race.key]
        target = min(result["scores"][-1] for result in found)
        passes = [np.sum(result["seconds"], axis=1) for result in found]
        for line, run, result, each in zip(team, race.runs, found, passes, strict=True):
            place = next(i for i, value in enumerate(result["scores"]) if value >= target)
            yield {
                "series": line.series,
                "dataset": run.dataset,
                "compression": run.compression,
                "step": run.step,
                "score": result["scores"][-1],
                "pass_cpu_seconds": float(np.median(each)),
                "times_the_last": float(np.median(each / passes[-1])),
                "equal_score": target,
                "equal_share_of_pass": (place + 1) / PARTS,
                "equal_cpu_seconds": float(
                    np.median(np.cumsum(result["seconds"], axis=1)[:, place])
                ),
                "repeats": repeats,
                "version": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
            }


def _race(team: Sequence[Line], repeats: int, done: Done) -> Race | None:
    chosen = [search(line, "all", done)[1] for line in team]
    runs = [replace(run, seed=SEARCH_SEED, validation=True) for run in chosen if run is not None]
    return Race(tuple(runs), repeats) if len(runs) == len(team) else None
