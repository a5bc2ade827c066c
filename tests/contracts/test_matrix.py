"""Every learner x loss x selection x query x reads runs, or says why not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bearsketch import LEARNERS, ParameterError, load, make_learner
from reference.streams import batch_of, key_pool, stream

LOSSES = {"squared": None, "logistic": None, "softmax": 4}
SELECTIONS = {"none": {"k": 0}, "shared": {"k": 5}, "per class": {"k": 5, "per_class": True}}
MATRIX = list(
    itertools.product(LEARNERS, LOSSES, SELECTIONS, ("mean", "median"), ("storage", "selection"))
)
DENSE = ("sgd", "olbfgs")


def reason_against(learner, loss, selection, query, reads):
    """What the message says where a combination is not supported, or None."""
    if learner == "fh" and selection != "none":
        return "must not be given for 'fh'"
    if selection == "none" and learner not in (*DENSE, "fh", "bear+"):
        return "k must be at least 1"
    if selection == "none" and reads == "selection":
        return "k must be at least 1"
    if learner == "bear+" and query != "mean":
        return "query must be 'mean' for learner 'bear\\+'"
    if learner == "bear+" and reads != "storage":
        return "reads must be 'storage' for learner 'bear\\+'"
    return None


def make(learner, loss, selection, query, reads, **options):
    size = (
        {"dimension": 40}
        if learner in DENSE
        else {"width": 16, "depth": 1 if learner == "bear+" else 3}
    )
    return make_learner(
        learner,
        loss=loss,
        classes=LOSSES[loss],
        query=query,
        reads=reads,
        batch_size=10,
        step_size=0.01 if learner == "newton" else "auto",
        **{**size, **SELECTIONS[selection], **options},
    )


@pytest.mark.parametrize("combination", MATRIX, ids="-".join)
def test_every_combination_runs_or_says_why_not(combination, tmp_path):
    learner, loss, selection, *_ = combination
    reason = reason_against(*combination)
    if reason is not None:
        with pytest.raises(ParameterError, match=reason):
            make(*combination)
        return
    pool = np.arange(40, dtype=np.uint64) if learner in DENSE else key_pool(40)
    rows, labels = stream(loss, pool, n_rows=60, active=6)
    made = make(*combination)
    for _ in range(2):
        progress = made.learn(batch_of(rows, labels))
        made.finish_pass()
    assert np.isfinite(progress.loss)
    assert np.isfinite(made.predict_margin(batch_of(rows))).all()
    assert made.fill()["used"] > 0 or selection != "none"
    if selection == "none":
        with pytest.raises(ParameterError, match="selects nothing"):
            made.selected()
    else:
        assert 0 < len(made.selected()) <= 5 * (4 if made.config.per_class else 1)
    made.save(tmp_path / "model.bear")
    again = load(tmp_path / "model.bear")
    assert (again.predict_margin(batch_of(rows)) == made.predict_margin(batch_of(rows))).all()


def test_most_of_the_matrix_is_supported():
    supported = [row for row in MATRIX if reason_against(*row) is None]
    assert len(supported) == 171
    assert len(MATRIX) == 288


@pytest.mark.parametrize("learner", DENSE)
def test_dense_learners_need_a_dimension(learner):
    with pytest.raises(ParameterError, match=f"dimension must be given for learner '{learner}'"):
        make_learner(learner)


def test_probabilities_need_classes():
    made = make_learner("bear+", loss="squared", k=2, width=8)
    with pytest.raises(ParameterError, match="predict_proba needs a classifier"):
        made.predict_proba(batch_of([{1: 1.0}]))


def test_selected_only_needs_a_selection():
    made = make_learner("fh", width=8)
    with pytest.raises(ParameterError, match="selected_only needs selected features"):
        made.predict(batch_of([{1: 1.0}]), selected_only=True)
