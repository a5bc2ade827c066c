"""Features are ranked by what they move: weights times the size of their values."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, Learner, make_learner
from bearsketch.exceptions import ModelFileError
from bearsketch.learners import state
from bearsketch.learners.average import average
from bearsketch.model_file import pack

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
    selected = trained(factor).selected()
    assert set(selected.keys.tolist()) == {0, 1, 2, 3, 4}
    assert selected.keys[0] == 0
    assert selected.weights[0] * factor == pytest.approx(2.0, rel=0.3)


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


@pytest.mark.parametrize("wrong", [0.5, np.nan, np.inf])
def test_a_file_with_another_magnitude_is_refused(wrong):
    arrays, record = state.dump(trained(1000))
    arrays["selected.0.magnitudes"] = np.full(5, wrong, dtype=np.float32)
    with pytest.raises(ModelFileError):
        Learner.from_bytes(pack(arrays, record))


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


def table_of(loss, n, scales, seed):
    """Rows of columns in units of their own, of which the first five tell the label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(scales)))
    told = X[:, :5] @ EFFECTS
    y = told + 0.5 * rng.normal(size=n)
    if loss == "logistic":
        y = np.where(told + rng.logistic(size=n) > 0, 1.0, -1.0)
    keys = np.tile(np.arange(len(scales), dtype=np.uint64), n)
    indptr = np.arange(0, n * len(scales) + 1, len(scales))
    return Batch(indptr, keys, (scales * X).astype(np.float32).ravel(), y)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_table_in_any_units_is_learned_as_one_near_1(loss):
    """Prices beside shares beside time stamps: none drowns the rest, and none is lost."""
    rng = np.random.default_rng(7)
    for seed in range(5):
        scales = 10 ** rng.uniform(0, 5, size=40)
        errors, found = [], []
        for units in (np.ones(40), scales):
            learner = make_learner(k=8, memory="16KiB", loss=loss)
            learner.learn(table_of(loss, 20000, units, seed))
            test = table_of(loss, 2000, units, 100 + seed)
            margin = np.ravel(learner.predict_margin(test, selected_only=True))
            wrong = np.sign(margin) != test.labels
            errors.append(np.mean(wrong if loss == "logistic" else (test.labels - margin) ** 2))
            found.append(len({0, 1, 2, 3, 4} & set(learner.selected().keys.tolist())))
        assert found[0] == 5
        assert found[1] >= 4
        assert errors[1] < 1.1 * errors[0] + 0.005, seed


def sizes(learner):
    return learner._core.selected(0)["magnitudes"]


def test_a_value_that_was_large_once_is_forgotten_where_others_are_not():
    """Batches without a value above 1 tell the size of values as well as the others do."""
    learner = make_learner(k=2, memory="1KiB")
    names = ["yes", "no"]
    rows = [{names[i % 2]: 3.0 if i < 20 else 1.0} for i in range(1000)]
    learner.learn(Batch.from_rows(rows[:20], [1 - i % 2 for i in range(20)]))
    assert sizes(learner) == pytest.approx([3.0, 3.0])
    learner.learn(Batch.from_rows(rows[20:], [1 - i % 2 for i in range(980)]))
    assert sizes(learner) == pytest.approx([1.0, 1.0], abs=0.05)
