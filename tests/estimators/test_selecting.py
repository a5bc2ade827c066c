"""The selector interface, at O(k) for any width."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal

from bearsketch import Batch, LimitError, ParameterError, SketchClassifier, SketchSelector


@pytest.fixture
def fitted(two_classes):
    return SketchSelector(k=3).fit(*two_classes)


def test_selected_are_best_first_and_columns_ascend(fitted):
    assert fitted.selected_indices_[0] == 7
    assert fitted.selected_indices_.dtype == np.int64
    assert_array_equal(fitted.selected_names_, [f"x{i}" for i in fitted.selected_indices_])
    assert np.all(np.diff(np.abs(fitted.selected_weights_)) < 0)
    assert_array_equal(fitted.get_support(indices=True), [3, 7, 11])
    assert_array_equal(np.flatnonzero(fitted.get_support()), [3, 7, 11])
    assert_array_equal(fitted.get_feature_names_out(), ["x3", "x7", "x11"])


def test_coef_holds_the_selected_weights(fitted):
    row = fitted.coef_.toarray()[0]
    assert_array_equal(np.flatnonzero(row), [3, 7, 11])
    assert_allclose(row[fitted.selected_indices_], fitted.selected_weights_)


def test_transform_takes_columns(fitted, two_classes):
    X, _ = two_classes
    assert_array_equal(fitted.transform(X), X[:, [3, 7, 11]])
    narrow = fitted.transform(sp.csr_array(X))
    assert sp.issparse(narrow)
    assert_array_equal(narrow.toarray(), X[:, [3, 7, 11]])


def test_inverse_transform_puts_columns_back(fitted, two_classes):
    X, _ = two_classes
    expected = np.zeros_like(X)
    expected[:, [3, 7, 11]] = X[:, [3, 7, 11]]
    assert_array_equal(fitted.inverse_transform(fitted.transform(X)), expected)
    back = fitted.inverse_transform(fitted.transform(sp.csr_array(X)))
    assert_array_equal(back.toarray(), expected)
    with pytest.raises(ParameterError, match=r"X must have 3 columns, .*got 2"):
        fitted.inverse_transform(X[:, :2])


def test_names_of_columns_out(fitted):
    names = [f"w{i}" for i in range(40)]
    assert_array_equal(fitted.get_feature_names_out(names), ["w3", "w7", "w11"])
    assert_array_equal(fitted.get_feature_names_out(dict(enumerate(names))), ["w3", "w7", "w11"])
    assert_array_equal(fitted.get_feature_names_out([11, 3]), ["x11", "x3"])
    with pytest.raises(ParameterError, match="must be selected ones, got 5"):
        fitted.get_feature_names_out([3, 5])
    with pytest.raises(ValueError, match=r"number of features \(40\), got 2"):
        fitted.get_feature_names_out(["a", "b"])


@pytest.mark.parametrize(
    ("container", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_set_output_gives_frames(two_classes, container, kind):
    X, y = two_classes
    selector = SketchSelector(k=3).set_output(transform=container)
    for given in (X, sp.csr_array(X), pd.DataFrame(X).add_prefix("c")):
        frame = selector.fit(given, y).transform(given)
        assert isinstance(frame, kind)
        assert list(frame.columns) == list(selector.get_feature_names_out())
        assert_allclose(frame.to_numpy(), X[:, [3, 7, 11]])


def test_sparse_interface_is_followed(fitted, two_classes):
    X = sp.csr_array(two_classes[0])
    assert isinstance(fitted.transform(X), sp.csr_matrix)
    assert isinstance(fitted.coef_, sp.csr_matrix)
    with sklearn.config_context(sparse_interface="sparray"):
        for matrix in (fitted.transform(X), fitted.coef_, fitted.inverse_transform(X[:, :3])):
            assert isinstance(matrix, sp.csr_array)


@pytest.mark.parametrize("learner", ["sgd", "olbfgs", "fh"])
def test_learners_without_a_selection_have_no_transform(two_classes, learner):
    got = SketchClassifier(learner).fit(*two_classes)
    for name in ("transform", "fit_transform", "get_support", "selected_names_"):
        assert not hasattr(got, name)
    if learner == "fh":
        assert not hasattr(got, "coef_")
    else:
        assert got.coef_.shape == (1, 40)
        by_hand = two_classes[0] @ got.coef_.toarray()[0] + got.intercept_[0]
        assert_allclose(by_hand, got.decision_function(two_classes[0]), rtol=1e-5, atol=1e-5)


def test_masks_end_where_memory_would_grow():
    X = sp.csr_array((np.ones(2), np.array([5, 2**40]), np.array([0, 1, 2])), shape=(2, 2**62))
    got = SketchSelector(k=2).fit(X, [0, 1])
    with pytest.raises(LimitError, match="at most 16777216"):
        got.get_support()
    assert_array_equal(got.get_support(indices=True), [5, 2**40])
    wide = got.inverse_transform(np.eye(2))
    assert wide.shape == (2, 2**62)
    assert_array_equal(wide.indices, [5, 2**40])


WIDE = """
import numpy as np, scipy.sparse as sp
from bearsketch import SketchClassifier, SketchRegressor, SketchSelector

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

def run(p, n):
    rng = np.random.default_rng(0)
    planted = rng.integers(0, p, 20)
    chosen = rng.integers(0, 20, (n, 5))
    columns = np.concatenate((planted[chosen], rng.integers(0, p, (n, 10))), axis=1)
    rows = np.repeat(np.arange(n), 15)
    X = sp.coo_array((np.ones(15 * n), (rows, columns.ravel())), shape=(n, p)).tocsr()
    return X, (np.sum(chosen < 10, axis=1) > 2).astype(int), planted

p = 2**62
X, y, planted = run(1000, 10)
for estimator in (SketchClassifier(), SketchRegressor(), SketchSelector()):
    estimator.fit(X, y).transform(X)  # what imports and first calls need is not counted
before = peak()
X, y, planted = run(p, 4000)
for make in (SketchClassifier, SketchRegressor, SketchSelector):
    estimator = make(k=100).fit(X, y)
    assert estimator.n_features_in_ == p
    assert len(set(planted) & set(estimator.selected_indices_)) >= 18, make
    assert estimator.transform(X).shape == (4000, 100)
    assert estimator.coef_.shape == (1, p)
    indices = estimator.get_support(indices=True)
    assert list(estimator.get_feature_names_out(indices)) == [f"x{i}" for i in indices]
    assert estimator.inverse_transform(estimator.transform(X)).shape == X.shape
    if make is not SketchSelector:
        assert estimator.score(X, y) > 0.5
    estimator.partial_fit(X, y)
    repr(estimator._repr_html_())
print(peak() - before)
"""


@pytest.mark.unsanitized
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
def test_memory_does_not_grow_with_the_number_of_columns():
    done = subprocess.run(
        [sys.executable, "-c", WIDE], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    grown = int(done.stdout)
    print(f"peak memory over baseline with 2**62 columns: {grown} KiB")
    assert grown < 50 * 1024


def test_nothing_to_select_is_said(two_classes):
    X, y = two_classes
    none = SketchClassifier(k=0).fit(X, y)
    assert not hasattr(none, "coef_")
    assert not hasattr(none, "selected_weights_")
    assert none.score(X, y) > 0.8
    for model in (SketchSelector(k=0), SketchClassifier(k=0, selected_only=True)):
        with pytest.raises(ParameterError, match="k must be at least 1"):
            model.fit(X, y)
        with pytest.raises(ParameterError, match="k must be at least 1"):
            model.partial_fit(X, y)


def test_columns_that_x_does_not_have_are_empty():
    rows = Batch([0, 2, 4], [0, 50, 1, 51], np.ones(4), labels=[0, 1])
    selector = SketchSelector(k=4, memory="4KiB").fit_stream([rows] * 100)
    narrow = np.ones((3, 10))
    expected = [[1, 1, 0, 0]] * 3
    assert selector.get_support(indices=True).tolist() == [0, 1, 50, 51]
    assert selector.transform(narrow).tolist() == expected
    assert selector.transform(sp.csr_matrix(narrow)).toarray().tolist() == expected
