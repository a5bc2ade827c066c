"""Which settings every simulated figure and table needs, and the search for constant steps."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bearsketch import __version__
from experiments.grid import Done, Store, run_all
from experiments.search import climb
from experiments.simulation import Setting, Summary, Trial, run_trial, summarise

SEEDS_PER_CELL = 10
SEARCH_SEED = 1_000_000  # data sets of the search are never those of the result
# One ladder of steps for every method; a search starts on three rungs and climbs on while its
# best is at an edge, so the best of a method always has a worse neighbour on both sides.
LADDER = tuple(m * 10.0**e for e in range(-7, 1) for m in (1.0, 3.0))
START = {
    "mission": (1e-3, 3e-3, 1e-2),
    "sgd": (3e-3, 1e-2, 3e-2),
    "bear": (3e-2, 1e-1, 3e-1),
    "newton": (3e-2, 1e-1, 3e-1),
    "olbfgs": (3e-2, 1e-1, 3e-1),
}
COST = {"bear+": 2.0, "bear": 2.0, "mission": 1.0, "newton": 3.0, "sgd": 0.6, "olbfgs": 1.5}

COMPRESSIONS = (1.67, 2.22, 3.0, 4.0, 6.0, 10.0)
PAPER_STEPS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
PAPER_SKETCH = 1000 / 450  # compression of the 150 x 3 cells of figure 1C
FRACTIONS = (0.1, 0.2, 0.5, 1.0)
PASSES = 60


@dataclass(frozen=True, slots=True)
class Cell:
    """Some trials of one setting."""

    setting: Setting
    first_seed: int
    n_seeds: int

    @property
    def key(self) -> str:
        """Setting, seeds and version as JSON."""
        plain = {**self.setting.to_json(), "seeds": [self.first_seed, self.n_seeds]}
        return json.dumps({"version": __version__, **plain}, sort_keys=True)

    @property
    def cost(self) -> float:
        """Passes, weighted by what a pass of the learner costs."""
        return self.n_seeds * self.setting.passes * COST[self.setting.learner]

    def run(self) -> list[list[Any]]:
        """Trials, as lists."""
        seeds = range(self.first_seed, self.first_seed + self.n_seeds)
        return [list(run_trial(self.setting, seed)) for seed in seeds]


@dataclass(frozen=True, slots=True)
class Line:
    """One point of a figure: a setting whose constant step may have to be searched first.

    ``low`` and ``high`` bound the success that a table asks for.
    """

    series: str
    setting: Setting
    search: bool = False
    low: float = 0.0
    high: float = 1.0


def _line(series: str, search: bool = True, **fields: Any) -> Line:
    if search:
        fields = {"automatic": False, "step": START[fields["learner"]][1], **fields}
    return Line(series, Setting(**{"passes": PASSES, **fields}), search)


def recovery() -> list[Line]:
    """Figures 1A and 1B: every method over compression factors, step searched at each."""
    lines = [_line(f"{name}, dense", learner=name, compression=1.0) for name in ("olbfgs", "sgd")]
    for compression in COMPRESSIONS:
        lines.append(_line("bear+", search=False, compression=compression))
        for query in ("median", "mean"):
            lines += [
                _line(f"{name}, {query}", learner=name, query=query, compression=compression)
                for name in ("bear", "newton", "mission")
            ]
    return lines


def steps() -> list[Line]:
    """Figure 1C: constant steps over six decades, and the fraction of the automatic step."""
    sketch = {"compression": PAPER_SKETCH, "query": "median", "automatic": False}
    lines = []
    for step in PAPER_STEPS:
        lines += [
            _line(f"{name}, median", False, learner=name, step=step, **sketch)
            for name in ("bear", "newton", "mission")
        ]
        summed = {**sketch, "learner": "mission", "summed": True}
        lines.append(_line("mission, median, summed gradient", False, step=step, **summed))
    return [*lines, _line("bear+", False, compression=PAPER_SKETCH)]


def noise() -> list[Line]:
    """Label noise at compression 3."""
    lines = []
    for sd in (0.1, 0.5, 1.0):
        low = {0.5: 0.95, 1.0: 0.75}.get(sd, 0.0)
        lines.append(replace(_line("bear+", False, noise=sd, passes=40), low=low))
        lines += [
            _line(f"{name}, median", learner=name, query="median", noise=sd)
            for name in ("bear", "mission")
        ]
    return lines


def checks() -> list[Line]:
    """List settings with known results: what a correct implementation reaches, no search."""

    def fixed(series: str, low: float, high: float, **fields: Any) -> Line:
        constant = {"automatic": False, "passes": 120, "query": "median"}
        return Line(series, Setting(**{**constant, **fields}), False, low, high)

    def plus(low: float, compression: float) -> Line:
        return Line("bear+", Setting(compression=compression), False, low, 1.0)

    mean: dict[str, Any] = {"query": "mean", "passes": 60}
    return [
        fixed("bear, median", 0.65, 1.0, learner="bear", step=0.1),
        fixed("mission, median", 0.40, 0.70, learner="mission", step=0.003),
        *(
            fixed("newton, median", 0.0, 0.75, learner="newton", step=step)
            for step in (0.03, 0.1, 0.3)
        ),
        fixed("bear, mean", 0.95, 1.0, learner="bear", step=0.1, **mean),
        fixed("bear, mean", 0.80, 1.0, learner="bear", step=0.1, compression=6.0, **mean),
        fixed("mission, mean", 0.60, 0.90, learner="mission", step=0.003, compression=6.0, **mean),
        plus(0.98, 3.0),
        plus(0.95, 6.0),
        plus(0.75, 10.0),
        fixed("bear, median", 0.0, 0.15, learner="bear", step=0.1, compression=6.0),
        fixed("mission, median", 0.0, 0.15, learner="mission", step=0.003, compression=6.0),
    ]


def search_trials(trials: int) -> int:
    """Return on how many data sets a step is searched, for a result of so many trials."""
    return min(trials, max(10, trials // 10))


def cells(lines: Sequence[Line], trials: int, done: Done) -> list[Cell]:
    """All cells known to be needed: those of searches, and of results whose step is known.

    The first trials of every line come before the second of any, so that a run that is stopped
    has a whole figure of fewer trials.
    """
    searches: list[Cell] = []
    results: list[Cell] = []
    for line in lines:
        tried = _tried(line, trials, done)
        for setting in tried:
            searches += _cells_of(setting, SEARCH_SEED, search_trials(trials))
        final = _final(line, tried, trials, done)
        if final is not None:
            results += _cells_of(final, 0, trials)
    return searches + sorted(results, key=lambda cell: cell.first_seed)


def rows(lines: Sequence[Line], trials: int, done: Done) -> Iterator[dict[str, Any]]:
    """Every row of the table: each step tried in a search, and each result."""
    for line in lines:
        tried = _tried(line, trials, done)
        final = _final(line, tried, trials, done)
        for setting in tried:
            found = _summary(setting, SEARCH_SEED, search_trials(trials), done)
            if found is not None:
                yield _row(line, "search", setting, SEARCH_SEED, found)
        found = None if final is None else _summary(final, 0, trials, done)
        if final is not None and found is not None:
            yield _row(line, "result", final, 0, found)


def simulate(
    setting: Setting,
    trials: int,
    workers: int = 1,
    report: Callable[[float, float], None] = lambda done, total: None,
) -> Summary:
    """Average one setting over the seeds 0, 1, ..., trials - 1.

    Examples
    --------
    >>> simulate(Setting(p=50, n=60, k=2, compression=1.0), trials=3).success
    1.0
    """
    setting.check()
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "cells.jsonl")
        run_all(lambda done: list(_cells_of(setting, 0, trials)), store, workers, report)
        found = _summary(setting, 0, trials, store.done)
    assert found is not None
    return found


def _row(line: Line, stage: str, setting: Setting, seed: int, found: Summary) -> dict[str, Any]:
    return {
        "series": line.series,
        "stage": stage,
        **setting.to_json(),
        "width": 0 if setting.dense else setting.width,
        "first_seed": seed,
        **found._asdict(),
        "passes_allowed": setting.passes,
        "low": line.low,
        "high": line.high,
        "version": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _cells_of(setting: Setting, first: int, trials: int) -> Iterator[Cell]:
    for start in range(0, trials, SEEDS_PER_CELL):
        yield Cell(setting, first + start, min(SEEDS_PER_CELL, trials - start))


def _summary(setting: Setting, first: int, trials: int, done: Done) -> Summary | None:
    found: list[Trial] = []
    for cell in _cells_of(setting, first, trials):
        if cell.key not in done:
            return None
        found += [Trial(*trial) for trial in done[cell.key]]
    return summarise(found)


def _score(found: Summary) -> tuple[float, float, float, float]:
    """Success first; then fewer diverged runs, a smaller error, fewer passes."""
    error = float("inf") if found.l2_error is None else round(found.l2_error, 2)
    return found.success, -found.diverged, -error, -found.passes


def _tried(line: Line, trials: int, done: Done) -> list[Setting]:
    """Return the settings of a search so far, by rising step: the start and what edges ask for."""
    if not line.search:
        return []
    rungs = [nearest_rung(step) for step in START[line.setting.learner]]

    def at(tried: Sequence[int]) -> list[Setting]:
        return [replace(line.setting, step=LADDER[rung]) for rung in tried]

    return at(climb(rungs, len(LADDER), lambda tried: _best(at(tried), trials, done))[0])


def _best(tried: Sequence[Setting], trials: int, done: Done) -> int | None:
    """Place of the best setting tried, or None while some are not finished."""
    found = [_summary(s, SEARCH_SEED, search_trials(trials), done) for s in tried]
    scores = [_score(summary) for summary in found if summary is not None]
    return max(range(len(scores)), key=scores.__getitem__) if len(scores) == len(tried) else None


def _final(line: Line, tried: Sequence[Setting], trials: int, done: Done) -> Setting | None:
    if not line.search:
        return line.setting
    best = _best(tried, trials, done)
    return None if best is None else tried[best]


def nearest_rung(step: float) -> int:
    """Place on the ladder of the rung nearest to a step.

    Examples
    --------
    >>> LADDER[nearest_rung(0.0029)]
    0.003
    """
    return min(range(len(LADDER)), key=lambda i: abs(np.log(LADDER[i] / step)))
