"""Every figure and table by name: run what is missing, write the table, draw from the table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bearsketch.exceptions import ParameterError
from bearsketch.experiments import plans, theory
from bearsketch.experiments.grid import Done, Job, Store, run_all
from bearsketch.files import write_whole

Row = Mapping[str, Any]


class Experiment(NamedTuple):
    """What a table needs: jobs from (trials, results so far), and rows from the same."""

    title: str
    jobs: Callable[[int, Done], Sequence[Job]]
    rows: Callable[[int, Done], Iterable[Row]]


def _simulated(title: str, lines: Callable[[], list[plans.Line]]) -> Experiment:
    return Experiment(
        title,
        lambda trials, done: plans.cells(lines(), trials, done),
        lambda trials, done: plans.rows(lines(), trials, done),
    )


EXPERIMENTS: Mapping[str, Experiment] = {
    "fig1a": _simulated("Probability that all features are found", plans.recovery),
    "fig1b": _simulated("Error of the recovered weights", plans.recovery),
    "fig1c": _simulated("Sensitivity to the step", plans.steps),
    "noise": _simulated("Noisy labels", plans.noise),
    "checks": _simulated("Settings with known results", plans.checks),
    "theorem1": Experiment("Count Sketch error", theory.theorem1_jobs, theory.theorem1_rows),
    "theorem2": Experiment("Rate of the loss gap", theory.theorem2_jobs, theory.theorem2_rows),
}


class Outcome(NamedTuple):
    """Where a table and its figure went."""

    name: str
    rows: int
    table: Path
    figures: list[Path]


def names_of(name: str) -> list[str]:
    """Experiments a name stands for.

    Examples
    --------
    >>> names_of("fig1a"), len(names_of("all"))
    (['fig1a'], 7)
    """
    if name == "all":
        return list(EXPERIMENTS)
    if name not in EXPERIMENTS:
        raise ParameterError(
            f"the figure must be one of {', '.join([*EXPERIMENTS, 'all'])}, got {name!r}",
            code="SIM-FIGURE",
        )
    return [name]


def reproduce(
    name: str,
    *,
    trials: int,
    out: Path,
    workers: int = 2,
    report: Callable[[float, float], None] = lambda done, total: None,
) -> Outcome:
    """Run one experiment, continuing a stopped one, and write its table and figure.

    Parameters
    ----------
    name : str
        A key of ``EXPERIMENTS``.
    trials : int
        Data sets per result. A run with more trials adds to the finished ones.
    out : Path
        Folder for ``NAME.csv``, ``NAME.png``, ``NAME.svg`` and the finished jobs.
    workers : int
        Processes.
    report : callable
        Called with the work done and the work known of.
    """
    from bearsketch.experiments import figures

    figures.need_matplotlib()  # before hours of work, not after
    experiment = EXPERIMENTS[name]
    store = Store(out / "cells.jsonl")
    run_all(partial(experiment.jobs, trials), store, workers, report)
    rows = list(experiment.rows(trials, store.done))
    table = out / f"{name}.csv"
    write_table(table, rows)
    return Outcome(name, len(rows), table, figures.draw(name, table, out))


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, floats in full, None as nothing."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())
