"""Outliers, which are so far from the others that they hide them."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, SketchClassifier, SketchRegressor
from bearsketch.training.scaling import clip_outliers, target_warning


def held(values):
    return clip_outliers(np.zeros(len(values), dtype=np.intp), np.asarray(values, dtype=np.float64))


def test_one_wild_value_is_held_and_the_others_stay():
    values = np.random.default_rng(0).normal(40, 12, 1000)
    values[7] = -1e9
    found = held(values)
    assert -300 < found[7] < -100
    np.testing.assert_array_equal(np.delete(found, 7), np.delete(values, 7))


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(1).lognormal(0, 2, 1000),  # what the data is like
        np.repeat([0.0, 1.0], [990, 10]),  # two values are as far apart as they are
        np.repeat([0.0, 1.0, 1e6], [500, 480, 20]),  # a mark, not an error
        np.r_[np.arange(10.0), 1e6],  # too few to tell
        np.full(100, 7.0),
    ],
)
def test_what_is_not_wild_stays(values):
    np.testing.assert_array_equal(held(values), values)


def test_groups_are_apart():
    groups = np.tile([0, 2], 100)
    values = np.where(groups == 0, 1e6, 1.0) * (1 + np.arange(200) % 7)
    np.testing.assert_array_equal(clip_outliers(groups, values), values)


@pytest.mark.parametrize("wild", [999.0, 1e6, -1e12])
def test_a_typing_error_costs_a_column_nothing(wild):
    rng = np.random.default_rng(0)
    X = rng.normal([40, 5e4], [12, 1e4], (4000, 2))
    y = (X[:, 0] - 40) / 6 + (X[:, 1] - 5e4) / 1e4 + rng.logistic(size=4000) > 0
    clean = SketchClassifier(memory="4KiB").fit(X[:3000], y[:3000]).score(X[3000:], y[3000:])
    X[10, 0] = wild
    dirty = SketchClassifier(memory="4KiB").fit(X[:3000], y[:3000]).score(X[3000:], y[3000:])
    assert dirty > clean - 0.01


def test_a_target_warning_is_told_with_its_place():
    rows = Batch.from_rows([["a"]] * 100, [float(i % 7) for i in range(99)] + [1e4])
    told = str(target_warning([rows.rows(0, 40), rows.rows(40, 100)]))
    assert told.startswith("the target 10000 is far beyond the others (all but 1 of 100 are ")
    assert "between 0 and 6)" in told
    assert target_warning([rows.rows(0, 99)]) is None
    X, y = np.random.default_rng(0).normal(size=(100, 2)), rows.labels
    with pytest.warns(UserWarning, match="DATA-TARGET"):
        SketchRegressor(memory="1KiB", shuffle=False).fit(X, y)
