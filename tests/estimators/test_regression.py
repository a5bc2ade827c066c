"""Numbers to predict, wherever they lie."""

import numpy as np
import pytest

from bearsketch import SketchRegressor


@pytest.mark.parametrize("offset", [0.0, 2000.0, -1e6])
def test_numbers_far_from_zero_are_learned_as_those_around_it(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = 3.0 * X[:, 2] - 2.0 * X[:, 9] + offset
    model = SketchRegressor(k=2, memory="8KiB").fit(X, y)
    assert sorted(model.selected_names_) == ["x2", "x9"]
    assert model.score(X, y) > 0.999


@pytest.mark.parametrize(("rows", "columns", "least"), [(300, 20, 0.96), (1000, 300, 0.85)])
def test_few_rows_for_their_columns_are_enough(rows, columns, least):
    scores = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows + 1000, columns))
        y = X @ (rng.normal(size=columns) * (rng.random(columns) < 0.3))
        y += 0.1 * y.std() * rng.normal(size=len(y))
        model = SketchRegressor(k=columns, random_state=seed).fit(X[:rows], y[:rows])
        scores.append(model.score(X[rows:], y[rows:]))
    assert np.mean(scores) > least


def test_noise_is_not_followed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(22_000, 20))
    y = X @ rng.normal(size=20)
    y += y.std() * rng.normal(size=len(y))
    model = SketchRegressor(k=20).fit(X[:20_000], y[:20_000])
    assert model.score(X[20_000:], y[20_000:]) > 0.475
