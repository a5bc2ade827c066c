"""Models whose classes select features each for itself, as estimators."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from bearsketch import Batch, SketchClassifier, SketchSelector, make_learner
from bearsketch.export import linear_model


def as_batch(X, y=None):
    rows = sp.csr_array(X)
    keys = rows.indices.astype(np.uint64)
    return Batch(rows.indptr.astype(np.int64), keys, rows.data.astype(np.float32), labels=y)


@pytest.fixture
def saved(three_classes, tmp_path):
    X, y = three_classes
    learner = make_learner(
        k=4, memory="16KiB", loss="softmax", classes=["ash", "birch", "cedar"], per_class=True
    )
    learner.learn(as_batch(X, y))
    learner.save(tmp_path / "model.bear")
    return learner, tmp_path / "model.bear"


def test_selected_features_are_the_union_of_those_of_the_classes(saved, three_classes):
    learner, path = saved
    got, X = SketchClassifier.load(path), three_classes[0]
    keys = learner.selected().keys
    assert len(np.unique(keys)) < len(keys)  # some are selected for several classes
    assert_array_equal(got.get_support(indices=True), np.unique(keys))
    assert len(got.selected_names_) == len(got.selected_weights_) == len(np.unique(keys))
    assert got.selected_indices_[0] == keys[0]
    of = dict(zip(got.selected_indices_.tolist(), got.selected_classes_, strict=True))
    assert [of[i] for i in range(3)] == ["ash", "birch", "cedar"]
    dense, sparse = got.transform(X), got.transform(sp.csr_array(X))
    assert_array_equal(dense, sparse.toarray())
    assert dense.shape == (600, len(np.unique(keys)))
    assert_array_equal(SketchSelector.load(path).transform(X), dense)


def test_weights_are_those_of_the_export_and_of_predictions(saved, three_classes, tmp_path):
    learner, path = saved
    got, X = SketchClassifier.load(path), three_classes[0]
    model = linear_model(learner)
    assert_array_equal(got.selected_indices_, model.keys)
    largest = model.weights[np.arange(len(model.keys)), np.abs(model.weights).argmax(axis=1)]
    assert_array_equal(got.selected_weights_, largest)
    margins = X[:, model.keys] @ model.weights + model.intercept
    only = learner.predict_margin(as_batch(X), selected_only=True)
    assert_allclose(margins, only, rtol=1e-4, atol=1e-4)
    got.save(tmp_path / "again.bear")
    again = SketchClassifier.load(tmp_path / "again.bear")
    assert_array_equal(again.selected_weights_, got.selected_weights_)
