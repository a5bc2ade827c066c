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


def area(margins, labels):
    """Area under the ROC curve: how often a 1 is above a 0."""
    ranks = np.empty(len(margins))
    ranks[np.argsort(margins)] = np.arange(1, len(margins) + 1)
    ones = np.count_nonzero(labels)
    return (ranks[labels == 1].mean() - (ones + 1) / 2) / (len(labels) - ones)


# Of the area that the true weights have, steps that only follow the noise lose .038 to .059: they
# never average out what is known.
@pytest.mark.parametrize("k", [0, 100, 1000])
def test_labels_that_are_mostly_noise_are_averaged_out(k):
    lost = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        weights = 0.4 * rng.normal(size=FIELDS * VALUES)
        values = rng.integers(0, VALUES, (60_000, FIELDS)) + np.arange(FIELDS) * VALUES
        true = weights[values].sum(axis=1)
        labels = (rng.random(len(true)) < 1 / (1 + np.exp(-true))).astype(float)
        keys, ones = values.ravel().astype(np.uint64), np.ones(values.size)
        rows = Batch(np.arange(len(values) + 1) * FIELDS, keys, ones, labels=labels)
        learner = make_learner(k=k, memory="1MiB", seed=seed)
        learner.learn(rows.rows(0, 40_000))
        found = learner.predict_margin(rows.rows(40_000, 60_000))[:, 0]
        lost.append(area(true[40_000:], labels[40_000:]) - area(found, labels[40_000:]))
    assert np.mean(lost) < 0.033


def test_how_rare_clicks_are_is_not_laid_on_a_field_that_tells_nothing():
    rng = np.random.default_rng(4)
    n, hours = 300_000, np.arange(1_000_000, 1_000_024, dtype=np.uint64)
    site, ad = ((size * rng.random(n) ** 2).astype(int) for size in (300, 1000))
    user, hour = rng.integers(0, 50_000, n), rng.integers(0, 24, n)
    margins = rng.normal(size=300)[site] + rng.normal(size=1000)[ad] - 4.3
    labels = (rng.random(n) < 1 / (1 + np.exp(-margins))).astype(float)
    keys = np.stack([site, 1000 + ad, 10_000 + user, hours[hour]], axis=1).astype(np.uint64)
    rows = Batch(np.arange(n + 1) * 4, keys.ravel(), np.ones(keys.size), labels)
    learner = make_learner(memory="64KiB", k=1000, classes=[0, 1])
    for _ in range(3):
        learner.learn(rows)
        learner.finish_pass()
    assert np.mean(learner.weights_of(hours)) > -0.8  # -1.5 before, with an intercept of -2.2
    assert np.ravel(learner.intercept)[0] < -3.2
