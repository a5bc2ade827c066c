"""The compiled core against the slow, plain twins: same seed, same stream, 50 minibatches."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Decaying, ParameterError, make_learner
from reference.learner import TABLE, Settings, Twin
from reference.streams import LOSSES, batch_of, key_pool, stream

# bear+ has a twin of its own, in test_posterior.py.
LEARNERS = tuple(TABLE)
BATCHES, ROWS, ACTIVE = 50, 6, 8
TOLERANCE = {"float32": 1e-5, "float64": 1e-9, "int8": 1e-5}
# A constant step has to suit the direction: raw gradients take larger steps than solved systems.
CONSTANT = {"gradient": 0.3, "lbfgs": 0.1, "newton": 0.01}
STEPS = {
    "auto": (lambda _: "auto", lambda _: ("auto", 0.5)),
    "constant": (lambda eta: eta, lambda eta: ("constant", eta)),
    "decaying": (lambda eta: Decaying(20 * eta, 20.0), lambda eta: ("decaying", 20 * eta, 20.0)),
}


def make_pair(learner, loss, *, step="auto", precision="float64", classes=None, **options):
    """A learner, its twin, and the pool of keys they both see."""
    classes = classes or LOSSES[loss]
    dense = TABLE[learner][0] == "dense"
    size = {"dimension": 60} if dense else {"width": 23}
    shared = {**size, "seed": 11, "precision": precision, "intercept": False, **options}
    if TABLE[learner][2]:
        shared.setdefault("k", 7)
    theirs, ours = STEPS[step]
    eta = CONSTANT[TABLE[learner][1]]
    core = make_learner(
        learner,
        loss=loss,
        classes=classes if loss == "softmax" else None,
        step_size=theirs(eta),
        batch_size=ROWS,
        **shared,
    )
    twin = Twin(Settings(learner, loss=loss, classes=classes, step=ours(eta), **shared))
    pool = np.arange(60, dtype=np.uint64) if dense else key_pool(60)
    return core, twin, pool


def tolerance_of(core):
    """Relative; Newton divides residuals by curvatures, and both cancel where p is near 1."""
    saturates = core.config.learner == "newton" and core.config.loss == "softmax"
    return max(TOLERANCE[core.config.precision], 1e-6 if saturates else 0.0)


def assert_close(got, wanted, tolerance, what, scale=0.0):
    """Agreement relative to each number, or to the largest where numbers cancel."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    scale = np.abs(wanted).max(initial=scale)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale, err_msg=what)
    return scale


def check_agreement(
    core, twin, pool, loss, *, weights=None, passes=1, factor=1.0, change=lambda rows: rows
):
    tolerance = tolerance_of(core)
    scale = 0.0
    rows, labels = stream(loss, pool, n_rows=BATCHES * ROWS, active=ACTIVE, seed=5)
    grown = {int(key) for key in pool[:6]}
    rows = [{key: x * (factor if key in grown else 1.0) for key, x in row.items()} for row in rows]
    rows = change(rows)
    for number in range(passes):
        for start in range(0, len(rows), ROWS):
            cut = slice(start, start + ROWS)
            weight = None if weights is None else weights[cut]
            margins = core.learn(batch_of(rows[cut], labels[cut], weight)).margins
            wanted = twin.learn(rows[cut], labels[cut], weight)
            what = f"margins, pass {number}, row {start}"
            scale = assert_close(margins, wanted, tolerance, what, scale)
        core.finish_pass()
        twin.passes += 1
    keys = [int(key) for key in pool]
    assert_close(core.weights_of(pool), twin.weights_of(keys), tolerance, "weights")
    assert_close(core.predict_margin(batch_of(rows)), twin.predict(rows), tolerance, "predictions")
    assert_close(core.intercept, twin.intercept, tolerance, "intercept")
    assert [sorted(keys) for keys in selected_keys(core)] == [sorted(s) for s in twin.selected()]
    if core.config.k:
        got = core.predict_margin(batch_of(rows), selected_only=True)
        assert_close(got, twin.predict(rows, selected_only=True), tolerance, "selected only")
    check_guards(core, twin)


def selected_keys(core):
    return [core._core.selected(g)["keys"].tolist() for g in range(core._core.groups)]


def check_guards(core, twin):
    assert core.guards["uphill"] == twin.uphill
    for name, count in getattr(twin.direction, "counts", {}).items():
        assert core.guards[f"{name}_pairs"] == count, name


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("step", ["auto", "constant"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_core_equals_twin(learner, loss, step, precision):
    if TABLE[learner][0] == "dense" and precision == "int8":
        with pytest.raises(ParameterError, match="precision must be one of float32, float64"):
            make_pair(learner, loss, step=step, precision=precision)
        return
    core, twin, pool = make_pair(learner, loss, step=step, precision=precision)
    check_agreement(core, twin, pool, loss)


def unlike(rows):
    """Small values, no two keys the same: else rounding would decide which of two is selected."""
    sizes = {key: 0.25 + key / 2**67 for row in rows for key in row}
    return [{key: float(np.float32(sizes[key] * x)) for key, x in row.items()} for row in rows]


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("step", ["auto", "constant"])
@pytest.mark.parametrize("learner", [name for name in LEARNERS if TABLE[name][2]])
def test_one_heap_per_class(learner, step, precision):
    core, twin, pool = make_pair(learner, "softmax", step=step, precision=precision, per_class=True)
    check_agreement(core, twin, pool, "softmax", change=unlike)
    assert len(selected_keys(core)) == 4


@pytest.mark.parametrize("query", ["mean", "median"])
@pytest.mark.parametrize("reads", ["storage", "selection"])
@pytest.mark.parametrize("learner", ["bear", "mission", "newton", "awm"])
def test_every_way_to_read(learner, reads, query):
    step = "constant" if learner == "newton" else "auto"
    for depth in (2, 3):
        options = {"reads": reads, "query": query, "depth": depth}
        core, twin, pool = make_pair(learner, "logistic", step=step, **options)
        check_agreement(core, twin, pool, "logistic", passes=2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_l2_and_intercept(learner, loss):
    weights = np.random.default_rng(3).integers(0, 4, BATCHES * ROWS).astype(float)
    weights[::ROWS] = 1.0  # no minibatch without any weight
    for step in ("auto", "decaying"):
        core, twin, pool = make_pair(learner, loss, step=step, l2=0.05, intercept=True)
        check_agreement(core, twin, pool, loss, weights=weights)


@pytest.mark.parametrize("learner", ["sgd", "olbfgs"])
def test_dense_learners_that_select(learner):
    core, twin, pool = make_pair(learner, "squared", k=7, reads="selection")
    check_agreement(core, twin, pool, "squared", passes=3)
    assert len(core.selected()) == 7
