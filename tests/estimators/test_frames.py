"""Frames with columns of any kind: read as the command reads tables, in scikit-learn's way."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from bearsketch import SketchClassifier, SketchRegressor, SketchSelector, load

CITIES = ["paris", "rome", "oslo"]


def sales(n=600, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.choice(CITIES, n)
    age = rng.integers(20, 70, n).astype(float)
    member = rng.random(n) < 0.4
    y = np.where((city == "rome") ^ (rng.random(n) < 0.05), "yes", "no")
    frame = pd.DataFrame({"city": city, "age": age, "member": member})
    frame["size"] = pd.Categorical(rng.choice(["s", "m", "l"], n))
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "city"] = None
    return frame, y


FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("kind", list(FRAMES))
def test_columns_of_any_kind_are_learned_by_name(kind):
    frame, y = sales()
    X = FRAMES[kind](frame)
    fitted = SketchClassifier(memory="8KiB", k=8).fit(X, y)
    assert fitted.score(X, y) > 0.9
    assert fitted.selected_names_[0] in ("city=rome", "city=paris", "city=oslo")
    assert {"age", "member", "size=s", "city=rome"} <= set(fitted.selected_names_)
    assert_array_equal(fitted.feature_names_in_, ["city", "age", "member", "size"])
    assert fitted.n_features_in_ == 4
    assert fitted.predict_proba(X).shape == (600, 2)


def test_every_kind_of_frame_gives_the_same_model():
    frame, y = sales()
    models = [SketchClassifier(memory="8KiB").fit(FRAMES[kind](frame), y) for kind in FRAMES]
    for other in models[1:]:
        assert_array_equal(
            models[0].decision_function(frame), other.decision_function(FRAMES["polars"](frame))
        )


@pytest.mark.parametrize("kind", list(FRAMES))
def test_fit_gives_the_model_of_fit_stream_and_of_the_command(kind, tmp_path):
    from tests.cli.helpers import good

    frame, y = sales()
    X = FRAMES[kind](frame)
    own = SketchClassifier(memory="8KiB", k=8, shuffle=False).fit(X, y)
    whole = FRAMES[kind](frame.assign(label=y))
    streamed = SketchClassifier(memory="8KiB", k=8).fit_stream(whole, classes=["no", "yes"])
    assert_array_equal(own.selected_names_, streamed.selected_names_)
    assert_array_equal(own.selected_weights_, streamed.selected_weights_)
    assert_array_equal(own.predict(X), streamed.predict(whole))
    data, model = tmp_path / "t.csv", tmp_path / "m.bear"
    frame.assign(label=y).to_csv(data, index=False)
    good("train", data, "-o", model, "--memory", "8KiB", "-k", "8")
    assert [f.name for f in load(model).selected()] == own.selected_names_.tolist()
    saved = tmp_path / "own.bear"
    own.save(saved)
    by_command = good("predict", saved, data).stdout.splitlines()[1:]
    assert [line.split("\t")[2] for line in by_command] == own.predict(X).tolist()


def test_partial_fit_and_regression_take_frames():
    frame, y = sales()
    parts = SketchClassifier(memory="8KiB")
    for start in range(0, 600, 200):
        part = frame.iloc[start : start + 200]
        parts.partial_fit(part, y[start : start + 200], classes=["no", "yes"])
    assert parts.score(frame, y) > 0.9
    target = np.where(frame["city"] == "rome", 5.0, 1.0)
    assert SketchRegressor(memory="8KiB").fit(frame, target).score(frame, target) > 0.8


def test_pipelines_searches_and_parallel_validation_take_frames():
    frame, y = sales()
    pipe = make_pipeline(SketchSelector(memory="8KiB", k=3), LogisticRegression())
    assert cross_val_score(pipe, frame, y, cv=3, n_jobs=2).mean() > 0.9
    search = GridSearchCV(SketchClassifier(memory="8KiB"), {"k": [2, 8]}, cv=3).fit(frame, y)
    assert search.best_score_ > 0.9
    selector = SketchSelector(memory="8KiB", k=3).fit(frame, y)
    narrow = selector.set_output(transform="pandas").transform(frame)
    assert "city=rome" in narrow.columns
    assert_array_equal(narrow["city=rome"] != 0, (frame["city"] == "rome").to_numpy())


def test_any_index_is_no_feature():
    frame, y = sales()
    X = frame.set_index(pd.Index(np.arange(600) * 7 % 600, name="id"))
    own = SketchClassifier(memory="8KiB").fit(X, y)
    plain = SketchClassifier(memory="8KiB").fit(frame, y)
    assert_array_equal(own.decision_function(X), plain.decision_function(frame))
    streamed = SketchClassifier(memory="8KiB").fit_stream(X.assign(label=y))
    assert not [name for name in streamed.selected_names_ if name.startswith("id")]


def test_categories_not_seen_before_count_for_nothing():
    frame, y = sales()
    fitted = SketchClassifier(memory="64KiB").fit(frame, y)
    new = frame.head(2).assign(city=["tokio", None])
    got = fitted.decision_function(new.assign(age=30.0, member=True, size="s"))
    assert got[0] == got[1]


def test_columns_are_compared_as_scikit_learn_does():
    frame, y = sales()
    fitted = SketchClassifier(memory="8KiB").fit(frame, y)
    for wrong in (
        frame[["age", "city", "member", "size"]],
        frame.drop(columns="age"),
        frame.assign(more=1),
    ):
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(wrong)


def test_a_column_called_label_is_a_feature_of_fit():
    frame, y = sales()
    X = frame.rename(columns={"city": "label"})
    assert "label=rome" in SketchClassifier(memory="8KiB").fit(X, y).selected_names_


def test_a_frame_of_numbers_is_learned_as_an_array_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int)
    frame = pd.DataFrame(X, columns=list("abcd"))
    own = SketchClassifier(memory="8KiB", k=2).fit(frame, y)
    assert own.selected_indices_[0] == 0
    assert own.selected_names_[0] == "a"
    array = SketchClassifier(memory="8KiB", k=2).fit(X, y)
    assert_array_equal(own.decision_function(frame), array.decision_function(X))


def test_a_model_of_a_stream_predicts_frames_of_numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    y = np.where(frame["a"] > 0, "up", "down")
    fitted = SketchClassifier(memory="8KiB").fit_stream(frame.assign(label=y))
    assert (fitted.predict(frame) == y).mean() > 0.9
    assert_array_equal(fitted.predict(frame), fitted.predict(frame[["b", "a"]]))


def test_random_states_that_draw_give_names_and_learner_one_seed():
    frame, y = sales()
    fitted = SketchClassifier(memory="8KiB", random_state=np.random.RandomState(3)).fit(frame, y)
    assert fitted.score(frame, y) > 0.9


def test_mixed_objects_are_refused_with_what_to_do():
    frame = pd.DataFrame({"a": [1, "x", datetime.date(2024, 1, 1)]})
    with pytest.raises(ValueError, match="no table that Arrow can hold"):
        SketchClassifier().fit(frame, [0, 1, 0])


def test_estimators_say_what_they_take():
    tags = SketchClassifier().__sklearn_tags__().input_tags
    assert (tags.string, tags.categorical, tags.sparse, tags.dict) == (True, True, True, True)
