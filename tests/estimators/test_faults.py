"""What is wrong with X and y is said by column and row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bearsketch import DataError, ParameterError, SketchClassifier, SketchRegressor


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))


@pytest.fixture
def y(frame):
    return (frame["a"] > 0).astype(int)


def refusal(model, *data):
    with pytest.raises(ParameterError) as caught:
        model(memory="8KiB").fit(*data)
    return str(caught.value)


def test_two_columns_of_one_name(frame, y):
    frame.columns = ["a", "b", "b"]
    assert "got 2 columns named 'b'" in refusal(SketchClassifier, frame, y)
    with pytest.raises(DataError, match=r"(?s)Duplicate column names.*rename columns"):
        SketchClassifier().fit_stream(frame.assign(label=y))


@pytest.mark.parametrize("kind", [object, "str", "category"])
def test_a_column_of_words_is_one_of_categories(frame, y, kind):
    frame["city"] = pd.Series(["7", "rome", "paris"] * 10).astype(kind)
    for X in (frame, pl.from_pandas(frame)):
        assert "city=rome" in SketchClassifier(memory="8KiB").fit(X, y).selected_names_


def test_words_of_arrays(frame, y):
    words = frame.assign(city=["rome", "paris"] * 15).to_numpy()
    told = refusal(SketchClassifier, words, y)
    assert "X must hold numbers, got 'rome' in column 3, row 0" in told
    assert "Give a frame" in told


def test_columns_that_are_not_those_of_fit_are_said_first(frame, y):
    model = SketchClassifier(memory="8KiB").fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.drop(columns="c").assign(city="rome"))


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
@pytest.mark.parametrize("labels", [["u", "v"], [0, 1]])
def test_targets_that_are_missing(frame, gap, labels):
    y = np.array(labels * 15, dtype=object)
    y[[4, 9]] = gap
    told = "contains NaN or None, 2 in all, first in row 4"
    assert told in refusal(SketchClassifier, frame, y)
    assert told in refusal(SketchRegressor, frame, y)


def test_targets_that_are_missing_in_typed_columns(frame, y):
    told = "contains NaN or None, 1 in all, first in row 4"
    gap = y.index == 4
    for typed in ("float64", "Int64", "string"):
        assert told in refusal(SketchClassifier, frame, y.astype(typed).mask(gap))


def test_words_are_no_numbers_to_predict(frame):
    told = refusal(SketchRegressor, frame, ["1.5", "low", "high"] * 10)
    assert "got 'low' in row 1" in told
    assert "SketchClassifier" in told
