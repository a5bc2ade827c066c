"""exp, log and log1p of the core: at most one ulp from the exact value, and exact at the ends."""

import math

import numpy as np
import pytest

from reference import exact_math


@pytest.mark.parametrize("name", exact_math.FUNCTIONS)
def test_within_one_ulp_of_the_exact_value_in_every_range(name):
    rng = np.random.default_rng(1)
    worst = {
        part: exact_math.worst_ulps(name, arguments)
        for part, arguments in exact_math.ranges(name, 1500, rng)
    }
    assert len(worst) >= 5
    assert {part: found for part, found in worst.items() if found[0] > 1.0} == {}


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("exp", math.inf, math.inf),
        ("exp", -math.inf, 0.0),
        ("exp", math.nan, math.nan),
        ("exp", 0.0, 1.0),
        ("log", 0.0, -math.inf),
        ("log", math.inf, math.inf),
        ("log", -1.0, math.nan),
        ("log", math.nan, math.nan),
        ("log", 1.0, 0.0),
        ("log1p", -1.0, -math.inf),
        ("log1p", math.inf, math.inf),
        ("log1p", -2.0, math.nan),
        ("log1p", math.nan, math.nan),
        ("log1p", 5e-324, 5e-324),
    ],
)
def test_at_the_ends_of_the_range(name, argument, expected):
    (found,) = exact_math.FUNCTIONS[name](np.array([argument])).tolist()
    assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_vectors_and_single_numbers_give_the_same_bits():
    values = np.random.default_rng(2).normal(0.0, 20.0, 1001)
    for name, function in exact_math.FUNCTIONS.items():
        one_by_one = np.array([function(values[i : i + 1])[0] for i in range(len(values))])
        assert one_by_one.tobytes() == function(values).tobytes(), name
