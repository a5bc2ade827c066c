"""Untuned bear+ against tuned Vowpal Wabbit at equal bytes, on prepared data sets.

Needs ``pip install vowpalwabbit`` and a folder that ``python -m experiments reproduce`` has prepared:

    python -m experiments.studies.vowpal_wabbit reproduced/prepared rcv1 avazu hashed24 > table.csv

Vowpal Wabbit keeps 2^b slots: of 16 bytes with its adaptive, normalised, invariant updates (its
default) and of 4 bytes with --sgd. Both are tuned, on rows set aside from the training rows, over
learning rates that are extended while the best is at the edge.
"""

from __future__ import annotations

import csv
import sys
from functools import cache
from pathlib import Path

import numpy as np
from vowpalwabbit import Workspace

from bearsketch import make_learner
from experiments.datasets import DATASETS, prepared_path
from experiments.datasets.prepared import Prepared
from experiments.equal_bytes import LADDER, score
from experiments.search import climb

KIB = (1, 2, 4, 16, 64)
SLOT_BYTES = {"adaptive": 16, "sgd": 4}
SEEDS = range(3)


def as_lines(batch):
    labels = 2 * batch.labels - 1
    return [
        f"{labels[i]} | "
        + " ".join(
            f"f{key}:{value:.6g}"
            for key, value in zip(
                *(part[a:b].tolist() for part in (batch.keys, batch.values)), strict=True
            )
        )
        for i, (a, b) in enumerate(zip(batch.indptr[:-1], batch.indptr[1:], strict=True))
    ]


def margins(kind, bits, rate, seed, train, test):
    """Scores of test lines after one pass over the training lines."""
    options = f"--loss_function logistic -b {bits} -l {rate} --hash_seed {seed} --quiet"
    learner = Workspace(options + (" --sgd" if kind == "sgd" else ""))
    for line in train:
        learner.learn(line)
    found = np.array([learner.predict(line) for line in test])
    learner.finish()
    return found[:, None]


def wabbit(name, prepared, kind, kib):
    """(learning rate, scores over seeds) of tuned Vowpal Wabbit."""
    bits = int(np.log2(kib * 1024 // SLOT_BYTES[kind]))
    auc = DATASETS[name].skewed
    fit, rest = prepared.split()
    lines = {part: as_lines(rows) for part, rows in (("fit", fit), ("rest", rest))}

    @cache
    def value(rung):
        return score(
            rest, margins(kind, bits, LADDER[rung], 99, lines["fit"], lines["rest"]), auc=auc
        )

    def best(rungs):
        return max(range(len(rungs)), key=lambda i: value(rungs[i]))

    start = [LADDER.index(rate) for rate in (0.3, 1.0, 3.0)]
    rungs, place = climb(start, len(LADDER), best)
    rate = LADDER[rungs[place]]
    train, test = as_lines(prepared.train), as_lines(prepared.test)
    found = [margins(kind, bits, rate, seed, train, test) for seed in SEEDS]
    return rate, [score(prepared.test, one, auc=auc) for one in found]


def ours(name, prepared, kib, k):
    found = []
    for seed in SEEDS:
        learner = make_learner(memory=kib * 1024, k=k, classes=[0, 1], seed=seed)
        learner.learn(prepared.train)
        margin = learner.predict_margin(prepared.test)
        found.append(score(prepared.test, margin, auc=DATASETS[name].skewed))
    return "auto", found


def main(folder, names):
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["dataset", "kib", "method", "rate", "score", "sd"])
    for name in names:
        prepared = Prepared.load(prepared_path(name, Path(folder)))
        for kib in KIB:
            rows = {f"vw, {kind}": wabbit(name, prepared, kind, kib) for kind in SLOT_BYTES}
            rows["bear+"] = ours(name, prepared, kib, kib * 1024 // 48)
            rows["bear+, k=0"] = ours(name, prepared, kib, 0)
            for method, (rate, scores) in rows.items():
                spread = [f"{np.mean(scores):.4f}", f"{np.std(scores, ddof=1):.4f}"]
                table.writerow([name, kib, method, rate, *spread])
                sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
