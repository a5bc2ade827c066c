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
