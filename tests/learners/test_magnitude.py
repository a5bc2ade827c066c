"""Features are ranked by what they move: weights times the size of their values."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, Learner, make_learner
from bearsketch.learners import state
from bearsketch.learners.average import average

EFFECTS = np.array([2.0, 1.5, -1.0, 0.8, -0.6])


def batch_of(factor, n=2000, seed=0, columns=30):
    """Rows of which the first five columns tell the label, the first times a factor."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).astype(np.float32)
    y = np.where(X[:, :5] @ EFFECTS + rng.logistic(size=n) > 0, 1.0, -1.0)
    X[:, 0] *= factor
    keys = np.tile(np.arange(columns, dtype=np.uint64), n)
    return Batch(np.arange(0, n * columns + 1, columns), keys, X.ravel(), y)


def trained(factor, seed=0):
    learner = make_learner(k=5, memory="8KiB")
    learner.learn(batch_of(factor, seed=seed))
    return learner


@pytest.mark.parametrize("factor", [1, 30, 1000])
def test_a_column_of_large_numbers_keeps_its_rank(factor):
    """Training scales columns; a learner that gets them as they are still finds what tells."""
    selected = trained(factor).selected()
    assert 0 in selected.keys
    assert selected.weights[selected.keys == 0][0] * factor == pytest.approx(2.0, rel=0.5)


def test_without_large_values_nothing_is_kept_of_them():
    learner = make_learner(k=2, memory="1KiB")
    learner.learn(Batch.from_rows([["a", "b"], ["c"]] * 20, [1, -1] * 20))
    assert not [name for name in state.dump(learner)[0] if "magnitudes" in name]


def test_a_saved_learner_ranks_and_goes_on_alike():
    learner = trained(1000)
    again = Learner.from_bytes(learner.to_bytes())
    assert again.selected().keys.tolist() == learner.selected().keys.tolist()
    more = batch_of(1000, seed=1)
    learner.learn(more)
    again.learn(more)
    assert again.to_bytes() == learner.to_bytes()


def test_averages_rank_as_their_parts():
    merged = average([trained(1000, seed) for seed in range(3)])
    assert merged.selected().keys[0] == 0
    assert set(merged.selected().keys.tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("factor", [1, 100, 1000])
@pytest.mark.parametrize("k", [2, 5, 7])
def test_columns_that_come_and_go_do_not_begin_anew(factor, k):
    """All columns and the target in another unit: what was learned is learned."""
    rng = np.random.default_rng(1)
    X = (factor * rng.normal(size=(2000, 50))).astype(np.float32)
    y = 3 * X[:, 2] - 2 * X[:, 5] + 0.1 * factor * rng.normal(size=2000)
    learner = make_learner("bear+", loss="squared", k=k, memory="64KiB")
    keys = np.tile(np.arange(50, dtype=np.uint64), 2000)
    learner.learn(Batch(np.arange(0, 50 * 2000 + 1, 50), keys, X.ravel(), y))
    found = learner.selected()
    assert found.keys[:2].tolist() == [2, 5]
    assert np.ravel(found.weights)[:2] == pytest.approx([3.0, -2.0], rel=0.1)
