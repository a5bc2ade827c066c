"""Proven features of the estimators."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import SketchClassifier, SketchRegressor, SketchSelector
from bearsketch.exceptions import ParameterError


def data(seed=0, n=3000, p=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 3] - X[:, 8] + rng.normal(size=n), rng


@pytest.mark.parametrize("kind", [SketchClassifier, SketchRegressor])
def test_support_may_be_of_proven_columns_alone(kind):
    X, target, _ = data()
    y = target > 0 if kind is SketchClassifier else target
    model = kind(k=10, memory="4KiB").fit(X, y)
    assert model.get_support(indices=True, fdr=0.1).tolist() == [3, 8]
    assert model.get_support(fdr=0.1).sum() == 2
    assert len(model.get_support(indices=True)) == 10
    assert len(model.fdr_) == 10
    assert set(model.selected_indices_[model.fdr_ <= 0.1].tolist()) == {3, 8}
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        model.get_support(fdr=0)


def test_a_selector_keeps_proven_columns():
    X, target, rng = data()
    selector = SketchSelector(k=10, memory="4KiB", fdr=0.1).fit(X, target > 0)
    assert selector.get_support(indices=True).tolist() == [3, 8]
    assert selector.transform(X).shape == (3000, 2)
    noise = SketchSelector(k=10, memory="4KiB", fdr=0.1).fit(X, rng.permutation(target > 0))
    with pytest.warns(UserWarning, match="No features were selected"):
        assert noise.transform(X).shape == (3000, 0)
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        SketchSelector(fdr=2.0).fit(X, target > 0)


def test_further_rows_are_new_evidence():
    X, target, _ = data()
    model = SketchClassifier(k=10, memory="4KiB").fit(X[:1000], target[:1000] > 0)
    model.partial_fit(X[1000:], target[1000:] > 0)
    assert model.learner_.evidence.rows == 3000
    assert not model.learner_.evidence.frozen
