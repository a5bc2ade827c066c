"""Every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import bearsketch

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(bearsketch.__path__, "bearsketch.")
    if not module.name.startswith("bearsketch._core")
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("default")
def test_examples_run(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("bearsketch"):
            raise
        pytest.skip(f"{missing.name} is not installed")
    failed, _ = doctest.testmod(module, optionflags=FLAGS)
    assert failed == 0
