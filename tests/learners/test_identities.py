"""Different learners that must be the same: equal by algebra, so equal to rounding here."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Decaying, make_learner
from reference.storage import CountSketch
from reference.streams import LOSSES, batch_of, stream

ROWS = 10
POOL = np.arange(50, dtype=np.uint64)
WIDE = 1 << 17


def make(learner, loss="logistic", **options):
    options = {"precision": "float64", "seed": 4, "batch_size": ROWS, **options}
    classes = options.pop("classes", LOSSES[loss])
    if learner in ("sgd", "olbfgs"):
        options["dimension"] = 50
        for sketch_only in ("width", "depth"):
            options.pop(sketch_only, None)
    return make_learner(
        learner, loss=loss, classes=classes if loss == "softmax" else None, **options
    )


def train(*learners, loss="logistic", n_rows=400, seed=1, labels_as=None):
    rows, labels = stream(labels_as or loss, POOL, n_rows=n_rows, active=8, seed=seed)
    for learner in learners:
        for _ in range(2):
            learner.learn(batch_of(rows, labels))
            learner.finish_pass()
    return rows


def largest_gap(a, b):
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def test_the_wide_sketch_of_these_tests_has_no_collision():
    for depth in (1, 3, 5):
        sketch = CountSketch(WIDE, depth, 1, "mean", 4, float)
        places = [(row, bucket) for key in POOL for row, bucket, _ in sketch.places(int(key))]
        assert len(set(places)) == depth * len(POOL)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("dense", "sketched", "options"),
    [
        ("sgd", "fh", {}),
        ("sgd", "mission", {"k": 6, "reads": "selection"}),
        ("sgd", "awm", {"k": 6, "reads": "storage"}),
        ("olbfgs", "bear", {"k": 6, "reads": "selection"}),
    ],
)
def test_dense_equals_a_sketch_without_collisions(dense, sketched, options, loss):
    check_dense_equals_sketched(dense, sketched, options, loss)


def check_dense_equals_sketched(dense, sketched, options, loss, selected_only=False):
    for query in ("mean", "median"):
        options = {**options, "query": query, "intercept": True, "l2": 0.01, "width": WIDE}
        a, b = make(dense, loss, **options), make(sketched, loss, **options)
        rows = train(a, b, loss=loss)
        keys = b.selected().keys if selected_only else POOL
        assert largest_gap(a.weights_of(keys), b.weights_of(keys)) < 1e-9
        margins = a.predict_margin(batch_of(rows), selected_only=selected_only)
        assert largest_gap(margins, b.predict_margin(batch_of(rows))) < 1e-9
        if options.get("k"):
            assert a.selected().keys.tolist() == b.selected().keys.tolist()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("reads", ["selection", "storage"])
@pytest.mark.parametrize("step", ["auto", 0.1, Decaying(2.0, 20.0)])
def test_bear_without_history_is_mission(step, reads, loss):
    options = {"k": 6, "width": 17, "step_size": step, "reads": reads, "precision": "float32"}
    bear, mission = make("bear", loss, history=0, **options), make("mission", loss, **options)
    train(bear, mission, loss=loss)
    assert bear._core.cells() == mission._core.cells()
    assert bear.selected().keys.tolist() == mission.selected().keys.tolist()


def test_a_history_makes_a_difference():
    options = {"k": 6, "width": 17}
    bear, mission = make("bear", **options), make("mission", **options)
    train(bear, mission)
    assert bear._core.cells() != mission._core.cells()


@pytest.mark.parametrize(
    ("learner", "softmax_step", "logistic_step"),
    [
        # Along the gradient the two weights of a key move apart, each as fast as the one weight.
        ("sgd", 0.1, 0.2),
        ("fh", 0.1, 0.2),
        ("mission", 0.1, 0.2),
        ("awm", 0.1, 0.2),
        # A solved system carries that factor in itself ...
        ("newton", 0.02, 0.02),
        # ... and the automatic step finds it, along any direction.
        ("sgd", "auto", "auto"),
        ("fh", "auto", "auto"),
        ("mission", "auto", "auto"),
        ("awm", "auto", "auto"),
        ("olbfgs", "auto", "auto"),
        ("bear", "auto", "auto"),
    ],
)
def test_softmax_of_two_classes_is_logistic(learner, softmax_step, logistic_step):
    """The logistic weight is the difference of the two softmax weights, which are opposite."""
    options = {"width": 64}
    if learner in ("mission", "awm", "newton", "bear"):
        options["k"] = 6
    two = make(learner, "softmax", classes=2, step_size=softmax_step, **options)
    one = make(learner, "logistic", step_size=logistic_step, **options)
    rows = train(two, one, labels_as="logistic")
    w = two.weights_of(POOL)
    # Newton's ridge of 1e-9 counts half in the doubled system, seen where labels are certain.
    tolerance = 1e-4 if learner == "newton" else 1e-9
    assert largest_gap(w[:, 0], -w[:, 1]) < 1e-9
    assert largest_gap(w[:, 1] - w[:, 0], one.weights_of(POOL)[:, 0]) < tolerance
    # Margins: of classes there is a temperature, of two labels an offset as well.
    margin, margins = (made.predict_margin(batch_of(rows)) for made in (one, two))
    assert largest_gap(margin[:, 0], margins[:, 1] - margins[:, 0]) < tolerance
    if "k" in options:
        assert two.selected().keys.tolist() == one.selected().keys.tolist()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", ["sgd", "olbfgs", "fh", "mission", "bear", "newton", "awm"])
def test_merged_weights_are_the_mean_weighted_by_examples(learner, loss):
    options = {"width": WIDE, "intercept": True, "step_size": 0.01}
    if learner not in ("sgd", "olbfgs", "fh"):
        options["k"] = 6
    a, b = make(learner, loss, **options), make(learner, loss, **options)
    train(a, loss=loss, n_rows=100, seed=1)
    train(b, loss=loss, n_rows=300, seed=2)
    wanted = 0.25 * a.weights_of(POOL) + 0.75 * b.weights_of(POOL)
    constant = 0.25 * a.intercept + 0.75 * b.intercept
    a.merge(b)
    assert largest_gap(a.weights_of(POOL), wanted) < 1e-9
    assert largest_gap(a.intercept, constant) < 1e-12
    assert a.counters["examples"] == 800


def test_merged_sketches_are_the_mean_of_their_cells_collisions_or_not():
    a, b = make("mission", k=6, width=7), make("mission", k=6, width=7)
    train(a, seed=1)
    train(b, seed=2)
    cells = [np.frombuffer(learner._core.cells()) for learner in (a, b)]
    a.merge(b)
    merged = np.frombuffer(a._core.cells())
    assert largest_gap(merged, 0.5 * (cells[0] + cells[1])) < 1e-15


@pytest.mark.parametrize("learner", ["mission", "awm"])
def test_merging_in_an_untrained_learner_changes_nothing(learner):
    a, new = make(learner, k=6, width=7), make(learner, k=6, width=7)
    train(a)
    before, keys = a.weights_of(POOL), a.selected().keys.tolist()
    a.merge(new)
    assert largest_gap(a.weights_of(POOL), before) < 1e-12
    assert a.selected().keys.tolist() == keys
    new.merge(a)
    assert largest_gap(new.weights_of(POOL), before) < 1e-12
    assert sorted(new.selected().keys.tolist()) == sorted(keys)


def test_a_merged_learner_keeps_names():
    from bearsketch import Batch

    a, b = (make_learner("bear+", k=4, width=64, seed=4) for _ in range(2))
    a.learn(Batch.from_rows([["left", "both"], ["down"]], [1, -1], seed=4))
    b.learn(Batch.from_rows([["right", "both"], ["down"]], [1, -1], seed=4))
    a.merge(b)
    assert set(a.selected().names) <= {"left", "right", "both", "down"}
    assert {"both", "down"} <= set(a.selected().names)
