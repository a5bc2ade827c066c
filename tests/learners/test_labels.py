"""Classes that a learner can tell apart."""

import io

import numpy as np
import pytest

from bearsketch import Batch, Learner, ParameterError, SketchClassifier, load, make_learner
from bearsketch.exceptions import DataError, ModelFileError
from bearsketch.learners import state
from bearsketch.learners.labels import Labels
from bearsketch.reading import open_stream
from bearsketch.training.first_rows import FirstLabels
from bearsketch.training.session import Session
from bearsketch.training.task import decide

LARGE = 2**53


@pytest.mark.parametrize("classes", [[LARGE, LARGE + 1], [0, -LARGE - 1], [1, 2, np.int64(LARGE)]])
def test_classes_too_large_to_tell_apart_are_refused(classes):
    loss = "softmax" if len(classes) > 2 else "logistic"
    with pytest.raises(ParameterError, match=r"(?s)below 2\*\*53.*words"):
        Labels(loss, classes)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        make_learner(loss=loss, classes=classes, memory="4KiB")
    seen = FirstLabels()
    seen.add(np.array(classes, dtype=np.float64))
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        decide(seen, classes=list(map(str, classes)))
    assert Labels("logistic", [0, LARGE - 1]).encode(np.array([LARGE - 1]))[0] == 1.0
    assert Labels("logistic", [str(LARGE), str(LARGE + 1)]).label(1) == str(LARGE + 1)


def test_estimators_refuse_them_when_they_come():
    X, y = [["a"], ["b"]] * 10, np.array([LARGE, LARGE + 1] * 10)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        SketchClassifier(memory="8KiB").fit(X, y)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        SketchClassifier(memory="8KiB").partial_fit(X, y)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        SketchClassifier(memory="8KiB").fit_stream([Batch.from_rows(X, y.astype(np.float64))])
    got = SketchClassifier(memory="8KiB").fit(X, y.astype(str))
    assert got.predict(X).tolist() == y.astype(str).tolist()


@pytest.mark.parametrize("negative", [0, -1])
def test_predictions_are_the_labels_that_came_also_from_a_file(tmp_path, negative):
    learner = make_learner(memory="4KiB", k=2)
    batch = Batch.from_rows([["a"], ["b"]] * 20, [1, negative] * 20)
    learner.learn(Batch.from_rows([["a"]], [1]))
    learner.learn(batch)
    learner.save(tmp_path / "m.bear")
    assert learner.predict(batch)[:2].tolist() == [1, negative]
    assert load(tmp_path / "m.bear").predict(batch)[:2].tolist() == [1, negative]
    assert load(tmp_path / "m.bear").learn(batch).examples == 40


@pytest.mark.parametrize("negative", [0, -1])
def test_both_labels_of_the_negative_class_are_no_two_classes(negative):
    other, learner = -1 - negative, make_learner(memory="4KiB", k=2)
    rows = [["a"], ["b"], ["c"]]
    with pytest.raises(DataError, match=r"(?s)must be .* and 1, got .* at example 2.*classes=\["):
        learner.learn(Batch.from_rows(rows, [1, negative, other]))
    learner.learn(Batch.from_rows(rows, [1, negative, negative]))
    before = learner.to_bytes()
    with pytest.raises(DataError, match=f"must be {negative} and 1, got {other} at example 1") as e:
        learner.learn(Batch.from_rows(rows, [1, other, 1]))
    assert e.value.code == "LABEL-UNKNOWN"
    assert learner.to_bytes() == before


def test_a_part_that_met_one_class_merges_with_one_that_knows_both():
    ones, both = (make_learner(memory="4KiB", k=2) for _ in range(2))
    ones.learn(Batch.from_rows([["a"]] * 20, [1] * 20))
    both.learn(Batch.from_rows([["a"], ["b"]] * 10, [1, 0] * 10))
    assert ones.predict(Batch.from_rows([["c"]])).tolist() == [1]
    assert ones.labels.label(0) == -1
    ones.merge(both)
    assert ones.labels.label(0) == 0


def test_a_run_whose_first_examples_are_all_1_gives_0_back():
    rows = b"1 |f a\n" * 10_020 + b"0 |f b\n" * 20
    with open_stream(io.BytesIO(rows), "vw", include_unlabelled=False) as stream:
        training = Session(stream, memory="4KiB", k=2)
        assert training.run().classes == [0, 1]
    assert Learner.from_bytes(training.learner.to_bytes()).labels.label(0) == 0


@pytest.mark.parametrize("wrong", [1, "0", [], 0.5])
def test_a_file_with_another_negative_label_is_refused(wrong):
    arrays, record = state.dump(make_learner(memory="4KiB", k=2))
    with pytest.raises(ModelFileError, match="negative must be -1 or 0"):
        state.read(arrays, {**record, "negative": wrong}, "m.bear")
