"""Learners with fewer classes than room was kept for."""

import numpy as np
from numpy.testing import assert_array_equal

from bearsketch import make_learner
from bearsketch.learners import state
from bearsketch.learners.narrow import _own


def test_weights_of_a_byte_differ_by_the_same_steps_as_before():
    rng = np.random.default_rng(0)
    config = make_learner(loss="softmax", classes=range(4), k=8, seed=0).config
    exponents = rng.integers(-9, 3, 500).astype(np.int8)
    steps = np.vstack([rng.integers(-127, 128, (499, 4)), [127, -127, -127, -127]])
    weights = np.ldexp(steps.astype(float), exponents[:, None])
    own = state.unpack_weights("w", state.pack_weights("w", _own(weights, exponents), config))
    off = np.ldexp(own - own[:, :1] - (weights - weights[:, :1]), -exponents[:, None])
    fits = abs(steps - np.rint(steps.mean(axis=1, keepdims=True))).max(axis=1) <= 127
    assert 0.5 < fits.mean() < 1.0
    assert_array_equal(off[fits], 0.0)
    assert abs(off).max() <= 2.0  # twice as long steps, rounded
    assert (abs(own.mean(axis=1)) <= np.ldexp(1.0, exponents)).all()
    usual = np.ptp(steps, axis=1) < 127
    assert (abs(own.mean(axis=1)) <= np.ldexp(0.5, exponents))[usual].all()
