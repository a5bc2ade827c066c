"""Data that several tests of estimators share."""

import numpy as np
import pytest


@pytest.fixture
def two_classes():
    """500 examples of 40 features, of which 3, 7 and 11 decide between two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 40)) * (rng.random((500, 40)) < 0.3)
    y = np.where(3 * X[:, 7] - 2 * X[:, 11] + 2 * X[:, 3] + rng.normal(size=500) * 0.2 > 0, 1, 0)
    return X, y


@pytest.fixture
def three_classes():
    """600 examples of 30 features; features 0, 1 and 2 each speak for a class."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 30))
    return X, np.array(["ash", "birch", "cedar"])[np.argmax(X[:, :3], axis=1)]
