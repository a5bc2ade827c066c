"""The noise floor is the error that is really made."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, make_learner
from bearsketch.learners.noise import CROWDING, chance_above, crowding_of, noise_of


@pytest.mark.parametrize(("query", "depth"), [("mean", 1), ("mean", 4), ("median", 5)])
def test_the_floor_is_the_error_of_estimates_of_absent_features(query, depth):
    rng = np.random.default_rng(3)
    learner = make_learner(
        "mission", k=5, width=200, depth=depth, query=query, reads="storage", step_size=0.5
    )
    for _ in range(40):
        keys = np.sort(rng.choice(5000, size=(20, 30)), axis=1)
        rows = [np.unique(row) for row in keys]
        indptr = np.cumsum([0, *map(len, rows)])
        joined = np.concatenate(rows).astype(np.uint64)
        labels = rng.choice([-1, 1], 20)
        learner.learn(Batch(indptr, joined, np.ones(len(joined), dtype=np.float32), labels))
    absent = np.arange(10**6, 10**6 + 4000, dtype=np.uint64)
    error = float(np.sqrt((learner.weights_of(absent) ** 2).mean()))
    assert noise_of(learner).floor == pytest.approx(error, rel=0.12)


@pytest.mark.parametrize("columns", [1, 2, 5, 20])
def test_the_chance_of_a_large_error(columns):
    rng = np.random.default_rng(4)
    drawn = np.sqrt((rng.normal(size=(200_000, columns)) ** 2).mean(axis=1))
    for ratio in (1.0, 1.3, 1.8):
        assert chance_above(ratio, columns) == pytest.approx((drawn > ratio).mean(), abs=0.01)


def test_learners_without_sketch_or_selection_have_no_noise():
    assert noise_of(make_learner("sgd", dimension=10)) is None
    assert noise_of(make_learner("fh", memory="1KiB")) is None
    assert noise_of(make_learner(k=3, memory="1KiB")) is None  # nothing selected yet


def test_a_small_weight_of_large_values_is_no_noise():
    rng = np.random.default_rng(5)
    learner = make_learner("bear+", k=4, memory="4KiB")
    for _ in range(100):
        words = rng.integers(10, 400, (20, 6))
        labels = rng.integers(0, 2, 20)
        rows = [
            {"height": float(rng.normal(60 * label, 30)), **{f"w{i}": 1.0 for i in row}}
            for label, row in zip(labels, words, strict=True)
        ]
        learner.learn(Batch.from_rows(rows, labels))
    found = noise_of(learner)
    weights = np.abs(learner.selected_weights()[:, 0])
    assert learner.selected_worths().max() > 3 * learner.selected_worths().min()
    sizes = weights * learner.selected_worths() / learner.fill()["worth"]
    assert found.smallest == pytest.approx(sizes.min())


def test_few_cells_may_be_more_crowded_than_they_look():
    """Of 30 cells a few are empty by chance, and by rounding, however many features there are."""
    ample, fair = CROWDING  # up to these
    assert crowding_of(26, 30, 1) > fair
    assert crowding_of(2_600, 3_000, 1) < ample
    assert crowding_of(6_000, 10_000, 1) == pytest.approx(-np.log(0.4), rel=0.05)
    assert crowding_of(6_000, 10_000, 2) == pytest.approx(-np.log(0.4) / 2, rel=0.05)


def test_crowded_cells_do_not_condemn_what_is_selected_far_above_the_noise():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 4000)
    told = labels ^ (rng.random(4000) < 0.1)
    rows = [[("no", "yes")[y], *(f"w{w}" for w in rng.integers(0, 60_000, 9))] for y in told]
    learner = make_learner(memory="1536", k=2)
    learner.learn(Batch.from_rows(rows, labels))
    noise = noise_of(learner)
    assert noise.crowding > 3.6
    assert noise.ratio > 10
    assert noise.verdict == "fair"
    assert "crowded" in noise.words
    weak = make_learner(memory="2KiB", k=80)
    weak.learn(Batch.from_rows([row[1:] for row in rows], labels))
    assert noise_of(weak).verdict == "too small"
    assert "by chance" in noise_of(weak).words


def test_crowded_cells_are_no_fault_where_predictions_have_nothing_to_gain():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 4000)
    rows = [[("no", "yes")[y], *(f"w{w}" for w in rng.integers(0, 60_000, 9))] for y in labels]
    learner = make_learner(memory="2KiB", k=2)
    learner.learn(Batch.from_rows(rows, labels))
    assert noise_of(learner).crowding > CROWDING[0]
    assert noise_of(learner).verdict == "fair"  # nobody kept the score
    for accuracy, verdict in ((0.98, "fair"), (0.995, "ample")):
        learner.run = {"progressive_accuracy": accuracy, "progressive_auc": 0.999}
        assert noise_of(learner).verdict == verdict
