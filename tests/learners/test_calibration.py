"""Probabilities are calibrated by what was predicted before it was learned."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, ParameterError, _core, load, make_learner
from bearsketch.exceptions import ModelFileError
from bearsketch.learners.average import average
from reference.calibration import fitted

ROWS, ACTIVE, FEATURES = 20, 4, 60


def rows(n, classes=2, seed=0, weights=None):
    """Rows whose class depends on their features, by odds that a linear model can have."""
    rng = np.random.default_rng(seed)
    odds = np.random.default_rng(1).normal(scale=1.2, size=(FEATURES, classes))
    keys = np.sort(rng.permuted(np.tile(np.arange(FEATURES), (n, 1)), axis=1)[:, :ACTIVE], axis=1)
    margins = odds[keys].sum(axis=1)
    labels = np.argmax(margins + rng.gumbel(size=margins.shape), axis=1)
    indptr = np.arange(0, ACTIVE * n + 1, ACTIVE)
    return Batch(indptr, keys.ravel(), np.ones(ACTIVE * n), labels=labels, weights=weights)


def learner_of(classes=2, **options):
    loss = "logistic" if classes == 2 else "softmax"
    options = {"k": 10, "memory": "2KiB", "batch_size": ROWS, **options}
    return make_learner(loss=loss, classes=list(range(classes)), **options)


def predictions(learner, data, **way):
    """Margins of each minibatch before it is learned."""
    found = []
    for start in range(0, len(data), ROWS):
        part = data.rows(start, min(start + ROWS, len(data)))
        found.append(learner.predict_margin(part, **way))
        learner.learn(part)
    return np.concatenate(found)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("selected_only", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_map_is_that_of_its_twin(classes, selected_only, weighted):
    weights = np.random.default_rng(2).integers(0, 4, 900).astype(float) if weighted else None
    data = rows(900, classes, weights=weights)
    learner = learner_of(classes)
    margins = predictions(learner, data, selected_only=selected_only)
    kept = np.ones(900, bool) if weights is None else weights > 0
    if weighted:  # minibatches of the twin would be cut elsewhere: all of the sums are compared
        assert learner.calibration["all"].examples == kept.sum()
        return
    wanted = fitted(margins, data.labels, np.ones(900), ROWS)
    found = learner.calibration["selected_only" if selected_only else "all"]
    np.testing.assert_allclose([found.slope, found.offset], wanted, rtol=1e-6)


def test_an_example_of_weight_two_counts_as_two_of_one():
    once = rows(400, seed=3)
    weights = np.full(400, 2.5)
    alike = Batch(once.indptr, once.keys, once.values, labels=once.labels, weights=weights)
    maps = []
    for data in (once, alike):
        learner = learner_of(learner="fh", k=None, step_size=0.1)
        learner.learn(data)
        maps.append(learner.calibration["all"])
    np.testing.assert_allclose(maps[0], maps[1])  # weights count beside their mean


def test_there_is_no_map_of_fewer_than_200_predictions():
    learner, data = learner_of(), rows(200)
    learner.learn(data.rows(0, 199))
    margins = learner.predict_margin(data)
    assert learner.calibration == {"all": None, "selected_only": None}
    np.testing.assert_array_equal(learner.calibrated(margins), margins)
    learner.learn(data.rows(199, 200))
    assert learner.calibration["all"].examples == 200
    assert (learner.calibrated(margins) != margins).any()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("selected_only", [False, True])
def test_the_label_is_the_most_probable_and_margins_stay(classes, selected_only):
    learner, data = learner_of(classes), rows(1000, classes)
    learner.learn(data)
    shares = learner.predict_proba(data, selected_only=selected_only)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        learner.predict(data, selected_only=selected_only), np.argmax(shares, axis=1)
    )
    margins = learner.predict_margin(data, selected_only=selected_only)
    map_ = learner.calibration["selected_only" if selected_only else "all"]
    scores = map_.slope * margins + (map_.offset if classes == 2 else 0.0)
    scores = np.hstack([np.zeros_like(scores), scores]) if classes == 2 else scores
    exact = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, exact, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 5])
def test_margins_that_are_too_small_are_stretched(classes):
    learner = learner_of(classes, learner="fh", k=None, step_size=0.05)
    learner.learn(rows(8000, classes))
    test = rows(4000, classes, seed=9)
    assert learner.calibration["all"].slope > 1.1
    shares = learner.predict_proba(test)
    own = np.argmax(shares, axis=1) == test.labels
    plain = _core.probabilities(learner.predict_margin(test))
    plain = np.hstack([1 - plain, plain]) if classes == 2 else plain

    def loss(p):
        return -np.log(p[np.arange(len(test)), test.labels]).mean()

    assert loss(shares) < loss(plain) - 0.001
    assert abs(shares.max(axis=1).mean() - own.mean()) < abs(plain.max(axis=1).mean() - own.mean())


def test_a_model_without_an_intercept_has_a_map_without_an_offset():
    learner = learner_of(intercept=False)
    data = rows(1000)
    learner.learn(Batch(data.indptr, data.keys, data.values, labels=np.ones(1000)))
    assert learner.calibration["all"].offset == learner.calibration["selected_only"].offset == 0.0


def test_later_passes_do_not_change_the_map():
    learner, data = learner_of(), rows(1000)
    learner.learn(data)
    first = learner.calibration
    learner.finish_pass()
    learner.learn(data)
    assert learner.calibration == first


def test_numbers_have_no_map():
    learner, data = make_learner(k=5, memory="1KiB", loss="squared"), rows(400)
    learner.learn(data)
    assert learner.calibration == {"all": None, "selected_only": None}
    margins = learner.predict_margin(data)
    np.testing.assert_array_equal(learner.calibrated(margins), margins)


def test_a_saved_model_keeps_its_map_and_learns_on_from_it(tmp_path):
    learner, data = learner_of(3), rows(1200, 3)
    learner.learn(data.rows(0, 600))
    learner.save(tmp_path / "a.bear")
    again = load(tmp_path / "a.bear")
    assert again.calibration == learner.calibration
    for one in (learner, again):
        one.learn(data.rows(600, 1200))
    assert again.to_bytes() == learner.to_bytes()


def test_equal_parts_merge_to_the_map_of_a_part():
    """Sums of parts that took turns are those of one stream, up to the prior."""
    parts = [learner_of() for _ in range(3)]
    for part in parts:
        part.learn(rows(1000))
    merged, one = average(parts).calibration["all"], parts[0].calibration["all"]
    assert merged.examples == 3000
    np.testing.assert_allclose(merged[1:], one[1:], atol=0.05)


def test_parts_that_went_on_from_a_start_count_it_once():
    start = learner_of()
    start.learn(rows(600))
    parts = [type(start).from_bytes(start.to_bytes()) for _ in range(2)]
    for seed, part in enumerate(parts):
        part.learn(rows(400, seed=seed + 5))
    assert average(parts, start).calibration["all"].examples == 600 + 2 * 400
    same = [type(start).from_bytes(start.to_bytes()) for _ in range(2)]
    assert average(same, start).calibration == start.calibration


@pytest.mark.parametrize(
    "sums",
    [
        {"examples": -1, "weight": 1.0, "information": [1.0, 0.0, 1.0], "pull": [0.0, 0.0]},
        {"examples": 300, "weight": -1.0, "information": [1.0, 0.0, 1.0], "pull": [0.0, 0.0]},
        {"examples": 300, "weight": 1.0, "information": [1.0, 2.0, 1.0], "pull": [0.0, 0.0]},
        {"examples": 300, "weight": 1.0, "information": [-1.0, 0.0, 1.0], "pull": [0.0, 0.0]},
        {"examples": 300, "weight": 1.0, "information": [1.0, 0.0], "pull": [0.0, 0.0]},
        {"examples": 300, "weight": 1.0, "information": [1.0, 0.0, 1.0], "pull": [float("nan"), 0]},
        {"examples": 300, "weight": 1.0, "information": [1.0, 0.0, 1.0]},
        [],
    ],
)
def test_sums_that_cannot_be_are_refused(sums):
    from bearsketch.learners import state

    learner = learner_of()
    learner.learn(rows(400))
    arrays, record = state.dump(learner)
    record["calibration"]["all"] = sums
    _, fill_in = state.read(arrays, record, "model")
    with pytest.raises(ModelFileError, match="not a usable model"):
        fill_in(learner_of())


def test_probabilities_of_numbers_are_refused():
    learner = make_learner(k=5, memory="1KiB", loss="squared")
    with pytest.raises(ParameterError, match="predict_proba needs a classifier"):
        learner.probabilities(np.zeros((1, 1)))
