"""Examples of the page on estimators, and of the docstrings, run as written."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import bearsketch.estimators

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "scikit-learn.md"
MODULES = [module.name for module in pkgutil.iter_modules(bearsketch.estimators.__path__)]


def test_page():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 20
    assert failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(f"bearsketch.estimators.{name}")
    failed, _ = doctest.testmod(module)
    assert failed == 0


def test_every_parameter_is_on_the_page_and_in_the_docstring():
    text = PAGE.read_text()
    shared = bearsketch.SketchClassifier.__doc__
    for name in ("SketchClassifier", "SketchRegressor", "SketchSelector"):
        estimator = getattr(bearsketch, name)
        for parameter in estimator().get_params():
            assert f"`{parameter}`" in text, parameter
            assert parameter in estimator.__doc__, (name, parameter)
            assert f"{parameter} :" in shared + estimator.__doc__, parameter
