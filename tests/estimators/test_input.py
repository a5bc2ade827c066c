"""Examples in every form give the same model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from bearsketch import (
    Batch,
    IncompatibleError,
    LimitError,
    ParameterError,
    SketchClassifier,
    SketchRegressor,
)
from bearsketch.estimators.rows import matrix_rows


def with_index_type(matrix, dtype):
    matrix.indices = matrix.indices.astype(dtype)
    matrix.indptr = matrix.indptr.astype(dtype)
    return matrix


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csr_64": lambda X: with_index_type(sp.csr_array(X), np.int64),
    "csc": sp.csc_array,
    "coo_array": sp.coo_array,
    "dok": sp.dok_array,
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])}),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_agree(two_classes, form):
    X, y = two_classes
    X = X.astype(np.float32).astype(np.float64)
    expected = SketchClassifier().fit(X, y)

    got = SketchClassifier().fit(FORMS[form](X), y)

    assert_array_equal(got.selected_indices_, expected.selected_indices_)
    assert_allclose(got.decision_function(FORMS[form](X)), expected.decision_function(X))
    assert got.n_features_in_ == 40


def test_duplicates_add_up_and_explicit_zeros_are_absent():
    data, rows, columns = [1.0, 2.0, 0.0, 4.0], [0, 0, 0, 1], [5, 5, 9, 2]
    rows = matrix_rows(sp.csr_array(sp.coo_array((data, (rows, columns)), shape=(2, 10))))

    batch = rows.batch(slice(None), seed=0)

    assert batch.keys.tolist() == [5, 2]
    assert batch.values.tolist() == [3.0, 4.0]
    assert batch.indptr.tolist() == [0, 1, 2]


def test_unsorted_input_is_left_alone(two_classes):
    X, y = two_classes
    matrix = sp.csr_array(X)
    for row in range(len(y)):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        matrix.indices[part] = matrix.indices[part][::-1].copy()
        matrix.data[part] = matrix.data[part][::-1].copy()
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    before = matrix.indices.copy()

    got = SketchClassifier().fit(matrix, y)

    assert_array_equal(matrix.indices, before)
    assert_allclose(got.decision_function(X), SketchClassifier().fit(X, y).decision_function(X))


@pytest.mark.parametrize("form", ["dict", "list", "object array"])
def test_features_by_name(form):
    rows = [["buy", "now"], ["meet", "now"]] * 100
    if form == "dict":
        rows = [dict.fromkeys(row, 1.0) for row in rows]
    if form == "object array":
        rows = pd.Series([dict.fromkeys(row, 1.0) for row in rows], dtype=object)
    y = ["spam", "ham"] * 100

    got = SketchClassifier(k=2, memory="8KiB").fit(rows, y)

    assert sorted(got.selected_names_) == ["buy", "meet"]
    assert got.score(rows, y) == 1.0
    assert got.transform(rows).shape == (200, 2)
    assert not hasattr(got, "n_features_in_")
    assert not hasattr(got, "selected_indices_")
    assert not hasattr(got, "coef_")


def test_names_are_words():
    with pytest.raises(ParameterError, match="names of features must be str, got 3"):
        SketchClassifier().fit([{"a": 1.0}, {3: 1.0}], [0, 1])


def test_names_and_columns_do_not_mix(two_classes):
    X, y = two_classes
    by_name = SketchClassifier().fit([["a"], ["b"]] * 10, [0, 1] * 10)
    by_column = SketchClassifier().fit(X, y)
    for call in (by_name.predict, by_name.transform):
        with pytest.raises(IncompatibleError, match=r"another kind|naming"):
            call(X)
    with pytest.raises(IncompatibleError, match="another kind"):
        by_column.predict([["a"], ["b"]])


def test_a_batch_is_an_example_matrix():
    batch = Batch.from_rows([["a"], ["b"]] * 50, [1, 0] * 50)

    got = SketchClassifier(k=2, memory="4KiB").fit(batch)

    assert_array_equal(got.predict(batch), batch.labels)
    assert got.transform(batch).shape == (100, 2)
    weighted = SketchClassifier(k=2, memory="4KiB").fit(batch, sample_weight=[1, 1, 0, 0] * 25)
    assert_array_equal(weighted.predict(batch), batch.labels)


def test_a_fit_on_names_forgets_the_columns_of_an_earlier_one(two_classes):
    X, y = two_classes
    got = SketchClassifier().fit(pd.DataFrame(X).add_prefix("c"), y)
    assert list(got.feature_names_in_[:2]) == ["c0", "c1"]
    got.fit([["a"], ["b"]] * 10, [0, 1] * 10)
    assert not hasattr(got, "n_features_in_")
    assert not hasattr(got, "feature_names_in_")


def test_names_of_columns(two_classes):
    X, y = two_classes
    names = [f"word{i}" for i in range(40)]
    for given in (names, np.array(names), dict(enumerate(names))):
        got = SketchClassifier(k=3, feature_names=given).fit(X, y)
        assert sorted(got.selected_names_) == ["word11", "word3", "word7"]
        assert list(got.get_feature_names_out()) == ["word3", "word7", "word11"]
    some = SketchClassifier(k=3, feature_names={7: "seven"}).fit(X, y)
    assert list(some.get_feature_names_out()) == ["x3", "seven", "x11"]
    with pytest.raises(ParameterError, match=r"one name per column \(40\), got 2"):
        SketchClassifier(feature_names=["a", "b"]).fit(X, y)


def test_values_must_fit_single_precision():
    with pytest.raises(ParameterError, match=r"float32.*got 1e\+300"):
        SketchRegressor().fit(np.array([[1e300], [1.0]]), [0.0, 1.0])


def test_learners_that_keep_every_weight_obey_the_budget():
    X = sp.csr_array((np.ones(2), np.array([0, 2**40]), np.array([0, 1, 2])), shape=(2, 2**62))
    with pytest.raises(LimitError, match="which keeps"):
        SketchClassifier("sgd").fit(X, [0, 1])
    with pytest.raises(ParameterError, match="needs a matrix"):
        SketchClassifier("olbfgs").fit([["a"], ["b"]], [0, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"learner": "magic"}, "learner must be one of .*got 'magic'"),
        ({"k": -1}, "k must be .*got -1"),
        ({"memory": "12 parsecs"}, "got '12 parsecs'"),
        ({"passes": 0}, "passes must be .*got 0"),
        ({"passes": None}, "passes must be .*got None"),
        ({"batch_size": 2.5}, r"batch_size must be .*got 2\.5"),
        ({"step_size": -1.0}, r"step_size.*got -1\.0"),
        ({"l2": -1.0}, r"l2 must be .*got -1\.0"),
        ({"fit_intercept": 2}, "fit_intercept must be True or False, got 2"),
        ({"selected_only": 1}, "selected_only must be True or False, got 1"),
        ({"shuffle": "yes"}, "shuffle must be True or False, got 'yes'"),
        ({"max_classes": 1}, "max_classes must be .*got 1"),
        ({"random_state": "x"}, "'x'"),
    ],
)
def test_parameters_are_checked_when_fitted(two_classes, parameters, message):
    estimator = SketchClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        estimator.fit(*two_classes)


def test_numbers_of_a_parameter_grid_are_taken(two_classes):
    got = SketchClassifier(
        k=np.int64(5), batch_size=np.int32(10), l2=np.float64(0.0), passes=np.int64(2)
    ).fit(*two_classes)
    assert len(got.selected_indices_) == 5


@pytest.mark.parametrize("weights", [np.zeros(500), np.full(500, -1.0), np.ones((500, 2))])
def test_bad_weights_are_refused(two_classes, weights):
    with pytest.raises(ValueError, match="sample_weight"):
        SketchClassifier().fit(*two_classes, sample_weight=weights)


def test_weight_zero_is_absence(two_classes):
    X, y = two_classes
    weights = (np.arange(500) % 3 > 0).astype(float)
    kept = SketchClassifier(shuffle=False).fit(X[weights > 0], y[weights > 0])

    got = SketchClassifier(shuffle=False).fit(X, y, sample_weight=weights)

    assert_allclose(got.decision_function(X), kept.decision_function(X), rtol=1e-6)


def test_weights_move_the_boundary(two_classes):
    X, y = two_classes
    noisy = np.where(np.random.default_rng(0).random(500) < 0.3, 1 - y, y)
    heavy = SketchClassifier().fit(X, noisy, sample_weight=np.where(noisy == 1, 20.0, 1.0))
    plain = SketchClassifier().fit(X, noisy)
    assert heavy.predict(X).mean() > plain.predict(X).mean() + 0.1


@pytest.mark.parametrize("columns", [[30, 10, 20], [("a", 1), ("a", 2), ("b", 1)]])
def test_columns_without_string_names_are_numbered_unless_named(columns):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=columns)
    y = frame[columns[1]] > 0
    assert SketchClassifier(k=1).fit(frame, y).selected_names_.tolist() == ["x1"]
    named = SketchClassifier(k=1, feature_names=[str(name) for name in frame.columns])
    assert named.fit(frame, y).selected_names_.tolist() == [str(columns[1])]


@pytest.mark.parametrize("learner", ["bear", "mission", "newton"])
def test_selected_only_predicts_with_the_selected(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 100))
    y = (X[:, 3] - X[:, 7] > 0).astype(int)
    whole = SketchClassifier(learner, k=10, memory="4KiB").fit(X, y)
    only = clone(whole).set_params(selected_only=True).fit(X, y)

    assert only.get_params()["selected_only"] is True
    assert_array_equal(only.selected_names_, whole.selected_names_)
    if learner != "bear":  # which gains too little for so few examples to tell
        assert only.score(X, y) > whole.score(X, y) + 0.01
    expected = X @ only.coef_.toarray()[0] + only.intercept_
    assert_allclose(only.decision_function(X), expected, rtol=1e-4, atol=1e-4)
    assert_array_equal(only.predict(X), expected > 0)
    sure = only.learner_.calibration["selected_only"].slope * expected
    assert_allclose(only.predict_proba(X)[:, 1], 1 / (1 + np.exp(-sure)), rtol=1e-4)
    whole.set_params(selected_only=True)  # needs no other fit
    assert_allclose(whole.decision_function(X), expected, rtol=1e-4, atol=1e-4)


def test_selected_only_of_a_regressor():
    X = np.random.default_rng(0).normal(size=(500, 50))
    model = SketchRegressor("mission", k=2, memory="1KiB", selected_only=True).fit(X, 3 * X[:, 7])
    expected = X @ model.coef_.toarray()[0] + model.intercept_
    assert_allclose(model.predict(X), expected, rtol=1e-4, atol=1e-4)


def test_selected_only_needs_a_learner_that_selects(two_classes):
    with pytest.raises(ParameterError, match="selected_only needs a learner that selects"):
        SketchClassifier("fh", selected_only=True).fit(*two_classes)


@pytest.mark.parametrize(("column", "told"), [(50, "got one in column 50"), (-4, "column -4")])
def test_entries_beside_the_columns_are_refused(column, told):
    X = sp.csr_matrix(np.eye(10)[np.arange(40) % 10])
    X.indices[7] = column
    with pytest.raises(ParameterError, match="columns 0 to 9") as caught:
        SketchClassifier(k=2, memory="1KiB").fit(X, np.arange(40) % 2)
    assert told in str(caught.value)


def test_a_path_is_told_what_reads_it():
    model = SketchClassifier(k=2, memory="1KiB").fit(np.eye(10), np.arange(10) % 2)
    with pytest.raises(ParameterError, match="open_like"):
        model.predict("clicks.vw")


def test_texts_are_no_rows():
    with pytest.raises(ParameterError, match="got the text 'cheap pills'") as raised:
        SketchClassifier().fit(["cheap pills", "lunch at noon"], [1, 0])
    assert "text.split()" in raised.value.hint
