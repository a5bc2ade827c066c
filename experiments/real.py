"""Experiments on real data: which runs and rows every figure and table needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from experiments import interest, race
from experiments.datasets import DATASETS
from experiments.equal_bytes import READ_OUTS, Line, Run, jobs, lines, rows, tuned
from experiments.grid import Done, Experiment

COMPRESSIONS = (10.0, 30.0, 100.0, 300.0, 1000.0)
CLOSE = 0.003
FOUR_KIB = 16384.0  # where 2^24 features of 4 bytes become 4 KiB
PAPER_SETS = ("rcv1", "spam", "dna", "hashed24")
PAPER_COMPRESSION = {"rcv1": 10.0, "spam": 330.0, "dna": 330.0, "hashed24": 1100.0}
PAPER_K = (10, 30, 100, 300, 1000)
DENSE_SETS = ("rcv1",)  # few enough possible features for a weight each

# What an earlier implementation reached, all active / selected only, and how far below is a miss.
KNOWN: Mapping[str, Mapping[float, tuple[float, float | None]]] = {
    "rcv1": {
        10.0: (0.963, 0.951),
        30.0: (0.957, 0.919),
        95.0: (0.929, 0.858),
        300.0: (0.873, 0.753),
        1000.0: (0.766, 0.614),
    },
    "20news": {100.0: (0.912, 0.894), 400.0: (0.900, 0.873), 1000.0: (0.874, 0.818)},
    "imdb": {100.0: (0.873, 0.849), 400.0: (0.879, 0.859), 1000.0: (0.862, 0.829)},
    "urls": {
        10.0: (0.987, 0.978),
        100.0: (0.978, 0.955),
        400.0: (0.964, 0.916),
        1000.0: (0.948, 0.874),
    },
    "dna": {22.0: (0.278, None), 88.0: (0.200, None), 330.0: (0.131, None)},
}


class Real(NamedTuple):
    """The data sets of an experiment, and the experiment from (names, data, prepared folder)."""

    datasets: tuple[str, ...]
    make: Callable[[Sequence[str], Path, Path], Experiment]


def _of_lines(title: str, some: Sequence[Line]) -> Experiment:
    return Experiment(title, partial(jobs, some), partial(rows, some))


def equal_bytes(names: Sequence[str], data: Path, folder: Path) -> Experiment:
    """Ours against everybody at equal bytes."""
    wide = {"hashed24": (*COMPRESSIONS, FOUR_KIB)}
    compressions = {name: wide.get(name, COMPRESSIONS) for name in names}
    return _of_lines("Accuracy at equal bytes", lines(names, compressions, folder))


def verdict(names: Sequence[str], data: Path, folder: Path) -> Experiment:
    """Return the same runs as one row per cell: ours, and the best tuned of each cell type."""
    whole = equal_bytes(names, data, folder)

    def best(seeds: int, done: Done) -> Iterator[Mapping[str, Any]]:
        yield from compare(whole.rows(seeds, done))

    return Experiment("Ours against the best tuned", whole.jobs, best)


def compare(table: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One row for every data set, compression and read-out of a table of equal bytes.

    ``met`` says whether ours is at or above the best tuned baseline with float32 cells, and at
    most ``CLOSE`` below the best one with cells of one byte.
    """
    cells: dict[tuple[str, float, str], list[Mapping[str, Any]]] = {}
    for row in table:
        cells.setdefault((row["dataset"], row["compression"], row["read_out"]), []).append(row)
    for (dataset, compression, read_out), group in cells.items():
        ours, others = _sides(group)
        if ours.get("bear+") is None:
            continue  # the budget holds no selected feature
        found: dict[str, Any] = {"dataset": dataset, "compression": compression}
        found |= {"read_out": read_out, "ours": ours["bear+"], "k0": ours.get("bear+, k=0")}
        for precision, scores in others.items():
            name = max(scores, key=scores.__getitem__) if scores else None
            found |= {f"{precision}_best": name, precision: scores[name] if name else None}
        ahead = found["float32"] is None or found["ours"] >= found["float32"]
        close = found["int8"] is None or found["ours"] >= found["int8"] - CLOSE
        yield {**found, "met": ahead and close, "version": group[0]["version"]}


def _sides(
    group: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Scores of ours by series, and of the baselines by precision and learner."""
    ours: dict[str, float] = {}
    others: dict[str, dict[str, float]] = {"float32": {}, "int8": {}}
    for row in group:
        if row["score"] is None:
            continue
        if row["learner"] == "bear+":
            ours[row["series"]] = row["score"]
        else:
            others[row["precision"]][row["learner"]] = row["score"]
    return ours, others


def tolerance(compression: float, read_out: str) -> float:
    """How far below the known result a run may stay.

    Examples
    --------
    >>> tolerance(10.0, "all"), tolerance(1000.0, "selected")
    (0.006, 0.04)
    """
    if read_out == "all":
        return 0.006 if compression < 300 else 0.015
    return 0.015 if compression < 1000 else 0.04


def acceptance(names: Sequence[str], data: Path, folder: Path) -> Experiment:
    """Ours where results are known, with what is required."""
    some = []
    for name in names:
        for compression, (_, selected) in KNOWN[name].items():
            run = Run(name, "bear+", "int8", compression, folder=folder)
            if selected is None:
                some.append(Line("bear+, k=0", replace(run, k=0), False, READ_OUTS[:1]))
            else:
                some.append(Line("bear+", run, False))

    def with_required(seeds: int, done: Done) -> Iterator[Mapping[str, Any]]:
        for row in rows(some, seeds, done):
            known = KNOWN[row["dataset"]][row["compression"]][READ_OUTS.index(row["read_out"])]
            assert known is not None
            low = round(known - tolerance(row["compression"], row["read_out"]), 3)
            yield {**row, "known": known, "required": low, "met": row["score"] >= low}

    return Experiment("Known results", partial(jobs, some), with_required)


def figure2(names: Sequence[str], data: Path, folder: Path) -> Experiment:
    """Every method of the paper with its median sketch, all active features, over compression."""
    some = []
    for name in names:
        if name in DENSE_SETS:
            some += [
                tuned(Run(name, learner, "float32", 1.0, folder=folder))
                for learner in ("sgd", "olbfgs")
            ]
        for compression in COMPRESSIONS:
            ours = Run(name, "bear+", "int8", compression, folder=folder)
            some.append(Line("bear+", ours, False, READ_OUTS[:1]))
            for learner in ("fh", "mission", "bear"):
                query = "mean" if learner == "fh" else "median"
                run = Run(name, learner, "float32", compression, query, folder=folder)
                some.append(replace(tuned(run), read_outs=READ_OUTS[:1]))
    return _of_lines("Accuracy against compression", some)


def figure3(names: Sequence[str], data: Path, folder: Path) -> Experiment:
    """Return the accuracy of the selected alone over k, at the compressions of the paper."""
    some = []
    for name in names:
        for k in PAPER_K:
            ours = Run(name, "bear+", "int8", PAPER_COMPRESSION[name], k=k, folder=folder)
            some.append(Line("bear+", ours, False, READ_OUTS[1:]))
            for learner in ("mission", "bear"):
                run = replace(ours, learner=learner, precision="float32", query="median")
                some.append(replace(tuned(run), read_outs=READ_OUTS[1:]))
    return _of_lines("Accuracy against k", some)


def table3(names: Sequence[str], data: Path, folder: Path) -> Experiment:
    """Return the CPU time of bear and of mission at the paper's compressions, steps searched."""
    teams = [
        [
            tuned(Run(name, learner, "float32", PAPER_COMPRESSION[name], "median", folder=folder))
            for learner in ("bear", "mission")
        ]
        for name in names
    ]
    return Experiment("Run time", partial(race.jobs, teams), partial(race.rows, teams))


REAL: Mapping[str, Real] = {
    "fig2": Real(PAPER_SETS, figure2),
    "fig3": Real(PAPER_SETS, figure3),
    "table2": Real(("20news", "spam", "imdb", "dna"), interest.table2),
    "table3": Real(PAPER_SETS, table3),
    "equal-bytes": Real(tuple(DATASETS), equal_bytes),
    "verdict": Real(tuple(DATASETS), verdict),
    "acceptance": Real(tuple(KNOWN), acceptance),
}
