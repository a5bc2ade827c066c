"""Bad input: the message names what, allowed and got; the model is what it was."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bearsketch import (
    Automatic,
    Batch,
    Constant,
    DataError,
    Decaying,
    DivergedError,
    IncompatibleError,
    LimitError,
    ModelFileError,
    Names,
    ParameterError,
    load,
    make_learner,
)
from bearsketch.keys import hash_names
from bearsketch.learners import state
from bearsketch.model_file import pack
from bearsketch.sizes import parse_bytes
from reference.streams import batch_of, stream

POOL = np.arange(40, dtype=np.uint64)


def model_bytes(learner):
    return pack(*state.dump(learner))


@pytest.fixture
def learner():
    made = make_learner("bear+", k=5, width=16, batch_size=10, intercept=True)
    made.learn(batch_of(*stream("logistic", POOL, n_rows=50, active=6)))
    return made


def two_rows(**changes):
    """A sound batch of two rows with some of its parts replaced."""
    parts = {
        "indptr": [0, 2, 3],
        "keys": np.array([3, 5, 4], dtype=np.uint64),
        "values": np.array([1.0, 2.0, 0.5], dtype=np.float32),
        "labels": [1, 0],
        **changes,
    }
    return Batch(**parts)


BATCHES = {
    "values too short": ({"values": [1.0, 2.0]}, "equally long, got 3 and 2"),
    "keys too short": ({"keys": [3, 5]}, "equally long, got 2 and 3"),
    "labels too long": ({"labels": [1, 1, 1]}, r"labels must have shape \(2,\).*got \(3,\)"),
    "labels in a table": ({"labels": [[1], [0]]}, r"labels must have shape \(2,\).*got \(2, 1\)"),
    "weights too short": ({"weights": [1.0]}, r"weights must have shape \(2,\).*got \(1,\)"),
    "tags too short": ({"tags": [b"a"]}, "tags must be 2, one per example, got 1"),
    "keys in a table": ({"keys": [[3, 5, 4]]}, r"keys must be one-dimensional, got shape \(1, 3\)"),
    "indptr empty": ({"indptr": []}, "labels must have shape|at least one element"),
    "indptr from 1": ({"indptr": [1, 2, 3]}, "indptr must start at 0, got 1"),
    "indptr falls": ({"indptr": [0, 3, 2]}, "indptr must not fall, got 2 after 3 at row 1"),
    "indptr too short": ({"indptr": [0, 1, 2]}, "number of entries, 3, got 2"),
    "indptr too long": ({"indptr": [0, 1, 9]}, "number of entries, 3, got 9"),
    "indptr of fractions": ({"indptr": [0.0, 2.0, 3.0]}, "indptr must fit int64, got float64"),
    "negative keys": ({"keys": [-1, 5, 4]}, "keys must fit uint64, got int64"),
    "keys of fractions": ({"keys": [1.5, 5, 4]}, "keys must fit uint64, got float64"),
    "keys of words": ({"keys": ["a", "b", "c"]}, "keys must fit uint64, got str"),
    "values of words": ({"values": ["a", "b", "c"]}, "values must fit float32, got str"),
    "complex values": ({"values": [1j, 1.0, 1.0]}, "values must fit float32, got complex128"),
    "unsorted keys": ({"keys": [5, 3, 4]}, "strictly ascending, got 3 after 5 at row 0, entry 1"),
    "duplicate keys": (
        {"keys": [3, 3, 4]},
        "strictly ascending, got a duplicate 3 after 3 at row 0",
    ),
    "value nan": (
        {"values": [1.0, np.nan, 1.0]},
        "values must be finite, got nan at row 0, entry 1",
    ),
    "value inf": ({"values": [1.0, 1.0, -np.inf]}, "finite, got -inf at row 1, entry 2"),
    "value too large": ({"values": [1.0, 1.0, 1e300]}, "finite, got inf at row 1, entry 2"),
    "weight negative": ({"weights": [1.0, -2.0]}, "not negative, got -2.0* at row 1"),
    "weight nan": ({"weights": [np.nan, 1.0]}, "weights must be finite and not negative, got nan"),
    "naming unknown": ({"naming": "word"}, "naming must be 'id', 'name', .* got 'word'"),
    "naming too long": ({"naming": "kmer:33"}, "'kmer:1' to 'kmer:32'.* got 'kmer:33'"),
    "names without seed": ({"naming": "name"}, "seed must be given with naming 'name'"),
    "too few names": (
        {"names": Names(np.zeros(2, dtype=np.uint8), np.zeros(2, dtype=np.uint64))},
        r"names.offsets must have shape \(4,\).* got \(2,\)",
    ),
    "names beyond": (
        {"names": Names(np.zeros(2, dtype=np.uint8), np.array([0, 1, 2, 3], dtype=np.uint64))},
        "names.offsets must rise and stay within 2 bytes, got 3 after 2",
    ),
}


@pytest.mark.parametrize("case", BATCHES)
def test_a_bad_batch_is_refused(case, learner):
    changes, message = BATCHES[case]
    before = model_bytes(learner)
    with pytest.raises(ParameterError, match=message):
        learner.learn(two_rows(**changes))
    assert model_bytes(learner) == before
    learner.learn(two_rows())
    assert model_bytes(learner) != before


LABELS = {
    "another number": ([1, 2], "labels must be -1, 0 or 1, got 2 at example 1"),
    "a fraction": ([0.5, 1], "labels must be -1, 0 or 1, got 0.5 at example 0"),
    "a word": (["spam", "ham"], "labels must be numbers for loss 'logistic', got <U4"),
    "nan": ([1, np.nan], "labels must be finite numbers, got nan at example 1"),
}


@pytest.mark.parametrize("case", LABELS)
def test_bad_labels_are_refused(case, learner):
    labels, message = LABELS[case]
    before = model_bytes(learner)
    with pytest.raises(DataError, match=message):
        learner.learn(two_rows(labels=np.array(labels)))
    assert model_bytes(learner) == before


@pytest.mark.parametrize(
    ("loss", "classes", "labels", "message"),
    [
        ("softmax", 3, [0, 3], "labels must be 0, 1, 2, got 3 at example 1"),
        ("softmax", ["a", "b", "c"], ["a", "d"], "labels must be a, b, c, got d at example 1"),
        ("softmax", 20, [0, 99], "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..., got 99"),
        ("logistic", ["ham", "spam"], ["ham", "eggs"], "labels must be ham, spam, got eggs"),
        ("squared", None, [1.0, np.inf], "labels must be finite numbers, got inf at example 1"),
    ],
)
def test_undeclared_labels_are_refused(loss, classes, labels, message):
    made = make_learner("bear+", k=2, width=8, loss=loss, classes=classes)
    before = model_bytes(made)
    with pytest.raises(DataError, match=message):
        made.learn(two_rows(labels=np.array(labels)))
    assert model_bytes(made) == before


def test_a_batch_without_labels_cannot_be_learned(learner):
    before = model_bytes(learner)
    with pytest.raises(ParameterError, match="labels must be given to learn"):
        learner.learn(two_rows(labels=None))
    assert model_bytes(learner) == before


def test_names_of_another_seed_or_naming_are_refused(learner):
    before = model_bytes(learner)
    strange = Batch.from_rows([["a"]], [1], seed=8)
    with pytest.raises(IncompatibleError, match="with seed 8, the learner has seed 0"):
        learner.learn(strange)
    with pytest.raises(IncompatibleError, match=r"kind \(id\) than those of the data \(kmer:4\)"):
        learner.learn(two_rows(naming="kmer:4"))
    with pytest.raises(IncompatibleError, match="with seed 8"):
        learner.predict(strange)
    assert model_bytes(learner) == before


def test_numbers_are_no_names_and_words_no_values():
    with pytest.raises(ParameterError, match="names must be str or bytes, got 3"):
        Batch.from_rows([{3: 1.0}], [1])
    with pytest.raises(ParameterError, match="names must be str or bytes, got 3"):
        hash_names(["a", 3])
    with pytest.raises(ParameterError, match="values must be numbers, got 'paris'"):
        Batch.from_rows([{"size": 2, "city": "paris"}], [1])


@pytest.mark.parametrize("made", ["sgd", "olbfgs"])
def test_keys_beyond_the_dimension_are_refused_before_anything_is_learned(made):
    dense = make_learner(made, dimension=40, batch_size=10)
    rows, labels = stream("logistic", POOL, n_rows=50, active=6)
    before = model_bytes(dense)
    with pytest.raises(ParameterError, match="keys must be below the dimension, 40, got 40"):
        dense.learn(batch_of([*rows, {40: 1.0}], [*labels, 1.0]))
    assert model_bytes(dense) == before
    with pytest.raises(ParameterError, match="below the dimension, 40, got 41"):
        dense.predict(batch_of([{41: 1.0}]))
    with pytest.raises(ParameterError, match="below the dimension"):
        dense.weights_of([77])


def test_weights_of_a_key_twice_is_refused(learner):
    with pytest.raises(ParameterError, match="keys must be distinct"):
        learner.weights_of([3, 3])


def test_divergence_keeps_the_state_before_it():
    made = make_learner("bear", k=5, width=16, batch_size=10, loss="squared", intercept=True)
    rows, labels = stream("squared", POOL, n_rows=50, active=6)
    made.learn(batch_of(rows, labels))
    before = model_bytes(made)
    for label in (1e200, 1e300, -1.7e308):
        with pytest.raises(DivergedError, match="minibatch 5: training diverged") as caught:
            made.learn(batch_of(rows[:10], np.full(10, label)))
        assert caught.value.code == "NUM-DIVERGED"
        assert "step size" in caught.value.hint
        assert model_bytes(made) == before


def test_divergence_in_a_later_minibatch_keeps_the_earlier_ones_and_their_naming():
    made, same = (
        make_learner("mission", k=5, width=16, batch_size=10, loss="squared") for _ in range(2)
    )
    rows, labels = stream("squared", POOL, n_rows=30, active=6)
    batch = batch_of(rows, labels)
    same.learn(Batch(batch.indptr, batch.keys, batch.values, labels, naming="kmer:3").rows(0, 20))
    labels = np.where(np.arange(30) < 20, labels, 1e300)
    with pytest.raises(DivergedError, match="minibatch 2"):
        made.learn(Batch(batch.indptr, batch.keys, batch.values, labels, naming="kmer:3"))
    assert model_bytes(made) == model_bytes(same)
    assert made.naming == "kmer:3"


PARAMETERS = {
    "learner": ({"learner": "bare"}, "learner must be one of bear\\+, bear, .*, got 'bare'"),
    "loss": ({"loss": "hinge"}, "loss must be one of logistic, softmax, squared, got 'hinge'"),
    "query": ({"query": "mode"}, "query must be one of mean, median, got 'mode'"),
    "reads": ({"reads": "all"}, "reads must be one of storage, selection, got 'all'"),
    "precision": ({"precision": "float16"}, "precision must be one of int8, float32, float64, got"),
    "k negative": ({"k": -1}, "k must be a whole number from 0 to .*, got -1"),
    "k a fraction": ({"k": 1.5}, "k must be a whole number from 0 to .*, got 1.5"),
    "k a truth": ({"k": True}, "k must be a whole number from 0 to .*, got True"),
    "k a word": ({"k": "5"}, "k must be a whole number from 0 to .*, got '5'"),
    "width": ({"width": 0}, "width must be a whole number from 1 to .*, got 0"),
    "depth 0": ({"depth": 0}, "depth must be a whole number from 1 to 16, got 0"),
    "depth 17": ({"depth": 17}, "depth must be a whole number from 1 to 16, got 17"),
    "history": ({"history": 101}, "history must be a whole number from 0 to 100, got 101"),
    "batch_size": ({"batch_size": 0}, "batch_size must be a whole number from 1 to .*, got 0"),
    "l2": ({"l2": -0.1}, "l2 must be a number from 0 to .*, got -0.1"),
    "l2 nan": ({"l2": float("nan")}, "l2 must be a number from 0 to .*, got nan"),
    "seed": ({"seed": -1}, "seed must be a whole number from 0 to .*, got -1"),
    "seed 2^64": (
        {"seed": 2**64},
        "seed must be a whole number from 0 to .*, got 18446744073709551616",
    ),
    "step word": (
        {"step_size": "fast"},
        "step_size must be 'auto', a number or a step, got 'fast'",
    ),
    "step 0": ({"step_size": 0}, "step_size: eta must be finite and above 0, got 0.0"),
    "step huge": ({"step_size": 10**400}, "eta must be finite and above 0, got inf"),
    "step huge part": (
        {"step_size": Constant(10**400)},
        "eta must be finite and above 0, got 1000",
    ),
    "step nan": ({"step_size": float("nan")}, "eta must be finite and above 0, got nan"),
    "step phi": ({"step_size": Automatic(-1.0)}, "phi must be finite and above 0, got -1.0"),
    "step eta": ({"step_size": Constant(float("inf"))}, "eta must be finite and above 0, got inf"),
    "step t0": ({"step_size": Decaying(1.0, 0.0)}, "t0 must be finite and above 0, got 0.0"),
    "intercept": ({"intercept": "yes"}, "intercept must be True or False, got 'yes'"),
    "two sizes": ({"memory": "1KiB"}, "give one size: .*, got memory and width"),
    "classes squared": ({"loss": "squared", "classes": 2}, "classes must not be given for loss"),
    "classes absent": ({"loss": "softmax"}, "classes must be given for loss 'softmax'"),
    "classes one": ({"loss": "softmax", "classes": 1}, "classes must be at least 2, got 1"),
    "classes three": ({"classes": 3}, "loss 'logistic' takes 2 classes, got 3"),
    "classes many": ({"loss": "softmax", "classes": 2**70}, "classes must be at most 65536, got"),
    "classes lists": ({"classes": [[1], [2]]}, "classes must be numbers or strings, got"),
    "classes twice": ({"classes": ["a", "a"]}, "classes must be distinct, got"),
    "classes mixed": ({"classes": ["a", 1]}, "classes must be all numbers or all strings"),
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_a_bad_parameter_is_refused_by_name(case):
    changes, message = PARAMETERS[case]
    options = {"learner": "bear+", "k": 5, "width": 16, **changes}
    with pytest.raises(ParameterError, match=message):
        make_learner(options.pop("learner"), **options)


@pytest.mark.parametrize("name", ["bear", "mission", "newton", "awm"])
@pytest.mark.parametrize("k", [0, -3])
def test_k_must_be_positive_where_features_are_selected(name, k):
    with pytest.raises(ParameterError, match=f"k must be .* got {k}"):
        make_learner(name, k=k, width=16)


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({"k": 100, "memory": 1000}, 100 * 11 + 1),
        ({"learner": "awm", "k": 100, "memory": "1KB", "precision": "float64"}, 100 * 16 + 8),
        ({"k": 10, "memory": 200, "loss": "softmax", "classes": 15}, 10 * 25 + 15),
        (
            {"k": 10, "memory": 500, "loss": "softmax", "classes": 15, "per_class": True},
            10 * 165 + 15,
        ),
    ],
)
def test_a_budget_too_small_for_k_names_the_least(options, least):
    got = parse_bytes(options["memory"])
    with pytest.raises(LimitError, match=f"at least {least} bytes for k={options['k']}.*got {got}"):
        make_learner(**options)
    with pytest.warns(UserWarning, match="more than half"):
        enough = make_learner(**{**options, "memory": least})
    assert enough.sizes.model_bytes == least
    assert enough.config.width == 1


def test_half_the_budget_for_the_selected_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make_learner("bear+", k=100, memory=2200).sizes.selected_bytes == 1100
    with pytest.warns(UserWarning, match="the 101 selected features take 1111 of 2200 bytes"):
        make_learner("bear+", k=101, memory=2200)


@pytest.mark.parametrize("size", ["", "many", "-1KiB", "1.5.2MB", "0", "3 parsecs", "1e9", 2**49])
def test_a_bad_size_is_refused(size):
    with pytest.raises(ParameterError, match="a size must be"):
        make_learner("bear+", k=1, memory=size)


def test_compression_needs_a_dimension_and_room():
    with pytest.raises(ParameterError, match="compression needs a dimension"):
        make_learner("bear+", k=1, compression=10)
    with pytest.raises(LimitError, match="memory must be at least"):
        make_learner("bear+", k=100, dimension=1000, compression=100)


@pytest.mark.unsanitized
def test_a_model_that_cannot_fit_into_memory_is_refused():
    with pytest.raises(LimitError, match="must fit into memory"):
        make_learner("mission", k=1, width=2**48, depth=16)


def test_a_failed_merge_changes_neither_side(learner):
    other = make_learner("bear+", k=5, width=17, batch_size=10, intercept=True)
    before, theirs = model_bytes(learner), model_bytes(other)
    with pytest.raises(IncompatibleError, match="width is 16 here and 17 there"):
        learner.merge(other)
    assert model_bytes(learner) == before
    assert model_bytes(other) == theirs


def test_a_damaged_file_is_refused_and_the_file_stays(learner, tmp_path):
    path = tmp_path / "m.bear"
    learner.save(path)
    damaged = path.read_bytes()[:-1]
    path.write_bytes(damaged)
    with pytest.raises(ModelFileError, match="not a usable model file: its checksum"):
        load(path)
    assert path.read_bytes() == damaged


def test_rows_that_are_no_batch_are_refused_with_what_to_pass(learner):
    for call in (learner.learn, learner.predict, learner.predict_proba):
        with pytest.raises(TypeError, match="must come in a Batch, got list") as caught:
            call([{"free": 1.0}])
        assert isinstance(caught.value, ParameterError)
        assert "Batch.from_rows(" in str(caught.value)


@pytest.mark.parametrize("row", ["free prize", b"free", None, 3])
def test_rows_must_be_names(row):
    with pytest.raises(ParameterError, match="a row must be a mapping from names to values"):
        Batch.from_rows([row], [1])
