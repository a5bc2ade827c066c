"""Weights of examples count between minibatches as well as inside them."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, make_learner
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner
from bearsketch.learners.average import average

LEARNERS = ["bear+", "bear", "mission", "fh", "awm"]


def rows(n: int, weights: np.ndarray, sign: int = 1, seed: int = 0) -> Batch:
    """Rows of ten features whose first two tell the label, or tell it the wrong way round."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10)).astype(np.float32) / 3
    labels = (sign * (X[:, 0] - X[:, 1]) > 0).astype(float)
    indptr = np.arange(0, 10 * n + 1, 10)
    keys = np.tile(np.arange(10, dtype=np.uint64), n)
    return Batch(indptr, keys, X.ravel(), labels=labels, weights=weights)


def accuracy(learner: Learner, batch: Batch) -> float:
    return float(np.mean((learner.predict_margin(batch)[:, 0] > 0) == (batch.labels > 0)))


def make(name: str, **options: object) -> Learner:
    return make_learner(name, k=0 if name == "fh" else 10, memory="2KiB", **options)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("batch_size", [1, 20])
def test_light_examples_do_not_undo_what_heavy_ones_taught(name, batch_size):
    heavy = rows(2000, np.ones(2000))
    light = rows(2000, np.full(2000, 0.001), sign=-1, seed=1)
    learner = make(name, batch_size=batch_size)
    learner.learn(heavy)
    before = accuracy(learner, heavy)
    learner.learn(light)
    assert before > 0.85
    assert accuracy(learner, heavy) > before - 0.05


@pytest.mark.parametrize("name", LEARNERS)
def test_the_unit_of_weights_does_not_matter(name):
    weights = np.random.default_rng(2).integers(1, 5, 400).astype(float)
    one, other = make(name), make(name)
    one.learn(rows(400, weights))
    other.learn(rows(400, 1024 * weights))
    assert one.weights_of(np.arange(10)).tobytes() == other.weights_of(np.arange(10)).tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_weights_of_one_are_none(name):
    one, other = make(name), make(name)
    one.learn(rows(400, np.ones(400)))
    other.learn(rows(400, None))
    assert one.to_bytes() == other.to_bytes()


def test_a_saved_learner_goes_on_with_what_its_examples_weighed():
    weights = np.random.default_rng(3).exponential(size=400)
    whole = make("bear+")
    whole.learn(rows(400, weights))
    loaded = Learner.from_bytes(whole.to_bytes())
    for learner in (whole, loaded):
        learner.learn(rows(20, np.full(20, 0.1), seed=4))
    assert loaded.to_bytes() == whole.to_bytes()


def test_an_average_weighs_its_parts_by_the_weights_of_their_examples():
    a, b = make("fh"), make("fh")
    a.learn(rows(200, np.full(200, 3.0)))
    b.learn(rows(200, np.ones(200), seed=5))
    both = average([a, b])
    mean = 0.75 * a.weights_of(np.arange(10)) + 0.25 * b.weights_of(np.arange(10))
    np.testing.assert_allclose(both.weights_of(np.arange(10)), mean, atol=0.02)


def test_weights_beyond_all_numbers_are_refused():
    with pytest.raises(ParameterError, match="weights must add up to a finite number"):
        make("bear+").learn(rows(40, np.full(40, 1e308)))
