"""Untuned bear+ against logistic regression of many passes on hashed features, at equal bytes.

Needs scikit-learn and a folder that ``python -m experiments reproduce`` has prepared:

    python -m experiments.studies.logistic_regression reproduced/prepared avazu hashed24 ipinyou > table.csv

Features are hashed with signs to as many float32 weights as fit, and scikit-learn's solver runs
until it converges: with the penalty that is best in five folds of the rows to learn ("tuned"), and
with the one that is best for the very rows that are scored, which nobody can know ("best"). These
are training rows set aside (30 %, of more than 15,000 rows 20 %), on several splits: test rows of
click logs are too few to tell differences of a hundredth. ``difference`` is that to the tuned one
on the same splits, with its standard error. With ``--test`` the test rows are scored instead, with
three hash seeds.

With ``--one-pass`` ours stands beside the best that one pass over the hashed features can have: the
means of a Gaussian posterior with a diagonal covariance, in float64, nothing rounded, a variance
beside every weight, and the prior that is best for the very rows scored.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from bearsketch import make_learner
from experiments.datasets import DATASETS, prepared_path
from experiments.datasets.prepared import Prepared
from experiments.equal_bytes import score

KIB = (1, 4, 16, 64)
PENALTIES = tuple(10.0**i for i in np.arange(-3, 3.5, 0.5))  # C: one over the penalty
FOLDS = 5
PASSES = (1, 3, 5)
SPLITS, SEEDS = 36, 3
PRIORS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # variances of a weight
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


def posterior(X, labels, prior):
    """Means of the weights after one pass, each example seen once with all that is known so far."""
    weights, precisions = np.zeros(X.shape[1]), np.full(X.shape[1], 1.0 / prior)
    clicked = np.mean(labels > 0)
    intercept, certainty = np.log(clicked / (1.0 - clicked)), 20 * clicked * (1.0 - clicked)
    for row, label in enumerate(labels > 0):
        entries = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = X.indices[entries], X.data[entries]
        chance = 1.0 / (1.0 + np.exp(-intercept - weights[columns] @ values))
        bend = max(chance * (1.0 - chance), 1e-4)
        moved = values / precisions[columns]
        step = (label - chance) / (1.0 + bend * (1.0 / certainty + moved @ values))
        weights[columns] += step * moved
        intercept += step / certainty
        precisions[columns] += bend * values**2
        certainty += bend
    return weights


def one_pass(fit, rest, kib, seed, auc):
    """Score of the best prior, and ours after one pass."""
    width = kib * 1024 // 4
    X, Z = hashed(fit, width, seed), hashed(rest, width, seed)
    scores = [score(rest, (Z @ posterior(X, fit.labels, p))[:, None], auc=auc) for p in PRIORS]
    found = dict(zip((f"Gaussian posterior, prior {p:g}" for p in PRIORS), scores, strict=True))
    return found | many_passes(fit, rest, kib, seed, auc, passes=(1,))


def many_passes(fit, rest, kib, seed, auc, passes=PASSES):
    """Scores of ours, with selected features and without."""
    return {
        f"{label}, {n} pass{'es' * (n > 1)}": ours(fit, rest, kib, k, n, seed, auc)
        for k, label in ((kib * 1024 // 48, "bear+"), (0, "bear+, k=0"))
        for n in passes
    }


def converged(fit, rest, kib, seed, auc):
    """Scores of logistic regression, and ours."""
    tuned, best = regressions(fit, rest, kib, seed, auc)
    found = {TUNED: tuned, "logistic regression, best": best}
    return found | many_passes(fit, rest, kib, seed, auc)


def gather(scored, pairs, kib, auc):
    """Scores of every method, one per pair of rows to learn and rows to score."""
    scores: dict[str, list[float]] = {}
    for number, (fit, rest) in enumerate(pairs):
        for method, value in scored(fit, rest, kib, number, auc).items():
            scores.setdefault(method, []).append(value)
    return scores


def table_rows(scores, peer):
    """Means, differences to a method and their standard errors."""
    for method, found in scores.items():
        apart = np.array(found) - np.array(scores[peer])
        error = apart.std(ddof=1) / np.sqrt(len(found))
        figures = [f"{value:.4f}" for value in (np.mean(found), apart.mean(), error)]
        yield [method, *figures, len(found)]


def main(options):
    warnings.simplefilter("ignore", UserWarning)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["dataset", "kib", "method", "score", "difference", "error", "runs"])
    for name in options.names:
        data = Prepared.load(prepared_path(name, options.folder))
        for kib in KIB:
            pairs = (
                ((data.train, data.test) for _ in range(SEEDS))
                if options.test
                else (split(data.train, number) for number in range(SPLITS))
            )
            scored = one_pass if options.one_pass else converged
            scores = gather(scored, pairs, kib, DATASETS[name].skewed)
            peer = TUNED
            if options.one_pass:  # one prior for all runs, the best of them on the mean
                peer = max(
                    (m for m in scores if m.startswith("Gauss")), key=lambda m: sum(scores[m])
                )
            for row in table_rows(scores, peer):
                table.writerow([name, kib, *row])
            sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="prepared data sets")
    parser.add_argument("names", nargs="+", choices=DATASETS, metavar="NAME")
    parser.add_argument("--test", action="store_true", help="score the test rows")
    parser.add_argument("--one-pass", action="store_true", help="beside the best of one pass")
    main(parser.parse_args())
