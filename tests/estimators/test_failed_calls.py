"""A call that fails leaves an estimator as it was."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from bearsketch import Batch, DataError, IncompatibleError, SketchClassifier, SketchRegressor


def fitted_names(model):
    return sorted(name for name in vars(model) if name.endswith("_") or name == "_class_numbers")


def test_a_new_label_of_a_failed_call_is_no_class():
    model = SketchClassifier(memory="8KiB").partial_fit([["a"], ["b"]], [1, 2])
    other_keys = Batch([0, 1], [7], [1.0], labels=[7])
    with pytest.raises(IncompatibleError):
        model.partial_fit(other_keys)
    assert model.classes_.tolist() == [1, 2]
    with pytest.raises(DataError):
        model.partial_fit([["a"], ["b"]], ["seven", "one"])
    assert model.partial_fit([["a"]], [3]).classes_.tolist() == [1, 2, 3]


def test_a_first_call_with_wrong_classes_can_be_mended():
    model = SketchClassifier(memory="8KiB")
    with pytest.raises(DataError):
        model.partial_fit([["a"], ["b"]], [1, 2], classes=[0, 1])
    assert fitted_names(model) == []
    model.partial_fit([["a"], ["b"]], [1, 2], classes=[1, 2])
    assert model.classes_.tolist() == [1, 2]


@pytest.mark.parametrize("how", ["fit", "partial_fit", "fit_stream"])
def test_a_failed_fit_is_none(how):
    far = Batch.from_rows([{"a": 1.0}, {"a": 3e38}], [1.0, 1e300])
    model = SketchRegressor("mission", memory="8KiB", step_size=1e30)
    with pytest.raises(ArithmeticError):
        getattr(model, how)([far] * 5 if how == "fit_stream" else far)
    assert fitted_names(model) == []
    with pytest.raises(NotFittedError):
        model.predict([["a"]])


def test_a_failed_fit_leaves_the_fit_before():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    model = SketchClassifier(memory="8KiB").fit(frame, frame["a"] > 0)
    before = model.predict(frame)
    with pytest.raises(ValueError, match="at least 2"):
        model.fit(rng.normal(size=(5, 2)), np.ones(5))
    with pytest.raises(DataError, match="labels must be"):
        model.fit_stream([Batch.from_rows([["a"], ["b"]], [1, 2])], classes=[0, 1])
    assert_array_equal(model.predict(frame), before)
    assert list(model.feature_names_in_) == list("abc")


@pytest.mark.parametrize("good", [0, 20])
def test_classes_of_what_was_learned_before_a_failure_stay(good):
    model = SketchClassifier("mission", memory="8KiB", step_size=1.0)
    model.partial_fit([["a"]] * 20, [0, 1] * 10)
    rows = [["a"]] * good + [{"a": 3e38}] * 60
    with pytest.raises(ArithmeticError):
        model.partial_fit(rows, [2] * good + [0, 1, 2] * 20)
    assert model.classes_.tolist() == (
        [0, 1, 2] if model.learner_.counters["batches"] > 1 else [0, 1]
    )
    assert model.learner_.counters["batches"] == 1 + good // 20
