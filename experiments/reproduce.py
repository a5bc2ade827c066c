"""Every figure and table by name: run what is missing, write the table, draw from the table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bearsketch.exceptions import ParameterError
from bearsketch.files import write_whole
from experiments import plans, theory
from experiments.datasets import prepare
from experiments.grid import Experiment, Store, run_all
from experiments.real import REAL

Row = Mapping[str, Any]


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
    """Where a table and its figure went, and how many rows are as required; None: nothing is."""

    name: str
    rows: int
    table: Path
    figures: list[Path]
    met: int | None = None


def names_of(name: str) -> list[str]:
    """Experiments a name stands for; ``all`` is those that need no data.

    Examples
    --------
    >>> names_of("fig1a"), len(names_of("all"))
    (['fig1a'], 7)
    """
    if name == "all":
        return list(EXPERIMENTS)
    if name not in EXPERIMENTS and name not in REAL:
        raise ParameterError(
            f"the figure must be one of {', '.join([*EXPERIMENTS, *REAL, 'all'])}, got {name!r}",
            code="SIM-FIGURE",
        )
    return [name]


def reproduce(
    name: str,
    *,
    trials: int,
    out: Path,
    workers: int = 2,
    data: Path | None = None,
    datasets: Sequence[str] = (),
    report: Callable[[float, float], None] = lambda done, total: None,
) -> Outcome:
    """Run one experiment, continuing a stopped one, and write its table and figure.

    Parameters
    ----------
    name : str
        A key of ``EXPERIMENTS`` or ``REAL``.
    trials : int
        Simulated data sets per result, or hash seeds on real data. A run with more of them adds
        to the finished ones.
    out : Path
        Folder for ``NAME.csv``, ``NAME.png``, ``NAME.svg``, the finished jobs and the prepared
        data sets.
    workers : int
        Processes.
    data : Path, optional
        Folder of the real data sets; needed by the experiments on them.
    datasets : sequence of str
        Which of the real data sets; default: those of the experiment.
    report : callable
        Called with the work done and the work known of.
    """
    from experiments import figures

    figures.need_matplotlib()  # before hours of work, not after
    experiment = EXPERIMENTS[name] if name in EXPERIMENTS else _on(name, data, datasets, out)
    store = Store(out / "cells.jsonl")
    run_all(partial(experiment.jobs, trials), store, workers, report)
    rows = list(experiment.rows(trials, store.done))
    table = out / f"{name}.csv"
    write_table(table, rows)
    drawn = figures.draw(name, table, out) if name in figures.DRAWINGS else []
    return Outcome(name, len(rows), table, drawn, count_met(rows))


def count_met(rows: Sequence[Row]) -> int | None:
    """Rows that are as required, by their column ``met``; None where nothing is required.

    Examples
    --------
    >>> count_met([{"met": True}, {"met": False}]), count_met([{"score": 0.9}])
    (1, None)
    """
    required = [row["met"] for row in rows if "met" in row]
    return sum(map(bool, required)) if required else None


def _on(name: str, data: Path | None, datasets: Sequence[str], out: Path) -> Experiment:
    """Return the experiment on real data sets, which are prepared first."""
    if data is None:
        raise ParameterError(
            f"{name} needs the folder of the data sets",
            code="EXP-DATA",
            hint="Give --data the folder that holds text, clicks and genomes.",
        )
    names = list(datasets or REAL[name].datasets)
    strange = [one for one in names if one not in REAL[name].datasets]
    if strange:
        raise ParameterError(
            f"the data sets of {name} are {', '.join(REAL[name].datasets)}, got {strange[0]!r}",
            code="EXP-DATASET",
        )
    for one in names:
        prepare(one, data, out / "prepared")
    return REAL[name].make(names, data, out / "prepared")


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, floats in full, None as nothing."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())
