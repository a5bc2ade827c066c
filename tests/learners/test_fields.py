"""Fields of a table: values that matter a little each, in columns that say nothing of each other."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, make_learner

FIELDS, VALUES, LEARNED = 10, 200, 12_000


def rows_of(seed, classes):
    """Draw rows of ten fields, and labels by the sum of normal weights, one for each value."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(FIELDS * VALUES, classes))
    values = rng.integers(0, VALUES, (LEARNED + 4000, FIELDS)) + np.arange(FIELDS) * VALUES
    margins = weights[values].sum(axis=1)
    labels = np.argmax(margins + rng.gumbel(size=margins.shape), axis=1)
    if classes == 1:
        labels = margins[:, 0] + rng.normal(size=len(margins))
    return values, labels


def scores(seed, classes, k):
    """Accuracy, or R2, on new rows: of all features, and of the selected alone."""
    values, labels = rows_of(seed, classes)

    def batch(some):
        entries = np.arange(len(values[some]) + 1) * FIELDS
        ones = np.ones(values[some].size)
        return Batch(entries, values[some].ravel().astype(np.uint64), ones, labels=labels[some])

    kind = {1: "squared", 2: "logistic"}.get(classes, "softmax")
    named = {} if classes == 1 else {"classes": list(range(classes))}
    learner = make_learner(loss=kind, k=k, memory="256KiB", seed=seed, **named)
    learner.learn(batch(slice(LEARNED)))
    test = batch(slice(LEARNED, None))
    found = []
    for alone in (False, True) if k else (False,):
        guess = learner.predict(test, selected_only=alone)
        off = np.mean((guess - test.labels) ** 2) / np.var(test.labels)
        found.append(1.0 - off if classes == 1 else np.mean(guess == test.labels))
    return np.array(found)


# Trained to stand alone, as words are, the selected would cost .02 to .04 here.
@pytest.mark.parametrize(("classes", "most"), [(1, 0.01), (2, 0.015), (3, 0.02)])
def test_selecting_costs_little_where_features_have_nothing_in_common(classes, most):
    lost = [scores(seed, classes, 0)[0] - scores(seed, classes, 100)[0] for seed in range(3)]
    assert np.mean(lost) < most
