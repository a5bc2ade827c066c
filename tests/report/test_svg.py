"""Axes cover their data."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bearsketch.report.svg import count_axis, even_axis, log_axis, short_count

sizes = st.floats(min_value=1e-6, max_value=1e12)


@given(low=st.floats(min_value=-1e6, max_value=1e6), span=sizes)
def test_even_ticks_cover_the_data(low, span):
    axis = even_axis(low, low + span)
    assert axis.low <= low + 1e-9 * span + 1e-9 * abs(low)
    assert axis.high >= (low + span) * (1 - 1e-9) - 1e-9 * abs(low + span) - 1e-12
    assert 2 <= len(axis.ticks) <= 8
    assert axis.share(axis.low) == 0.0
    assert axis.share(axis.high) == 1.0


@given(low=sizes, ratio=st.floats(min_value=1.5, max_value=1e9))
def test_log_ticks_lie_inside(low, ratio):
    axis = log_axis(low, low * ratio)
    assert all(0.0 <= axis.share(t) <= 1.0 for t in axis.ticks)
    assert math.isclose(axis.share(low * math.sqrt(ratio)), 0.5, abs_tol=1e-6)


@pytest.mark.parametrize("high", [0, 1, 17, 17059, 3e9])
def test_counts_start_at_zero(high):
    axis = count_axis(high)
    assert axis.ticks[0] == 0
    assert max(axis.ticks) <= max(high, 1)
    assert short_count(high)
