"""Same data and seed: the same bytes, however the stream was cut or written down."""

from __future__ import annotations

import copy
import itertools
import pickle
import random

import numpy as np
import pytest

from bearsketch import LEARNERS, Batch, make_learner
from reference.streams import batch_of, fitting, stream

POOL = np.arange(60, dtype=np.uint64)
BATCH = 20


def make(learner, **options):
    options = {
        "batch_size": BATCH,
        "step_size": 0.02,
        **({"dimension": 60} if learner in ("sgd", "olbfgs") else {"width": 16}),
        **({} if learner in ("sgd", "olbfgs", "fh") else {"k": 7}),
        **options,
    }
    return make_learner(learner, **fitting(learner, options))


def saved(learner, tmp_path):
    learner.save(tmp_path / "model.bear")
    return (tmp_path / "model.bear").read_bytes()


def cuts(n_rows, rng):
    """Rows into chunks of random lengths, all multiples of a minibatch."""
    at = [0]
    while at[-1] < n_rows:
        at.append(min(at[-1] + BATCH * rng.randint(1, 5), n_rows))
    return list(itertools.pairwise(at))


@pytest.mark.parametrize("options", [{}, {"l2": 0.05, "intercept": True}], ids=["plain", "decay"])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_same_bytes_again_and_for_any_chunks(learner, loss, options, tmp_path):
    rows, labels = stream(loss, POOL, n_rows=330, active=8, seed=3)
    whole = batch_of(rows, labels)
    wanted = None
    rng = random.Random(1)
    for chunks in ([(0, 330)], [(0, 330)], cuts(330, rng), cuts(330, rng)):
        made = make(learner, loss=loss, classes=4 if loss == "softmax" else None, **options)
        for start, stop in chunks:
            made.learn(whole.rows(start, stop))
        got = saved(made, tmp_path)
        wanted = wanted or got
        assert got == wanted, chunks


def test_another_cut_into_minibatches_is_another_model(tmp_path):
    rows, labels = stream("logistic", POOL, n_rows=100, active=8, seed=3)
    whole = batch_of(rows, labels)
    one, two = make("bear+"), make("bear+")
    one.learn(whole)
    for start in range(0, 100, 10):
        two.learn(whole.rows(start, start + 10))
    assert saved(one, tmp_path) != saved(two, tmp_path)


@pytest.mark.parametrize("learner", ["bear+", "bear", "mission", "newton", "fh", "awm"])
def test_the_order_of_features_in_a_row_does_not_matter(learner, tmp_path):
    rng = random.Random(2)
    words = [f"word{i}" for i in range(200)]
    rows = [{w: rng.choice([1.0, 0.5, 3.0]) for w in rng.sample(words, 12)} for _ in range(120)]
    labels = [rng.choice([-1, 1]) for _ in rows]
    orders = [rows, [dict(rng.sample(list(row.items()), len(row))) for row in rows]]
    orders.append([dict(sorted(row.items(), reverse=True)) for row in rows])
    files = set()
    for shuffled in orders:
        made = make(learner, seed=9)
        made.learn(Batch.from_rows(shuffled, labels, seed=9))
        files.add(saved(made, tmp_path))
    assert len(files) == 1


def test_lists_of_names_count_repeats():
    a = Batch.from_rows([["x", "y", "x"]], [1])
    b = Batch.from_rows([{"y": 1.0, "x": 2.0}], [1])
    assert (a.keys == b.keys).all()
    assert (a.values == b.values).all()
    assert a.names is not None
    assert [a.names[i] for i in range(2)] == [b.names[i] for i in range(2)]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_seed_changes_hashed_models_only(learner, tmp_path):
    rows, labels = stream("logistic", POOL, n_rows=100, active=8, seed=3)
    cells = []
    for seed in (1, 2):
        made = make(learner, seed=seed)
        made.learn(batch_of(rows, labels))
        cells.append(made._core.cells())
    assert (cells[0] == cells[1]) == (learner in ("sgd", "olbfgs"))


def test_predicting_and_reading_leave_no_trace(tmp_path):
    rows, labels = stream("logistic", POOL, n_rows=200, active=8, seed=3)
    quiet, asked = make("bear+"), make("bear+")
    for start in range(0, 200, BATCH):
        part = batch_of(rows[start : start + BATCH], labels[start : start + BATCH])
        quiet.learn(part)
        asked.learn(part)
        asked.predict_proba(part, selected_only=True)
        asked.selected()
        asked.weights_of(POOL)
        asked.fill()
    assert saved(quiet, tmp_path) == saved(asked, tmp_path)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copy_is_the_same_model_and_says_what_it_is(learner, copied):
    rows, labels = stream("logistic", POOL, n_rows=BATCH, active=8, seed=5)
    made = make(learner)
    made.learn(batch_of(rows, labels, None))
    assert copied(made).to_bytes() == made.to_bytes()
    assert repr(made).startswith(f"<{learner}: logistic")
