"""How the time to learn grows with each number that a user can choose or meet.

    python -m benchmarks.cost_model measure [--repeats 5] [--only k depth ...]
    python -m benchmarks.cost_model draw

``measure`` learns made-up rows and writes a table; ``draw`` makes the figure and prints the table
of the page from it. Times are of the processor, not the clock, and the best of several: what else
the machine does can only add. Points of a panel take turns.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bearsketch import Batch, make_learner
from bearsketch.learners import RECIPES
from experiments.figures import COLOURS, SETTINGS

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures"
CELLS = 1 << 18
MILLION = 1_000_000
ENTRIES = 400_000  # of a measurement, about


@dataclass(frozen=True)
class Rows:
    """Made-up rows: ``active`` draws of ``features`` by Zipf's law, with ids below 2^bits."""

    n: int = 8_000
    active: int = 50
    features: int = MILLION
    bits: int = 20
    classes: int = 2


@lru_cache(maxsize=4)
def made(rows: Rows) -> Batch:
    """The rows as one batch; the 200 most frequent features decide the label."""
    rng = np.random.default_rng(17)
    ranks = np.exp(rng.random((rows.n, rows.active)) * np.log(rows.features)).astype(np.int64) - 1
    ranks.sort(axis=1)
    first = np.ones(ranks.shape, dtype=bool)
    first[:, 1:] = ranks[:, 1:] != ranks[:, :-1]
    telling = np.zeros((rows.features, rows.classes), dtype=np.float32)
    telling[:200] = rng.standard_normal((min(200, rows.features), rows.classes))
    labels = np.array(
        [telling[r[f]].sum(axis=0).argmax() for r, f in zip(ranks, first, strict=True)]
    )
    # Spread over all ids below 2^bits, in the same order.
    keys = ranks[first].astype(np.uint64) * np.uint64(max(1, (1 << rows.bits) // rows.features))
    values = np.full(len(keys), 1 / np.sqrt(rows.active), dtype=np.float32)
    return Batch(np.concatenate([[0], first.sum(axis=1).cumsum()]), keys, values, labels)


Setting = tuple[Rows, dict[str, Any]]


@dataclass(frozen=True)
class Panel:
    """One number that varies, the learners that are shown, and how each point is set up."""

    title: str
    values: tuple[int, ...]
    learners: tuple[str, ...]
    setting: Callable[[int], Setting]
    total: bool = False
    logarithmic: bool = True


SKETCHES = ("bear+", "bear", "mission")
PANELS = {
    "n": Panel(
        "examples n",
        (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000),
        SKETCHES,
        lambda x: (Rows(n=x), {}),
        total=True,
    ),
    "p": Panel(
        "possible features p",
        tuple(1 << bits for bits in (20, 27, 34, 41, 48, 55, 62)),
        SKETCHES,
        lambda x: (Rows(bits=x.bit_length() - 1), {}),
    ),
    "seen": Panel(
        "features that do come",
        (100, 1_000, 10_000, 100_000, MILLION, 10 * MILLION),
        SKETCHES,
        lambda x: (Rows(features=x, bits=24), {}),
    ),
    "active": Panel(
        "features of an example",
        (5, 15, 50, 150, 500, 1_500, 5_000),
        SKETCHES,
        lambda x: (Rows(n=max(400, ENTRIES // x), active=x), {}),
    ),
    "k": Panel(
        "features selected k",
        (10, 100, 1_000, 10_000, 100_000),
        SKETCHES,
        lambda x: (Rows(), {"k": x}),
    ),
    "depth": Panel(
        "rows of the sketch, as many cells",
        (1, 2, 3, 5, 7, 9),
        SKETCHES,
        lambda x: (Rows(), {"depth": x, "width": CELLS // x}),
        logarithmic=False,
    ),
    "history": Panel(
        "pairs of L-BFGS",
        (0, 1, 2, 5, 10, 20),
        ("bear+", "bear", "olbfgs"),
        lambda x: (Rows(), {"history": x}),
        logarithmic=False,
    ),
    "classes": Panel(
        "classes",
        (2, 3, 5, 10, 20, 50),
        SKETCHES,
        lambda x: (Rows(n=4_000, classes=x), {"loss": "softmax"}),
        logarithmic=False,
    ),
    "batch": Panel(
        "examples of a minibatch",
        (1, 5, 20, 100, 500, 2_000),
        SKETCHES,
        lambda x: (Rows(n=20_000), {"batch_size": x}),
    ),
}


def learner_of(name: str, rows: Rows, options: dict[str, Any]):
    """A fresh learner: 2^18 cells in all and k = 1,000 where the point does not say."""
    depth = RECIPES[name].depth
    size: dict[str, Any] = {"k": 1_000, "depth": depth}
    columns = rows.classes if options.get("loss") == "softmax" else 1
    size["width"] = CELLS // depth // columns
    if name == "olbfgs":
        size = {"dimension": 1 << rows.bits}
    return make_learner(name, classes=list(range(rows.classes)), **size | options)


def measure(panel: Panel, repeats: int) -> list[dict[str, Any]]:
    """Best processor time of every point, the points taking turns."""
    best: dict[tuple[int, str], float] = {}
    entries: dict[int, int] = {}
    for _ in range(repeats):
        for x in panel.values:
            rows, options = panel.setting(x)
            batch = made(rows)
            entries[x] = batch.n_entries
            for name in panel.learners:
                learner = learner_of(name, rows, options)
                start = time.process_time()
                learner.learn(batch)
                took = time.process_time() - start
                best[x, name] = min(took, best.get((x, name), took))
    return [
        {"x": x, "learner": name, "seconds": took, "entries": entries[x]}
        | {"examples": panel.setting(x)[0].n}
        for (x, name), took in best.items()
    ]


def height(panel: Panel, point: dict[str, Any]) -> float:
    """What a panel shows: milliseconds in all, or nanoseconds of an entry."""
    if panel.total:
        return 1e3 * point["seconds"]
    return 1e9 * point["seconds"] / point["entries"]


def draw(table: dict[str, list[dict[str, Any]]], out: Path) -> None:
    """Small multiples, one panel per number."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        figure, axes = pyplot.subplots(3, 3, figsize=(9, 7.5), layout="constrained")
        for axis, (key, points) in zip(axes.flat, table.items(), strict=False):
            panel = PANELS[key]
            for name in panel.learners:
                line = [point for point in points if point["learner"] == name]
                xs = [point["x"] for point in line]
                ys = [height(panel, point) for point in line]
                axis.plot(xs, ys, "o-", ms=3, lw=1.2, color=COLOURS[name], label=name)
            axis.set_title(panel.title, fontsize=9)
            axis.set_ylabel("ms in all" if panel.total else "ns per entry")
            if panel.logarithmic:
                axis.set_xscale("log", base=2 if key == "p" else 10)
            if panel.total:
                axis.set_yscale("log")
            else:
                axis.set_ylim(bottom=0)
        axes.flat[0].legend()
        axes.flat[list(table).index("history")].legend()
        figure.savefig(out, dpi=130)


def lines(table: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The table of the page: what each learner took from the first value to the last."""
    found = ["| number | learner | values | measured |", "|---|---|---|---|"]
    for key, points in table.items():
        panel = PANELS[key]
        for name in panel.learners:
            ys = [height(panel, point) for point in points if point["learner"] == name]
            unit = "ms in all" if panel.total else "ns per entry"
            values = ", ".join(
                f"2^{x.bit_length() - 1}" if key == "p" else f"{x:,}" for x in panel.values
            )
            found.append(
                f"| {panel.title} | {name} | {values} | {', '.join(f'{y:.3g}' for y in ys)} {unit} |"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("measure", "draw"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PANELS, default=list(PANELS))
    parser.add_argument("--table", type=Path, default=FOLDER / "cost-model.json")
    given = parser.parse_args()
    table = json.loads(given.table.read_text())["panels"] if given.table.exists() else {}
    if given.what == "measure":
        for key in given.only:
            table[key] = measure(PANELS[key], given.repeats)
        table = {key: table[key] for key in PANELS if key in table}
        about = {"python": platform.python_version(), "machine": platform.machine()}
        about |= {name: version(name) for name in ("bearsketch", "numpy")}
        record = {"versions": about, "repeats": given.repeats, "panels": table}
        given.table.write_text(json.dumps(record, indent=1) + "\n")
    else:
        draw(table, given.table.with_suffix(".png"))
    print("\n".join(lines(table)))


if __name__ == "__main__":
    main()
