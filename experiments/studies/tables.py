"""Untuned bear+ on raw tables of numbers, beside peers that scale for themselves.

Needs scikit-learn and ``pip install vowpalwabbit``:

    python -m experiments.studies.tables > table.csv

Columns are in units of their own and far from 0, as measurements are. Vowpal Wabbit normalises its
updates; scikit-learn's one-pass SGD and its logistic or ridge regression, which sees all rows until
it converges, get a StandardScaler before them. Accuracy, or R2 for numbers, mean of ten splits.
"""

from __future__ import annotations

import csv
import sys

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from vowpalwabbit import Workspace

from bearsketch import SketchClassifier, SketchRegressor

SPLITS, MEMORY = 10, "64KiB"


def made(numbers):
    """20,000 rows of 30 columns, of which 10 matter, in units from 1/100 to 100, off 0."""
    options = {"n_samples": 20_000, "n_features": 30, "n_informative": 10, "random_state": 3}
    if numbers:
        X, y = datasets.make_regression(noise=100.0, **options)
    else:
        X, y = datasets.make_classification(class_sep=0.8, n_redundant=5, **options)
    rng = np.random.default_rng(1)
    return (X + rng.normal(0, 5, 30)) * 10 ** rng.uniform(-2, 2, 30), y


SETS = {
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "made-up classes": lambda: made(False),
    "diabetes (numbers)": lambda: datasets.load_diabetes(return_X_y=True, scaled=False),
    "made-up numbers": lambda: made(True),
}


def lines(X, y):
    labels = [""] * len(X) if y is None else y
    for row, label in zip(X, labels, strict=True):
        yield f"{label} | " + " ".join(f"{i}:{value:.9g}" for i, value in enumerate(row) if value)


def wabbit(X, y, test, numbers):
    classes = len(np.unique(y))
    kind = "--loss_function logistic"
    labels = 2 * y - 1
    if numbers:
        kind, labels = "", y
    elif classes > 2:
        kind, labels = f"--oaa {classes} --loss_function logistic", y + 1
    learner = Workspace(f"{kind} -b 18 --quiet")
    for line in lines(X, labels):
        learner.learn(line)
    found = np.array([learner.predict(line) for line in lines(test, None)])
    learner.finish()
    if numbers:
        return found
    return found - 1 if classes > 2 else (found > 0).astype(int)


def methods(numbers):
    ours = SketchRegressor if numbers else SketchClassifier
    once = (
        SGDRegressor(max_iter=1, tol=None)
        if numbers
        else SGDClassifier("log_loss", max_iter=1, tol=None)
    )
    whole = Ridge() if numbers else LogisticRegression(max_iter=1000)
    yield "bear+, 1 pass", ours(memory=MEMORY)
    yield "bear+, 5 passes", ours(memory=MEMORY, passes=5)
    yield "SGD, 1 pass, scaled before", make_pipeline(StandardScaler(), once)
    yield "converged, scaled before", make_pipeline(StandardScaler(), whole)


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["data", "method", "score", "sd"])
    for name, load in SETS.items():
        X, y = load()
        numbers = len(np.unique(y)) > 20
        score = r2_score if numbers else accuracy_score
        found: dict[str, list[float]] = {}
        for fit, test in ShuffleSplit(SPLITS, test_size=0.3, random_state=0).split(X):
            for method, model in methods(numbers):
                value = score(y[test], model.fit(X[fit], y[fit]).predict(X[test]))
                found.setdefault(method, []).append(value)
            value = score(y[test], wabbit(X[fit], y[fit], X[test], numbers))
            found.setdefault("Vowpal Wabbit, 1 pass", []).append(value)
        for method, values in found.items():
            figures = [f"{figure:.3f}" for figure in (np.mean(values), np.std(values, ddof=1))]
            table.writerow([name, method, *figures])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
