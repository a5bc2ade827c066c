"""Untuned bear+ on made-up clicks, beside Vowpal Wabbit and logistic regression.

Needs scikit-learn and ``pip install vowpalwabbit``:

    python -m experiments.studies.fields > table.csv

A row has one value of each field, and is clicked by the sum of their weights, drawn from a normal
distribution of some size. Real click logs at hand are small; here there are 60,000 rows to score.
Vowpal Wabbit has 2^18 slots of 16 bytes and its default learning rate, and besides the best of
three for the rows scored; logistic regression runs until it converges, with the best penalty of
four for the rows scored. Means of SEEDS draws.
"""

from __future__ import annotations

import csv
import sys
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from vowpalwabbit import Workspace

from bearsketch import Batch, make_learner

TEST, SEEDS = 60_000, range(3)
UNEVEN = (2, 5, 10, 50, 200, 1000, 5000, 20_000)
RATES, PENALTIES = (0.1, 0.5, 2.0), (0.03, 0.1, 0.3, 1.0)  # 0.5 is the default of Vowpal Wabbit
MEMORY = {"64 KiB": 64 << 10, "4 MiB": 4 << 20}


class Clicks(NamedTuple):
    """Rows to learn, values of each field, how often the next is rarer, size of weights, offset."""

    rows: int
    values: tuple[int, ...]
    fall: float
    size: float
    offset: float


KINDS = {
    "even": Clicks(40_000, (200,) * 10, 0.0, 0.4, 0.0),
    "uneven": Clicks(40_000, UNEVEN, 1.0, 0.4, 1.1),
    "uneven, strong": Clicks(40_000, UNEVEN, 1.0, 1.0, 1.1),
    "uneven, weak": Clicks(40_000, UNEVEN, 1.0, 0.2, 2.0),
    "uneven, rarely clicked": Clicks(100_000, UNEVEN, 1.0, 0.6, 4.5),
    "few rows": Clicks(8000, (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000), 1.0, 0.3, 1.5),
}


def draw(kind, seed):
    """Keys of every row, one for each field, and labels."""
    rng = np.random.default_rng(seed)
    columns, margins, first = [], 0.0, 0
    for n in kind.values:
        often = np.arange(1.0, n + 1) ** -kind.fall
        values = rng.choice(n, kind.rows + TEST, p=often / often.sum())
        margins = margins + kind.size * rng.normal(size=n)[values]
        columns.append(first + values)
        first += n
    chance = 1 / (1 + np.exp(kind.offset + margins.mean() - margins))
    return np.stack(columns, axis=1), (rng.random(len(chance)) < chance).astype(float)


def ours(keys, labels, memory, k, seed):
    rows, fields = keys.shape
    entries = np.arange(rows - TEST + 1) * fields, np.arange(TEST + 1) * fields
    fit, rest = (
        Batch(indptr, part.ravel().astype(np.uint64), np.ones(part.size), wanted)
        for indptr, part, wanted in zip(
            entries, (keys[:-TEST], keys[-TEST:]), (labels[:-TEST], labels[-TEST:]), strict=True
        )
    )
    learner = make_learner(memory=memory, k=k, classes=[0, 1], seed=seed)
    learner.learn(fit)
    return learner.predict_margin(rest)[:, 0]


def wabbit(keys, labels, rate, seed):
    learner = Workspace(f"--loss_function logistic -b 18 -l {rate} --hash_seed {seed} --quiet")
    lines = [" ".join(map(str, row)) for row in keys.tolist()]
    for label, line in zip(labels[:-TEST], lines, strict=False):
        learner.learn(f"{2 * label - 1} | {line}")
    found = [learner.predict(f"| {line}") for line in lines[-TEST:]]
    learner.finish()
    return found


def regression(keys, labels, penalty):
    indptr = np.arange(len(keys) + 1) * keys.shape[1]
    rows = csr_matrix((np.ones(keys.size), keys.ravel(), indptr))
    solver = LogisticRegression(C=penalty, max_iter=300).fit(rows[:-TEST], labels[:-TEST])
    return solver.decision_function(rows[-TEST:])


def scores(kind, seed):
    """AUC of every method on one draw."""
    keys, labels = draw(kind, seed)

    def auc(found):
        return roc_auc_score(labels[-TEST:], found)

    rates = {rate: auc(wabbit(keys, labels, rate, seed)) for rate in RATES}
    yield "vw", rates[0.5]
    yield "vw, best rate", max(rates.values())
    yield "logistic regression", max(auc(regression(keys, labels, c)) for c in PENALTIES)
    for title, memory in MEMORY.items():
        for k in (0, 100, 1000):
            yield f"bear+, k={k}, {title}", auc(ours(keys, labels, memory, k, seed))


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["clicks", "method", "auc", "sd"])
    for name, kind in KINDS.items():
        found: dict[str, list[float]] = {}
        for seed in SEEDS:
            for method, value in scores(kind, seed):
                found.setdefault(method, []).append(value)
        for method, values in found.items():
            figures = [f"{figure:.4f}" for figure in (np.mean(values), np.std(values, ddof=1))]
            table.writerow([name, method, *figures])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
