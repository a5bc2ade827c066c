"""Classes that are known, declared, or found on the way."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bearsketch import (
    Batch,
    DataError,
    LimitError,
    ParameterError,
    SketchClassifier,
    SketchSelector,
)


def parts(X, y, size=100):
    for start in range(0, len(y), size):
        yield X[start : start + size], y[start : start + size]


def test_two_classes_share_one_weight_and_more_have_their_own(two_classes, three_classes):
    binary = SketchClassifier().fit(*two_classes)
    assert binary.learner_.config.columns == 1
    assert binary.coef_.shape == (1, 40)
    assert binary.decision_function(two_classes[0]).shape == (500,)
    several = SketchClassifier(k=3, memory="16KiB").fit(*three_classes)
    assert several.learner_.config.columns == 3
    assert several.coef_.shape == (3, 30)
    assert several.score(*three_classes) > 0.85
    of_feature = dict(zip(several.selected_indices_, several.selected_classes_, strict=True))
    assert of_feature == {0: "ash", 1: "birch", 2: "cedar"}


def test_declared_classes_may_come_late(three_classes):
    X, y = three_classes
    got = SketchClassifier()
    got.partial_fit(X[y != "ash"], y[y != "ash"], classes=["cedar", "birch", "ash"])
    assert list(got.classes_) == ["ash", "birch", "cedar"]
    got.partial_fit(X, y, classes=["ash", "birch", "cedar"])
    with pytest.raises(ParameterError, match="those of the first call"):
        got.partial_fit(X, y, classes=["ash", "birch"])
    with pytest.raises(DataError, match="labels must be ash, birch, cedar, got oak"):
        got.partial_fit(X[:1], ["oak"])


def test_classes_found_on_the_way_are_learned_as_if_declared(three_classes):
    X, y = three_classes
    order = np.argsort(y, kind="stable")[::-1]  # cedar comes first, ash last
    mixed = np.concatenate((order[:50], np.arange(600)))
    declared = SketchClassifier("mission", max_classes=3)
    found = SketchClassifier("mission", max_classes=3)
    for i, (Xi, yi) in enumerate(parts(X[mixed], y[mixed], 50)):
        declared.partial_fit(Xi, yi, classes=np.unique(y) if i == 0 else None)
        found.partial_fit(Xi, yi)
        if i == 0:
            assert list(found.classes_) == ["cedar"]
            assert_array_equal(found.predict(X), np.repeat("cedar", 600))
            assert_array_equal(found.predict_proba(X), np.ones((600, 1)))

    assert_array_equal(found.classes_, declared.classes_)
    assert_allclose(found.predict_proba(X), declared.predict_proba(X), rtol=1e-3, atol=1e-5)
    assert_array_equal(found.selected_classes_, declared.selected_classes_)
    assert found.learner_.sizes == declared.learner_.sizes


def test_two_classes_found_on_the_way(two_classes):
    X, y = two_classes
    got = SketchClassifier(max_classes=5)
    for Xi, yi in parts(X, y):
        got.partial_fit(Xi, yi)

    assert got.learner_.config.columns == 5
    assert got.coef_.shape == (1, 40)
    scores = got.decision_function(X)
    assert scores.shape == (500,)
    sure = got.learner_.calibration["all"].slope * scores
    assert_array_equal(got.predict(X), (sure > 0).astype(int))
    assert_allclose(got.predict_proba(X)[:, 1], 1 / (1 + np.exp(-sure)))
    by_hand = X @ got.coef_.toarray()[0] + got.intercept_[0]
    assert_allclose(by_hand, scores, rtol=1e-5, atol=1e-5)
    assert got.score(X, y) > 0.75


def test_more_classes_than_room(three_classes):
    X, y = three_classes
    with pytest.raises(LimitError, match=r"at most 2 .*got 3"):
        SketchClassifier(max_classes=2).partial_fit(X, y)


def test_numbers_and_words_do_not_mix(three_classes):
    X, y = three_classes
    got = SketchClassifier().partial_fit(X, y)
    with pytest.raises(DataError, match="labels must be words"):
        got.partial_fit(X, np.zeros(600))


def test_one_class_is_refused(two_classes):
    X, y = two_classes
    with pytest.raises(ParameterError, match="at least 2, got 1 class"):
        SketchClassifier().fit(X, np.zeros(500))
    with pytest.raises(ParameterError, match="at least 2, got 1 class"):
        SketchClassifier().fit(X, y, sample_weight=y)


def test_logarithms_of_probabilities(two_classes, three_classes):
    for X, y in (two_classes, three_classes):
        got = SketchClassifier(memory="16KiB").fit(X, y)
        assert_allclose(got.predict_log_proba(X), np.log(got.predict_proba(X)), rtol=1e-6)
        far = got.predict_log_proba(X * 1e4)
        assert np.isfinite(far).all()
        assert far.min() < -1000  # whose exponential is 0


@pytest.mark.parametrize("ratio", [10, 30])
def test_few_rows_that_weigh_most_decide(ratio):
    # Beside the mean of the residuals of a minibatch, of which it is most, a heavy row is nothing.
    rng = np.random.default_rng(0)
    X, few = rng.normal(size=(6000, 5)), rng.random(6000) < 2 / ratio
    y = (np.where(few, X[:, 0], -X[:, 0]) + 0.3 * rng.normal(size=6000) > 0).astype(int)
    weights = np.where(few, float(ratio), 1.0)  # two thirds of all weight
    got = SketchClassifier(memory="16KiB").fit(X, y, sample_weight=weights)
    assert got.score(X, y, sample_weight=weights) > 0.6


@pytest.mark.parametrize("labels", [(False, True), (-1, 1), ("no", "yes"), (0.5, 7.0), (3, 9)])
def test_any_two_labels(two_classes, labels):
    X, y = two_classes
    if labels == (0.5, 7.0):
        with pytest.raises(ValueError, match="continuous"):
            SketchClassifier().fit(X, np.array(labels)[y])
        return
    named = np.array(labels)[y]
    got = SketchClassifier().fit(X, named)
    assert got.classes_.tolist() == list(labels)
    assert got.score(X, named) > 0.75
    speaks_for = np.where(got.selected_weights_ > 0, labels[1], labels[0])
    assert_array_equal(got.selected_classes_, speaks_for)
    assert set(got.selected_classes_) == set(labels)


def test_the_task_of_a_selector_is_never_guessed(two_classes):
    X, _ = two_classes
    target = X[:, 7] * 2 + X[:, 3]
    with pytest.raises(ValueError, match=r"(?s)continuous.*regressor.*task='regression'"):
        SketchSelector().fit(X, target)
    with pytest.raises(ParameterError, match="task must be one of"):
        SketchSelector(task="guess").fit(X, target)
    with pytest.raises(ParameterError, match="learner must be one that selects"):
        SketchSelector("sgd").fit(X, target > 0)
    got = SketchSelector(task="regression", k=2).fit(X, target)
    assert got.get_support(indices=True).tolist() == [3, 7]


def test_classes_and_regression_do_not_mix(two_classes):
    X, y = two_classes
    selector = SketchSelector(k=3).fit(X, y)
    selector.set_params(task="regression").fit(X, y)
    assert not hasattr(selector, "classes_")
    for _ in range(2):
        with pytest.raises(ParameterError, match="classes must not be given for regression"):
            selector.partial_fit(X, y, classes=[0, 1])
        with pytest.raises(ParameterError, match="classes must not be given for regression"):
            selector.fit_stream([Batch([0, 1], [3], [1.0], labels=[1])], classes=[0, 1])
