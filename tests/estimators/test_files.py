"""Pickles and model files."""

import copy
import pickle
import pickletools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification

import bearsketch
from bearsketch import (
    LEARNERS,
    IncompatibleError,
    ParameterError,
    SketchClassifier,
    SketchRegressor,
    SketchSelector,
)
from bearsketch.export import linear_model


@pytest.mark.parametrize("learner", LEARNERS)
def test_pickle_keeps_the_model(two_classes, learner):
    X, y = two_classes
    fitted = SketchClassifier(learner).fit(X, y)

    again = pickle.loads(pickle.dumps(fitted))

    assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert again.learner_.counters == fitted.learner_.counters
    assert again.get_params() == fitted.get_params()
    assert again.n_features_in_ == 40
    again.partial_fit(X, y)


def test_a_pickle_is_parameters_and_the_bytes_of_a_model_file(two_classes):
    fitted = SketchClassifier().fit(*two_classes)
    dumped = pickle.dumps(fitted, protocol=2)

    homes = {
        argument.split()[0].partition(".")[0]
        for opcode, argument, _ in pickletools.genops(dumped)
        if opcode.name == "GLOBAL"
    }
    assert homes <= {"bearsketch", "numpy", "copy_reg", "_codecs", "__builtin__"}
    assert isinstance(fitted.__getstate__()["learner_"], bytes)
    assert fitted.__getstate__()["learner_"] == fitted.learner_.to_bytes()
    assert pickle.dumps(pickle.loads(dumped)) == pickle.dumps(fitted)


def test_a_pickle_may_meet_new_classes(three_classes):
    X, y = three_classes
    fitted = SketchClassifier(max_classes=4).partial_fit(X[y != "ash"], y[y != "ash"])
    again = pickle.loads(pickle.dumps(fitted)).partial_fit(X, y)
    assert list(again.classes_) == ["ash", "birch", "cedar"]


def test_copies_learn_apart(two_classes):
    X, y = two_classes
    fitted = SketchClassifier().fit(X, y)
    before = fitted.decision_function(X)
    for duplicate in (copy.copy(fitted), copy.deepcopy(fitted)):
        duplicate.partial_fit(X, 1 - y)
        assert not np.allclose(duplicate.decision_function(X), before)
        assert_array_equal(fitted.decision_function(X), before)
    assert not hasattr(clone(fitted), "learner_")


@pytest.mark.parametrize("learner", LEARNERS)
def test_saved_model_is_read_everywhere(two_classes, tmp_path, learner):
    X, y = two_classes
    labels = np.array(["ham", "spam"])[y]
    fitted = SketchClassifier(learner).fit(X, labels)
    fitted.save(tmp_path / "model.bear")

    again = SketchClassifier.load(tmp_path / "model.bear")
    plain = bearsketch.load(tmp_path / "model.bear")

    assert_array_equal(again.predict(X), fitted.predict(X))
    assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert plain.labels.classes == ("ham", "spam")
    again.save(tmp_path / "again.bear")
    assert (tmp_path / "again.bear").read_bytes() == (tmp_path / "model.bear").read_bytes()
    assert again.memory == fitted.learner_.sizes.model_bytes
    again.partial_fit(X, labels)
    refitted = clone(again).fit(X, labels)
    assert refitted.learner_.config == fitted.learner_.config
    assert_array_equal(refitted.decision_function(X), fitted.decision_function(X))


def test_saved_classes_are_those_that_came(three_classes, tmp_path):
    X, y = three_classes
    fitted = SketchClassifier(k=5, max_classes=7)  # of more, a weight may fill its byte
    with pytest.raises(ParameterError, match="at least 2 classes, got"):
        fitted.partial_fit(X[y == "cedar"], y[y == "cedar"]).save(tmp_path / "model.bear")
    fitted.partial_fit(X, y).save(tmp_path / "model.bear")

    plain = bearsketch.load(tmp_path / "model.bear")
    again = SketchClassifier.load(tmp_path / "model.bear")

    assert plain.labels.classes == ("cedar", "ash", "birch")
    assert plain.config.columns == 3
    assert list(again.classes_) == ["ash", "birch", "cedar"]
    assert_allclose(again.predict_proba(X), fitted.predict_proba(X), rtol=1e-6)
    assert class_of_each(again) == class_of_each(fitted)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("learner", ["bear+", "awm", "bear", "mission"])
def test_a_saved_model_predicts_the_same_however_many_classes_came(learner, n_classes, tmp_path):
    # Of other draws a weight may fill its byte, and is then right within two steps (test_narrow).
    X, y = make_classification(
        2000, 40, n_informative=8, n_classes=n_classes, n_clusters_per_class=1, random_state=1
    )
    fitted = SketchClassifier(learner, k=10, memory="16KiB").partial_fit(
        X, [*map("abcd".__getitem__, y)]
    )
    fitted.save(tmp_path / "model.bear")
    again = SketchClassifier.load(tmp_path / "model.bear")
    assert_allclose(again.predict_proba(X), fitted.predict_proba(X), atol=1e-6)
    assert set(again.selected_names_) == set(fitted.selected_names_)
    assert_array_equal(again.selected_names_, fitted.selected_names_)
    assert_allclose(again.selected_weights_, fitted.selected_weights_, rtol=1e-5)
    assert_array_equal(again.selected_classes_, fitted.selected_classes_)


def test_an_estimator_of_one_class_so_far_lists_what_it_selected():
    fitted = SketchClassifier(k=2, memory="8KiB").partial_fit([["a"], ["b"]], ["yes", "yes"])
    assert sorted(fitted.selected_names_) == ["a", "b"]


def class_of_each(estimator):
    return dict(zip(estimator.selected_indices_, estimator.selected_classes_, strict=True))


def test_two_classes_in_any_order(tmp_path):
    learner = bearsketch.make_learner(k=2, memory="4KiB", classes=["spam", "ham"])
    batch = bearsketch.Batch.from_rows([["buy"], ["meet"]] * 20, ["spam", "ham"] * 20)
    learner.learn(batch)
    learner.save(tmp_path / "model.bear")

    got = SketchClassifier.load(tmp_path / "model.bear")

    assert list(got.classes_) == ["ham", "spam"]
    assert_array_equal(got.predict([["buy"], ["meet"]]), ["spam", "ham"])
    assert got.decision_function([["buy"]])[0] > 0
    weights = dict(zip(got.selected_names_, got.selected_weights_, strict=True))
    assert weights["buy"] > 0 > weights["meet"]
    got.partial_fit([["buy"], ["meet"]], ["spam", "ham"])
    assert_array_equal(got.predict([["buy"], ["meet"]]), ["spam", "ham"])


def test_saved_selection_has_the_names_of_a_frame(two_classes, tmp_path):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"col {i}" for i in range(40)])
    SketchSelector(k=3).fit(frame, y).save(tmp_path / "model.bear")
    assert sorted(bearsketch.load(tmp_path / "model.bear").selected().names) == [
        "col 11",
        "col 3",
        "col 7",
    ]


def test_tasks_do_not_mix(two_classes, tmp_path):
    X, y = two_classes
    SketchRegressor().fit(X, y).save(tmp_path / "numbers.bear")
    with pytest.raises(IncompatibleError, match="cannot take a model of regression"):
        SketchClassifier.load(tmp_path / "numbers.bear")
    assert SketchSelector.load(tmp_path / "numbers.bear").task == "regression"
    assert_array_equal(
        SketchRegressor.load(tmp_path / "numbers.bear").predict(X),
        SketchRegressor().fit(X, y).predict(X),
    )


def frame_and_labels(seed=0, columns="abcdef"):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(300, 6)), columns=list(columns))
    return frame, np.where(frame["c"] > 0, "yes", "no")


def test_a_learner_of_its_own_knows_classes_and_columns():
    model = SketchClassifier(k=2, memory="8KiB").fit(*frame_and_labels())
    learner = model.to_learner()
    assert learner.labels.classes == ("no", "yes")
    assert learner.selected().names == model.selected_names_.tolist()
    exported = linear_model(model)
    assert exported.names == model.selected_names_.tolist()
    assert exported.classes == ["no", "yes"]


def test_halves_are_merged():
    halves = [SketchClassifier(k=2, memory="8KiB").fit(*frame_and_labels(i)) for i in range(2)]
    merged = halves[0].merge(halves[1])
    assert merged is halves[0]
    assert merged.learner_.counters["examples"] == 600
    assert merged.score(*frame_and_labels(2)) > 0.9


def test_what_does_not_agree_is_not_merged():
    frame, labels = frame_and_labels()
    model = SketchClassifier(k=2, memory="8KiB").fit(frame, labels)
    others = {
        "classes": SketchClassifier(k=2, memory="8KiB").fit(frame, labels == "yes"),
        "feature_names_in": SketchClassifier(k=2, memory="8KiB").fit(
            *frame_and_labels(columns="fedcba")
        ),
    }
    before = model.learner_.to_bytes()
    for what, other in others.items():
        with pytest.raises(IncompatibleError, match=f"and {what} differs"):
            model.merge(other)
    assert model.learner_.to_bytes() == before


@pytest.mark.parametrize("only", [False, True])
def test_selected_only_is_kept(two_classes, tmp_path, only):
    X, y = two_classes
    model = SketchClassifier("mission", k=3, memory="1KiB", selected_only=only).fit(X, y)
    model.save(tmp_path / "m.bear")
    for again in (SketchClassifier.load(tmp_path / "m.bear"), pickle.loads(pickle.dumps(model))):
        assert again.selected_only is only
        assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-6)
    again.set_params(selected_only=False).save(tmp_path / "n.bear")
    assert SketchClassifier.load(tmp_path / "n.bear").selected_only is False
    selector = SketchSelector.load(tmp_path / "m.bear")
    assert_array_equal(selector.selected_indices_, model.selected_indices_)


def test_a_loaded_model_knows_how_many_columns_there_were(two_classes, tmp_path):
    X, y = two_classes
    fitted = SketchClassifier(k=5).fit(X, y)
    fitted.save(tmp_path / "model.bear")

    again = SketchClassifier.load(tmp_path / "model.bear")

    assert again.n_features_in_ == 40
    assert_array_equal(again.selected_names_, fitted.selected_names_)
    assert_array_equal(again.get_feature_names_out(), fitted.get_feature_names_out())
    assert_allclose(again.coef_.toarray(), fitted.coef_.toarray(), rtol=1e-6)
    assert_array_equal(again.get_support(), fitted.get_support())
    with pytest.raises(ValueError, match="80 features.*expecting 40"):
        again.predict(np.hstack([X, X]))
    examples = fitted.learner_.counters["examples"]
    assert fitted.merge(again).learner_.counters["examples"] == 2 * examples
    again.save(tmp_path / "again.bear")
    assert SketchClassifier.load(tmp_path / "again.bear").n_features_in_ == 40
    again.fit_stream([bearsketch.Batch.from_rows([["a"], ["b"]], [0, 1])])
    again.save(tmp_path / "again.bear")
    assert not hasattr(SketchClassifier.load(tmp_path / "again.bear"), "n_features_in_")


def test_a_loaded_model_of_a_frame(two_classes, tmp_path):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(40)])
    fitted = SketchClassifier(k=5).fit(frame, y)
    fitted.save(tmp_path / "model.bear")
    again = SketchClassifier.load(tmp_path / "model.bear")
    assert again.n_features_in_ == 40
    assert_array_equal(again.selected_names_, fitted.selected_names_)
    assert_array_equal(again.predict(X), fitted.predict(frame))
    fitted.merge(again)


@pytest.mark.parametrize("wrong", [0, -3, 2**63, "40", True, None])
def test_a_number_of_columns_that_is_none(two_classes, tmp_path, wrong):
    learner = SketchClassifier().fit(*two_classes).to_learner()
    learner.run["n_columns"] = wrong
    learner.save(tmp_path / "model.bear")
    with pytest.raises(bearsketch.ModelFileError, match="columns"):
        SketchClassifier.load(tmp_path / "model.bear")


def test_a_frame_in_another_order_than_the_saved_model_s_is_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    y = (X.a + X.b > 0).astype(int)
    SketchClassifier(k=2, memory="4KiB").fit(X, y).save(tmp_path / "m.bear")
    loaded = SketchClassifier.load(tmp_path / "m.bear")
    with pytest.warns(UserWarning, match="feature names"):  # of scikit-learn: not all are known
        assert loaded.score(X, y) > 0.9
    with pytest.raises(ParameterError, match="got 'd' as column 0, which was 'a'"):
        loaded.predict(X[list("dcba")])
    assert loaded.fit(X[list("dcba")], y).score(X[list("dcba")], y) > 0.9
