"""What every learner obeys, whatever its parts."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import LEARNERS, IncompatibleError, make_learner
from bearsketch.learners.selected import sizes_of
from reference.losses import LOSSES as PLAIN_LOSSES
from reference.streams import LOSSES, batch_of, fitting, stream

DENSE = ("sgd", "olbfgs")
POOL = np.arange(40, dtype=np.uint64)


def make(learner, loss="logistic", **options):
    options = {
        "batch_size": 10,
        "precision": "float64",
        "intercept": True,
        "step_size": 0.02,
        **({"dimension": 40} if learner in DENSE else {"width": 16}),
        **({} if learner in (*DENSE, "fh") else {"k": 5}),
        **options,
    }
    classes = 4 if loss == "softmax" else None
    return make_learner(learner, loss=loss, classes=classes, **fitting(learner, options))


def trained(learner, loss="logistic", **options):
    made = make(learner, loss, **options)
    rows, labels = stream(loss, POOL, n_rows=100, active=6, seed=2)
    made.learn(batch_of(rows, labels))
    return made, rows, labels


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_predictions_are_products_with_the_weights(learner, loss):
    made, rows, _ = trained(learner, loss)
    w = made.weights_of(POOL)
    X = np.array([[row.get(int(key), 0.0) for key in POOL] for row in rows])
    np.testing.assert_allclose(
        made.predict_margin(batch_of(rows)), X @ w + made.intercept, atol=1e-12
    )
    if made.config.k:
        chosen = np.isin(POOL, made.selected().keys)[:, None] * w
        np.testing.assert_allclose(
            made.predict_margin(batch_of(rows), selected_only=True),
            X @ chosen + made.selected_intercept,
            atol=1e-12,
        )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_progress_is_the_loss_before_learning(learner, loss):
    made, rows, labels = trained(learner, loss)
    weights = np.arange(10, dtype=float)
    margins = made.predict_margin(batch_of(rows[:10]))
    if made.config.reads == "selection":
        margins = made.predict_margin(batch_of(rows[:10]), selected_only=True)
    progress = made.learn(batch_of(rows[:10], labels[:10], weights))
    atol = 1e-5 if learner == "bear+" else 1e-12  # it learns in floats
    np.testing.assert_allclose(progress.margins, margins, atol=atol)
    wanted = PLAIN_LOSSES[loss]().value(margins, labels[:10], weights / weights.sum())
    assert progress.loss == pytest.approx(wanted, rel=1e-5)
    assert progress.weight == weights.sum()
    assert progress.examples == 10


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_probabilities_are_those_of_the_margins(learner, loss):
    made, rows, _ = trained(learner, loss)
    p = made.predict_proba(batch_of(rows))
    m = made.predict_margin(batch_of(rows))
    if loss == "logistic":
        m = np.hstack([np.zeros_like(m), m])
    e = np.exp(m - m.max(axis=1, keepdims=True))
    np.testing.assert_allclose(p, e / e.sum(axis=1, keepdims=True), atol=1e-12)
    number = {"logistic": np.array([0, 1]), "softmax": np.arange(4)}[loss]
    assert (made.predict(batch_of(rows)) == number[np.argmax(p, axis=1)]).all()


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", ["bear+", "bear", "mission", "newton", "awm"])
def test_the_selected_come_best_first_with_the_weights_predictions_use(learner, loss, per_class):
    made, *_ = trained(learner, loss, per_class=per_class)
    found = made.selected()
    sizes = sizes_of(made.config.update, found.all_weights) * found.worths
    assert (np.diff(sizes) <= 1e-12).all()
    assert found.names == [str(key) for key in found.keys]
    assert len(found) == len(list(found)) == len(found.labels)
    for i, feature in enumerate(found):
        assert feature == found[i]
        w = made.weights_of([feature.key])[0]
        at = {"squared": 0, "logistic": 0}.get(loss, feature.label)
        assert feature.weight == pytest.approx(w[at], abs=1e-12)
    if not made.config.per_class:
        assert len(set(found.keys.tolist())) == len(found) == 5


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_batch_without_rows_changes_nothing(learner):
    made, *_ = trained(learner)
    before = made._core.cells()
    progress = made.learn(batch_of([], np.array([])))
    assert (progress.examples, progress.loss) == (0, 0.0)
    assert made._core.cells() == before
    assert made.predict(batch_of([])).shape == (0,)


STRANGERS = {
    "seed": {"seed": 1},
    "width": {"width": 17},
    "depth": {"depth": 2},
    "k": {"k": 4},
    "loss": {"loss": "squared"},
    "query": {"query": "median"},
    "precision": {"precision": "float32"},
    "reads": {"reads": "selection"},
    "step": {"step_size": 0.03},
    "l2": {"l2": 0.1},
    "intercept": {"intercept": False},
    "batch_size": {"batch_size": 11},
}


@pytest.mark.parametrize("field", STRANGERS)
def test_merging_strangers_names_the_field_and_both_values(field):
    made, *_ = trained("awm")
    before = made._core.cells()
    stranger = make("awm", **STRANGERS[field])
    with pytest.raises(
        IncompatibleError, match=f"learners must agree to merge: {field} is .* here"
    ):
        made.merge(stranger)
    assert made._core.cells() == before


def test_merging_says_how_classes_differ_and_what_makes_them_agree():
    one, turned, other = (
        make_learner("bear+", k=2, width=8, loss="softmax", classes=labels)
        for labels in (["a", "b", "c"], ["c", "b", "a"], ["a", "b", "d", "e"])
    )
    with pytest.raises(IncompatibleError, match="in another order, a, b, c and c, b, a") as caught:
        one.merge(turned)
    assert "--classes a,b,c" in caught.value.hint
    found = "the classes differ, c only in the first and d, e only in the second"
    with pytest.raises(IncompatibleError, match=found) as caught:
        one.merge(other)
    assert "--classes a,b,c,d,e" in caught.value.hint


def test_merging_checks_the_history():
    one, two = (make("bear", history=n) for n in (5, 3))
    with pytest.raises(IncompatibleError, match="history is 5 here and 3 there"):
        one.merge(two)


def test_merging_checks_learner_labels_and_itself():
    made, *_ = trained("bear+")
    with pytest.raises(IncompatibleError, match="learner is 'bear\\+' here and 'awm' there"):
        made.merge(make("awm", depth=3))
    with pytest.raises(IncompatibleError, match="cannot be merged with itself"):
        made.merge(made)
    one, two = (make_learner("bear+", k=2, width=8, classes=c) for c in (["a", "b"], ["b", "a"]))
    with pytest.raises(IncompatibleError, match="in another order, a, b and b, a"):
        one.merge(two)
