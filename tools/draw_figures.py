"""Draw the pictures of the explanation into docs/figures; about a minute.

python tools/draw_figures.py [NAME...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from bearsketch import Batch, demo, make_learner

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
SHOWN = ("rcv1", "avazu")  # data sets on the first screen
BLUE, ORANGE, GREEN, PURPLE, GREY = "#1d4ed8", "#b4530a", "#15803d", "#9333ea", "#5b6570"
mpl.rcParams |= {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "bearsketch",
}


def sketch():
    """Three features in three rows of twelve cells, one collision, one more in exact slots."""
    figure, axis = plt.subplots(figsize=(8, 3.1), layout="constrained")
    names = {
        "free_prize": (BLUE, [2, 7, 4]),
        "meeting": (ORANGE, [5, 7, 9]),
        "the": (GREEN, [9, 1, 0]),
    }
    signs = {"free_prize": "+-+", "meeting": "++-", "the": "-+-"}
    for row in range(3):
        for column in range(12):
            axis.add_patch(plt.Rectangle((column, -row), 0.94, 0.8, fc="#f1f2f4", ec="#c9ced6"))
        axis.text(-0.3, 0.4 - row, f"row {row + 1}", ha="right", va="center", color=GREY)
    met: dict[tuple[int, int], int] = {}
    for name, (colour, cells) in names.items():
        for row, column in enumerate(cells):
            shift = met.get((row, column), 0)
            met[row, column] = shift + 1
            both = sum(other[row] == column for _, other in names.values()) > 1
            width = 0.47 if both else 0.94
            axis.add_patch(
                plt.Rectangle((column + shift * 0.47, -row), width, 0.8, fc=colour, alpha=0.85)
            )
            axis.text(
                column + shift * 0.47 + width / 2,
                0.4 - row,
                signs[name][row].replace("-", "\u2212"),
                color="white",
                ha="center",
                va="center",
                weight="bold",
            )
    for place, (name, (colour, _)) in enumerate(names.items()):
        axis.text(
            2.2 + 3.6 * place,
            1.35,
            name,
            color=colour,
            ha="center",
            weight="bold",
            family="monospace",
        )
    axis.annotate(
        "two features in one cell:\neach reads the other as noise",
        (8.0, -0.6),
        (12.6, -0.6),
        arrowprops={"arrowstyle": "->", "color": GREY},
        color=GREY,
        va="center",
    )
    axis.set(xlim=(-1.5, 17.2), ylim=(-2.2, 1.7))
    axis.axis("off")
    return figure


def collisions():
    """Errors of estimates in sketches of three widths, and the law they follow."""
    rng, n = np.random.default_rng(0), 100_000
    weights = rng.normal(size=n)
    figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for width, colour in ((20_000, ORANGE), (100_000, PURPLE), (500_000, BLUE)):
        places = rng.integers(0, width, n)
        signs = rng.choice([-1.0, 1.0], n)
        cells = np.bincount(places, weights * signs, minlength=width)
        errors = signs * cells[places] - weights
        floor = np.sqrt(n / width)
        axis.hist(
            errors,
            np.linspace(-6, 6, 121),
            histtype="step",
            color=colour,
            lw=1.6,
            label=f"{width:,} cells: floor {floor:.2f}, measured {errors.std():.2f}",
        )
    axis.set(
        xlabel="error of an estimated weight (true weights have size 1)",
        ylabel="features, log scale",
        yscale="log",
    )
    axis.legend(loc="lower center", fontsize=9)
    return figure


def second_order():
    """Distance from the true weights, pass by pass, when the data is read again and again."""
    rng = np.random.default_rng(1)
    p, n, true, passes = 1000, 900, 8, 30
    values = rng.normal(size=(n, p)).astype(np.float32)
    support = rng.choice(p, true, replace=False)
    weights = np.zeros(p)
    weights[support] = 1.0
    keys = np.tile(np.arange(p, dtype=np.uint64), n)
    batch = Batch(np.arange(n + 1) * p, keys, values.ravel(), labels=values @ weights)
    figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for name, colour, label in (
        ("mission", ORANGE, "first order (mission)"),
        ("bear", PURPLE, "second order (bear)"),
        ("bear+", BLUE, "a posterior for every weight (bear+)"),
    ):
        # The same bytes: three rows of 111 float cells and the selected, or a budget for both.
        size = {"memory": 1428} if name == "bear+" else {"width": 111, "depth": 3}
        learner = make_learner(name, k=true, loss="squared", **size)
        errors = []
        for _ in range(passes):
            learner.learn(batch)
            learner.finish_pass()
            chosen = learner.selected()
            found = np.zeros(p)
            found[chosen.keys.astype(int)] = chosen.weights
            errors.append(np.linalg.norm(found - weights) / np.linalg.norm(weights))
        axis.plot(range(1, passes + 1), errors, "-", color=colour, label=label)
    axis.set(yscale="log", xlabel="passes over the data", ylabel="distance from the truth")
    axis.legend()
    return figure


def exact_weights():
    """Planted phrases found by each learner, by memory."""
    train, test = list(demo.messages(40, seed=1)), list(demo.messages(8, seed=1_000_001))
    sizes = [4, 8, 16, 32, 64, 128]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for name, colour in (("bear+", BLUE), ("awm", GREEN), ("mission", ORANGE), ("bear", PURPLE)):
        runs = [demo.run(name, train, test, memory=f"{s}KiB", k=50) for s in sizes]
        left.plot(sizes, [len(run.found) for run in runs], "o-", color=colour, label=name)
        right.plot(sizes, [run.accuracy for run in runs], "o-", color=colour, label=name)
    left.set_title("planted phrases found, of 30", fontsize=10)
    right.set_title("accuracy on new messages", fontsize=10)
    for axis in (left, right):
        axis.set(xscale="log", xticks=sizes, xlabel="model, KiB")
        axis.set_xticklabels(sizes)
        axis.minorticks_off()
    left.legend(fontsize=9)
    return figure


def accuracy_per_byte():
    """Tuned rivals beside untuned bear+, from the measured table."""
    table = json.loads((FIGURES / "accuracy-per-byte.json").read_text())
    colours = {"bear+, untuned": BLUE, "scikit-learn, tuned": GREEN, "Vowpal Wabbit, tuned": ORANGE}
    figure, axes = plt.subplots(1, len(SHOWN), figsize=(8.6, 3.1), layout="constrained")
    for axis, name in zip(axes, SHOWN, strict=True):
        about = table["sets"][name]
        for method, colour in colours.items():
            rows = [r for r in table["rows"] if r["set"] == name and r["method"] == method]
            rows.sort(key=lambda row: row["kib"])
            sizes, scores = [r["kib"] for r in rows], [r["score"] for r in rows]
            wide = 2.4 if colour == BLUE else 1.5
            axis.plot(sizes, scores, "o-", ms=4, lw=wide, color=colour, label=method)
        axis.set(xscale="log", xlabel="model, KiB (log scale)", ylabel=about["measure"])
        axis.set_title(f"{about['title']}, {about['train']:,} examples, one pass", fontsize=10)
        axis.set_xticks(sizes, [f"{size}" for size in sizes])
        axis.minorticks_off()
        axis.grid(alpha=0.25)
    axes[0].set_ylim(0.76, 0.99)
    axes[1].set_ylim(0.64, 0.76)
    axes[0].legend(loc="lower right", fontsize=9)
    return figure


FIGURE = {
    "accuracy-per-byte": accuracy_per_byte,
    "sketch": sketch,
    "collisions": collisions,
    "second-order": second_order,
    "exact-weights": exact_weights,
}


def main() -> None:
    FIGURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIGURE:
        FIGURE[name]().savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
        print(f"drew {name}.svg")


if __name__ == "__main__":
    main()
