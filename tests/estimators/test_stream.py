"""Learning from streams of batches."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bearsketch import (
    Batch,
    DataError,
    IncompatibleError,
    LimitError,
    ParameterError,
    SketchClassifier,
    SketchRegressor,
    SketchSelector,
)

WORDS = {"a": ["ant", "the"], "b": ["bee", "the"], "c": ["cow", "the"]}


def stream(labels, n=30, seed=0):
    """Batches of 20 examples whose words tell their label."""
    rng = np.random.default_rng(0)
    names = list(WORDS)
    for _ in range(n):
        chosen = rng.integers(0, len(labels), 20)
        rows = [WORDS[names[i]] for i in chosen]
        yield Batch.from_rows(rows, np.array(labels)[chosen], seed=seed)


@pytest.mark.parametrize(
    ("labels", "columns"),
    [([0, 1], 1), ([-1.0, 1.0], 1), (["x", "y"], 5), ([0, 1, 2], 5), ([4, 7], 5)],
)
def test_classes_of_a_stream(labels, columns):
    got = SketchClassifier(k=3, memory="8KiB", max_classes=5).fit_stream(stream(labels))
    assert got.classes_.tolist() == labels
    assert got.learner_.config.columns == columns
    (test,) = stream(labels, n=1)
    assert_array_equal(got.predict(test), test.labels)
    assert {"ant", "bee"} <= set(got.selected_names_)


def test_declared_classes_cost_no_reserve():
    got = SketchClassifier(k=3, memory="8KiB").fit_stream(stream([4, 7]), classes=[7, 4])
    assert got.learner_.config.columns == 1
    with pytest.raises(DataError, match="labels must be 4, 7, got 5"):
        SketchClassifier(k=3, memory="8KiB").fit_stream(stream([4, 5]), classes=[4, 7])
    with pytest.raises(LimitError, match="max_classes"):
        SketchClassifier(k=3, memory="8KiB", max_classes=2).fit_stream(stream([4, 5, 6]))


def test_fit_stream_starts_anew_and_is_the_same_as_partial_fit():
    streamed = SketchClassifier(k=3, memory="8KiB").fit_stream(stream([0, 1]))
    streamed.fit_stream(stream([0, 1]))
    stepped = SketchClassifier(k=3, memory="8KiB")
    for batch in stream([0, 1]):
        stepped.partial_fit(batch, classes=[0, 1])
    (test,) = stream([0, 1], n=1)
    assert_array_equal(streamed.decision_function(test), stepped.decision_function(test))
    assert streamed.learner_.counters["examples"] == 600


def test_an_iterator_is_read_once_and_a_list_again():
    with pytest.raises(ParameterError, match=r"passes must be 1 for an iterator.*got 2"):
        SketchClassifier(passes=2).fit_stream(stream([0, 1]))
    got = SketchClassifier(passes=2, k=3, memory="8KiB").fit_stream(list(stream([0, 1])))
    assert got.learner_.counters["passes"] == 2
    assert got.learner_.counters["examples"] == 1200


def test_other_estimators_take_streams():
    numbers = SketchRegressor(k=3, memory="8KiB").fit_stream(stream([-2.5, 4.0]))
    (test,) = stream([-2.5, 4.0], n=1)
    assert numbers.score(test, test.labels) > 0.9
    chosen = SketchSelector(k=2, memory="8KiB").fit_stream(stream([0, 1]))
    assert chosen.transform(test).shape == (20, 2)
    keys = np.array([2**63 + 5, 9], dtype=np.uint64)
    by_id = Batch([0, 1, 2], keys, [1.0, 1.0], labels=[1, 0])
    ids = SketchSelector(k=2, memory="4KiB", feature_names={9: "nine"}).fit_stream([by_id] * 9)
    assert sorted(ids.selected_names_) == [str(2**63 + 5), "nine"]


def test_batches_must_fit():
    with pytest.raises(DataError, match="got none"):
        SketchClassifier().fit_stream(iter([]))
    with pytest.raises(ParameterError, match="requires y"):
        SketchClassifier().fit_stream([Batch([0, 1], [3], [1.0])])
    with pytest.raises(IncompatibleError, match="seed 7"):
        SketchClassifier().fit_stream(stream([0, 1], seed=7))
    with pytest.raises(ParameterError, match="needs a matrix"):
        SketchClassifier("sgd").fit_stream(stream([0, 1]))


def test_random_seed_is_drawn_once():
    got = SketchClassifier(k=2, memory="8KiB", random_state=np.random.RandomState(3))
    got.fit([["ant"], ["bee"]] * 50, [0, 1] * 50)
    assert got.learner_.config.seed != 0
    assert_array_equal(got.predict([["ant"], ["bee"]]), [0, 1])


def test_options_of_a_reader_do_not_go_with_batches():
    for source in (list(stream([0, 1])), stream([0, 1])):
        with pytest.raises(ParameterError, match=r"batches.*got label_column, ngrams"):
            SketchClassifier().fit_stream(source, ngrams=2, label_column="y")
