"""The Newton direction must not be drowned by what softmax cannot see."""

import numpy as np

from bearsketch import Batch, make_learner


def test_newton_learns_more_than_two_classes_with_an_intercept():
    # Two features in batches of 20 make the linear system of the direction singular.
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    centres = np.array([[2.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]])
    values = (centres[labels] + rng.normal(size=(300, 2))).astype(np.float32)
    batch = Batch(np.arange(0, 601, 2), np.tile([0, 1], 300), values.ravel(), labels=labels)
    learner = make_learner("newton", loss="softmax", classes=3, intercept=True)

    learner.learn(batch)

    assert np.mean(learner.predict(batch) == labels) > 0.85
    weights = learner.weights_of([0, 1])
    np.testing.assert_allclose(weights.sum(axis=1), 0.0, atol=1e-4)
