"""A few executions of each fuzz target that needs Python; the campaign runs many more."""

from __future__ import annotations

import time

import pytest

from reliability import fuzz, targets

TARGETS = {**targets.PYTHON, **targets.SLOW}


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_is_met_with_anything_but_a_documented_error(target):
    runs = 40 if target in targets.SLOW else 300
    found = fuzz.loop(TARGETS[target], runs, time.monotonic() + 60, seed=11)
    assert found["crashes"] == 0, found["first"]
    assert found["executions"] > 10
    assert len(found["outcomes"]) > 1  # it refuses some and takes some
