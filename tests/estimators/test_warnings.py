"""What an estimator warns of when it is fitted."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from bearsketch import Batch, SketchClassifier, SketchRegressor

GROWS = r"values of 'id' .* grow along the data.*\[DATA-SCALE\]"


@pytest.fixture
def X():
    return np.random.default_rng(0).random((2000, 5))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0.5).astype(int)


def test_a_column_out_of_scale_is_scaled(X, y):
    for learner in ("bear+", "mission"):
        plain = SketchClassifier(learner, memory="8KiB").fit(X, y).score(X, y)
        far = X * [1, 1, 1, 1e6, 1e-6] + [0, 0, 0, 1e7, 0]
        assert SketchClassifier(learner, memory="8KiB").fit(far, y).score(far, y) > plain - 0.02


def test_values_out_of_scale_are_named_where_they_do_harm(X, y):
    X[:, 3] *= 1e6 * (np.arange(len(X)) % 200 == 0)  # too rare to be scaled
    with pytest.warns(UserWarning, match=r"values of 'x3' .* far larger .*\[DATA-SCALE\]") as found:
        SketchClassifier("mission", memory="8KiB").fit(X, y)
    assert (len(found), found[0].filename) == (1, __file__)
    named = SketchClassifier("mission", memory="8KiB", feature_names=list("abcde"))
    with pytest.warns(UserWarning, match=r"values of 'd' "):
        named.partial_fit(X, y, classes=[0, 1])
    named.partial_fit(X, y)  # told once
    with pytest.warns(UserWarning, match=r"values of 'x3' "):
        SketchRegressor(k=0, memory="8KiB").fit(X, y)


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


def test_advice_is_given_in_words_of_python(X, y):
    order = np.argsort(y)
    with pytest.warns(UserWarning, match=r"; shuffle the examples \[DATA-ORDER\]$") as found:
        SketchClassifier(memory="8KiB", shuffle=False).fit(X[order], y[order])
    told = str(found[0].message)
    assert "shuf;" not in told
    assert "--" not in told


LOSS = r"worse than always giving {} .*\[DATA-LOSS\]"


def test_predictions_worse_than_guessing_are_told(X):
    rng = np.random.default_rng(1)
    labels, numbers = rng.integers(0, 2, 2000), rng.normal(3, 1, 2000)
    with pytest.warns(UserWarning, match=LOSS.format("the shares of the labels")) as found:
        SketchClassifier(memory="8KiB", learner="mission", step_size=4.0).fit(X, labels)
    assert (len(found), found[0].filename) == (1, __file__)
    with pytest.warns(UserWarning, match=LOSS.format("the mean")):
        SketchRegressor(memory="8KiB", learner="mission", step_size=0.6).fit(X, numbers)
    with pytest.warns(UserWarning, match=LOSS.format("the shares of the labels")):
        SketchClassifier(memory="8KiB", learner="mission", step_size=4.0).partial_fit(
            X, labels, classes=[0, 1]
        )
    lines = "".join(f"{label} | w{i % 20}\n" for i, label in enumerate(labels))
    with pytest.warns(UserWarning, match=LOSS.format("the shares of the labels")):
        SketchClassifier(memory="8KiB", learner="mission", step_size=4.0).fit_stream(
            io.BytesIO(lines.encode()), format="vw"
        )


def test_wrong_first_examples_are_no_reason(X):
    rng = np.random.default_rng(0)
    SketchRegressor(memory="8KiB").fit(X, rng.normal(2000, 3, 2000))
    SketchClassifier(memory="8KiB").fit(X, rng.integers(0, 2, 2000))


def test_what_a_stream_finds_odd_is_told():
    cells = ["oops" if i == 50 else str(i % 7) for i in range(300)]
    table = "n,word,label\n" + "".join(f"{n},w{i % 2},{i % 2}\n" for i, n in enumerate(cells))
    told = r"column 'n' is read as categories.*numeric=\['n'\].*\[TAB-STRAY\]"
    with pytest.warns(UserWarning, match=told) as found:
        SketchClassifier(memory="8KiB", passes=2).fit_stream(
            io.BytesIO(table.encode()), format="csv"
        )
    assert (len(found), found[0].filename) == (1, __file__)
    assert "--" not in str(found[0].message)


def test_one_label_in_all_of_a_stream(X):
    batch = Batch.from_rows([["a"], ["b"]] * 20, [1] * 40)
    for label in (1, 0, 7, "yes"):
        same = [replace(batch, labels=np.array([label] * 40))] * 3
        with pytest.warns(UserWarning, match=rf"have label {label}:.*classes=.*LABEL-ONE") as found:
            SketchClassifier(memory="8KiB").fit_stream(same)
        assert len(found) == 1
    SketchClassifier(memory="8KiB").fit_stream([batch], classes=[1, 2])
    SketchClassifier(memory="8KiB").partial_fit(batch)  # more may come
