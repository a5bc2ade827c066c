"""Which classes a stream has is decided by its first examples, and not too early."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bearsketch import Batch, DataError, LimitError, SketchClassifier, SketchRegressor
from bearsketch.estimators.targets import first_classes
from bearsketch.reading import open_stream
from bearsketch.training import first_rows
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.session import Session

ROWS = {-1: ["ant"], 0: ["bee"], 1: ["cow"], 2: ["dog"], 3: ["elk"]}


def batches(*labels):
    return [Batch.from_rows([ROWS[int(y)] for y in some], np.array(some)) for some in labels]


def fitted(*labels, **parameters):
    model = SketchClassifier(k=3, memory="8KiB", max_classes=5, **parameters)
    return model.fit_stream(batches(*labels))


@pytest.mark.parametrize("one", [1, 1.0])
@pytest.mark.parametrize("other", [0, -1])
def test_a_first_batch_of_ones_waits_for_the_other_label(one, other):
    got = fitted([one] * 20, *[[one, other] * 10] * 5)
    assert got.classes_.tolist() == sorted([one, other])
    assert got.learner_.config.columns == 1
    assert_array_equal(got.predict([ROWS[1], ROWS[other]]), [one, other])


@pytest.mark.parametrize("start", [[1, 1], [0, 0], [-1]])
def test_other_labels_after_one_of_two_sides_leave_room(start):
    got = fitted(start, *[[2, start[0]] * 10] * 5)
    assert got.classes_.tolist() == [start[0], 2]
    assert got.learner_.config.n_classes == 5
    assert_array_equal(got.predict([ROWS[start[0]], ROWS[2]]), [start[0], 2])


@pytest.mark.parametrize("other", [0, 0.0, -1, 2])
def test_ones_longer_than_is_waited_for(other, monkeypatch, tmp_path):
    monkeypatch.setattr(first_rows, "PEEK_EXAMPLES", 40)
    data = [[1] * 20] * 5 + [[1, other] * 10] * 10
    got = fitted(*data)
    assert got.classes_.dtype.kind == "i"
    assert got.classes_.tolist() == sorted([1, other])
    assert got.learner_.config.columns == 1
    assert_array_equal(got.predict([ROWS[1], ROWS[other]]), [1, other])
    share = got.predict_proba([ROWS[1]])[0]
    assert share[list(got.classes_).index(1)] > 0.5
    got.save(tmp_path / "model.bear")
    again = SketchClassifier.load(tmp_path / "model.bear")
    assert_array_equal(again.predict([ROWS[1], ROWS[other]]), [1, other])
    with pytest.raises(DataError, match="got 3"):
        got.partial_fit([ROWS[3]], [3])


def test_a_run_that_stopped_among_ones_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(first_rows, "PEEK_EXAMPLES", 40)
    data = batches(*[[1] * 20] * 5, *[[1, 0] * 10] * 10)

    def broken():
        yield from data[:4]
        raise OSError("the disk is gone")

    kept = Checkpoints(tmp_path, every="20")
    whole = SketchClassifier(k=3, memory="8KiB").fit_stream(iter(data))
    with pytest.raises(OSError, match="disk"):
        SketchClassifier(k=3, memory="8KiB").fit_stream(broken(), checkpoint=kept)
    kept = Checkpoints(tmp_path, every="20", resume=True)
    got = SketchClassifier(k=3, memory="8KiB").fit_stream(iter(data), checkpoint=kept)
    assert_array_equal(got.classes_, whole.classes_)
    assert got.learner_.to_bytes() == whole.learner_.to_bytes()


@pytest.mark.parametrize(("one", "other"), [("no", "yes"), (1, 2), (1.0, 2.0)])
def test_any_two_labels_are_two_classes_without_max_classes(one, other, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("word,kept\n" + f"ant,{one}\n" * 30 + f"ant,{one}\nbee,{other}\n" * 2000)
    how = {"label_column": "kept", "on_error": "fail"}
    got = SketchClassifier(k=3, memory="8KiB").fit_stream(path, **how)
    assert got.learner_.config.loss == "logistic"
    assert got.classes_.tolist() == [one, other]
    assert got.classes_.dtype.kind in "iU"
    path.write_text(path.read_text() + "cow,3\n" * 9)
    roomy = SketchClassifier(k=3, memory="8KiB", max_classes=4).fit_stream(path, **how)
    assert roomy.learner_.config.n_classes == 4


def test_a_label_that_comes_after_the_first_examples_is_refused_or_has_room(monkeypatch):
    monkeypatch.setattr(first_rows, "PEEK_EXAMPLES", 40)
    data = batches(*[[2, 3] * 10] * 3, [1] * 20)
    with pytest.raises(DataError, match=r"labels must be 2, 3, got 1") as refused:
        SketchClassifier(k=3, memory="8KiB").fit_stream(data)
    assert "max_classes" in str(refused.value)
    got = SketchClassifier(k=3, memory="8KiB", max_classes=4).fit_stream(data)
    assert got.classes_.tolist() == [1, 2, 3]
    three = batches(*[[1, 2, 3, 3] * 5] * 3, [0] * 20)
    with pytest.raises(DataError, match=r"labels must be 1, 2, 3, got 0"):
        SketchClassifier(k=3, memory="8KiB").fit_stream(three)
    got = SketchClassifier(k=3, memory="8KiB", max_classes=4).fit_stream(three)
    assert got.classes_.tolist() == [0, 1, 2, 3]


def test_three_labels_are_three_classes_as_train_finds_them(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("word,kept\n" + "ant,a\nbee,b\ncow,c\n" * 500 + "dog,d\n" * 9)
    how = {"label_column": "kept"}
    got = SketchClassifier(k=3, memory="8KiB").fit_stream(path, **how)
    assert got.learner_.config.n_classes == 4
    with open_stream(path, include_unlabelled=False, **how) as stream:
        training = Session(stream, k=3, memory="8KiB")
        training.run()
    assert got.classes_.tolist() == training.classes
    assert got.learner_.config.sizes == training.learner.config.sizes


def test_as_many_classes_as_train_takes():
    labels = np.repeat([f"c{i}" for i in range(1001)], 3)
    rows = [["ant"]] * len(labels)
    with pytest.raises(LimitError, match=r"at most 1000 classes, got 1001") as refused:
        SketchClassifier(k=3).fit_stream([Batch.from_rows(rows, labels)])
    assert "max_classes" in str(refused.value)
    assert len(first_classes(labels[3:], None).classes) == 1000


@pytest.mark.parametrize("labels", [[0.0, 1.0, 2.0], [1.0, 3.0]])
def test_whole_numbers_of_a_stream_are_integers(labels):
    got = SketchClassifier(k=3, memory="8KiB").fit_stream(batches(*[labels * 10] * 3))
    assert got.classes_.dtype.kind == "i"
    assert got.classes_.tolist() == labels


def test_numbers_that_are_not_whole_stay():
    rows = [["ant"], ["bee"], ["cow"]] * 10
    some = [Batch.from_rows(rows, np.array(y * 10)) for y in ([1.0, 2.0, 3.0], [0.5, 2.0, 3.0])]
    with pytest.raises(ValueError, match="continuous"):
        SketchClassifier(k=3, memory="8KiB").fit_stream(some)


def test_nothing_but_ones_is_one_side_of_two():
    with pytest.warns(UserWarning, match="LABEL-ONE"):
        got = fitted([1] * 20, [1] * 20)
    assert got.classes_.tolist() == [-1, 1]
    assert got.predict([ROWS[1]]).tolist() == [1]
    assert got.partial_fit([ROWS[-1]], [-1]).classes_.tolist() == [-1, 1]


@pytest.mark.parametrize("model", [SketchClassifier, SketchRegressor])
def test_batches_without_examples_are_passed_over(model):
    empty = Batch([0], [], [], labels=np.array([]), naming="name", seed=0)
    full = batches([1.0, 0.0] * 10)
    got = model(k=3, memory="8KiB", passes=2).fit_stream([empty, *full, empty, *full])
    plain = model(k=3, memory="8KiB", passes=2).fit_stream(full * 2)
    assert got.learner_.to_bytes() == plain.learner_.to_bytes()
    with pytest.raises(DataError, match="got none"):
        model().fit_stream([empty])


@pytest.mark.parametrize(
    ("model", "given"), [(SketchClassifier, {"classes": [0, 1]}), (SketchRegressor, {})]
)
def test_named_classes_and_numbers_wait_for_nothing(model, given, monkeypatch):
    learned = []
    learn = Session.learn
    monkeypatch.setattr(Session, "learn", lambda *a: learned.append(a) or learn(*a))

    def live():
        yield from batches([1] * 20)
        raise OSError("asked for more")

    with pytest.raises(OSError, match="asked"):
        model().fit_stream(live(), **given)
    assert len(learned) == 1
