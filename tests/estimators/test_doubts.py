"""What an estimator warns of when it is fitted."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bearsketch import SketchClassifier, SketchRegressor

GROWS = r"values of 'id' .* grow along the data.*\[DATA-SCALE\]"


@pytest.fixture
def X():
    return np.random.default_rng(0).random((2000, 5))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0.5).astype(int)


def test_a_column_out_of_scale_is_named(X, y):
    X[:, 3] *= 1e6
    with pytest.warns(UserWarning, match=r"values of 'x3' .* far larger .*\[DATA-SCALE\]") as found:
        SketchClassifier(memory="8KiB").fit(X, y)
    assert (len(found), found[0].filename) == (1, __file__)
    named = SketchClassifier(memory="8KiB", feature_names=list("abcde"))
    with pytest.warns(UserWarning, match=r"values of 'd' "):
        named.partial_fit(X, y, classes=[0, 1])
    named.partial_fit(X, y)  # told once
    with pytest.warns(UserWarning, match=r"values of 'x3' "):
        SketchRegressor(memory="8KiB").fit(X, y)


def test_columns_of_like_scale_are_not(X, y):
    SketchClassifier(memory="8KiB").fit(1e6 * X, y)
    SketchClassifier(memory="8KiB", passes=2).partial_fit(X, y, classes=[0, 1])


def test_labels_in_runs_are_told_unless_they_are_shuffled(X, y):
    order = np.argsort(y)
    SketchClassifier(memory="8KiB").fit(X[order], y[order])
    with pytest.warns(UserWarning, match=r"labels come in long runs .*\[DATA-ORDER\]") as found:
        SketchClassifier(memory="8KiB", shuffle=False, passes=2).fit(X[order], y[order])
    assert len(found) == 1


def test_streams_are_looked_at_too():
    lines = "".join(f"{label} | {label}{i % 7}\n" for label in "ab" for i in range(700))
    with pytest.warns(UserWarning, match="labels come in long runs"):
        SketchClassifier(memory="8KiB").fit_stream(
            io.BytesIO(lines.encode()), format="vw", classes=["a", "b"]
        )
    table = "id,word,label\n" + "".join(f"{i},w{i % 2},{i % 2}\n" for i in range(300))
    with pytest.warns(UserWarning, match=GROWS):
        SketchClassifier(memory="8KiB").fit_stream(io.BytesIO(table.encode()), format="csv")
