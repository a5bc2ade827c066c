"""The selected features, as a user reads them."""

import pytest

from bearsketch import Batch, Learner, make_learner


@pytest.mark.parametrize("seed", [0, 7])
def test_an_empty_name_is_a_name(seed):
    learner = make_learner(k=2, memory="1KiB", seed=seed)
    learner.learn(Batch.from_rows([{"": 1}, {"b": 1}] * 20, [1, 0] * 20, seed=seed))
    assert sorted(learner.selected().names) == ["", "b"]
    assert sorted(Learner.from_bytes(learner.to_bytes()).selected().names) == ["", "b"]


def test_the_best_few_are_a_slice():
    learner = make_learner(k=3, memory="1KiB")
    learner.learn(Batch.from_rows([{"a": 1}, {"b": 1}, {"c": 1}] * 20, [1, 0, 0] * 20))
    selected = learner.selected()
    assert selected[:2] == [selected[0], selected[1]]
    assert selected[-1:] == [selected[2]]
    assert selected[5:] == []
