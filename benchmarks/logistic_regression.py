"""Untuned bear+ against logistic regression of many passes on hashed features, at equal bytes.

Needs scikit-learn and a folder that ``bearsketch reproduce`` has prepared:

    python benchmarks/logistic_regression.py reproduced/prepared avazu hashed24 ipinyou > table.csv

Features are hashed with signs to as many float32 weights as fit, and scikit-learn's solver runs
until it converges: with the penalty that is best in five folds of the rows to learn ("tuned"), and
with the one that is best for the very rows that are scored, which nobody can know ("best"). These
are training rows set aside (30 %, of more than 15,000 rows 20 %), on several splits: test rows of
click logs are too few to tell differences of a hundredth. ``difference`` is that to the tuned one
on the same splits, with its standard error.
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from bearsketch import make_learner
from bearsketch.experiments.datasets import DATASETS, prepared_path
from bearsketch.experiments.datasets.prepared import Prepared
from bearsketch.experiments.equal_bytes import score

KIB = (1, 4, 16, 64)
PENALTIES = tuple(10.0**i for i in np.arange(-3, 3.5, 0.5))  # C: one over the penalty
FOLDS = 5
PASSES = (1, 3, 5)
SPLITS = 36
TUNED = "logistic regression, tuned"


def split(rows, number):
    """Rows to learn and rows to score, another choice for every number."""
    aside = np.zeros(len(rows), dtype=bool)
    share = 0.3 if len(rows) < 15_000 else 0.2
    drawn = np.random.default_rng(1000 + number).permutation(len(rows))
    aside[drawn[: int(share * len(rows))]] = True
    return rows.keep(~aside), rows.keep(aside)


def hashed(rows, width, seed):
    """The rows as a matrix of ``width`` columns, features hashed to them with signs."""
    mixed = rows.keys.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(33)
    columns = ((mixed >> np.uint64(1)) % np.uint64(width)).astype(np.int64)
    values = rows.values * np.where(mixed & np.uint64(1), -1.0, 1.0)
    matrix = csr_matrix((values, columns, rows.indptr), (len(rows), width))
    matrix.sum_duplicates()
    return matrix


def regressions(fit, rest, kib, seed, auc):
    """Scores of the penalty that folds of the rows to learn choose, and of the best."""
    width = kib * 1024 // 4
    X, Z = hashed(fit, width, seed), hashed(rest, width, seed)
    folds = np.random.default_rng(seed).integers(0, FOLDS, len(fit))
    found = []
    for penalty in PENALTIES:

        def scored(chosen, rows, matrix, penalty=penalty):
            solver = LogisticRegression(C=penalty, max_iter=1000).fit(X[chosen], fit.labels[chosen])
            return score(rows, solver.decision_function(matrix)[:, None], auc=auc)

        inner = [scored(folds != f, fit.keep(folds == f), X[folds == f]) for f in range(FOLDS)]
        found.append((np.mean(inner), scored(folds >= 0, rest, Z)))
    return max(found)[1], max(outer for _, outer in found)


def ours(fit, rest, kib, k, passes, seed, auc):
    """Score after so many passes."""
    learner = make_learner(memory=kib * 1024, k=k, classes=[0, 1], seed=seed, passes=passes)
    for _ in range(passes):
        learner.learn(fit)
        learner.finish_pass()
    return score(rest, learner.predict_margin(rest), auc=auc)


def compare(name, rows, kib):
    """Scores of every method, one per split."""
    auc = DATASETS[name].skewed
    scores: dict[str, list[float]] = {}
    for number in range(SPLITS):
        fit, rest = split(rows, number)
        tuned, best = regressions(fit, rest, kib, number, auc)
        found = {TUNED: tuned, "logistic regression, best": best}
        for k, label in ((kib * 1024 // 48, "bear+"), (0, "bear+, k=0")):
            for passes in PASSES:
                found[f"{label}, {passes} pass{'es' * (passes > 1)}"] = ours(
                    fit, rest, kib, k, passes, number, auc
                )
        for method, value in found.items():
            scores.setdefault(method, []).append(value)
    return scores


def main(folder, names):
    warnings.simplefilter("ignore", UserWarning)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["dataset", "kib", "method", "score", "difference", "error", "splits"])
    for name in names:
        rows = Prepared.load(prepared_path(name, Path(folder))).train
        for kib in KIB:
            scores = compare(name, rows, kib)
            peer = np.array(scores[TUNED])
            for method, found in scores.items():
                apart = np.array(found) - peer
                error = apart.std(ddof=1) / np.sqrt(SPLITS)
                figures = [f"{value:.4f}" for value in (np.mean(found), apart.mean(), error)]
                table.writerow([name, kib, method, *figures, SPLITS])
                sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
