"""Averaging any number of learners at once."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, make_learner
from bearsketch.exceptions import IncompatibleError
from bearsketch.learners.average import average


def batch(n, seed, features=200):
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.permuted(np.tile(np.arange(features), (n, 1)), axis=1)[:, :6], axis=1)
    labels = np.where((keys < 20).sum(axis=1) > 0, 1, -1)
    return Batch(np.arange(0, 6 * n + 1, 6), keys.ravel(), np.ones(6 * n), labels=labels)


def trained(sizes, *, start=None, **options):
    options = {"k": 10, "memory": "2KiB", **options}
    parts = []
    for seed, n in enumerate(sizes):
        part = (
            make_learner(**options) if start is None else type(start).from_bytes(start.to_bytes())
        )
        part.learn(batch(n, seed))
        parts.append(part)
    return parts


WIDE = {"width": 1 << 14, "memory": None}


@pytest.mark.parametrize("learner", ["bear", "mission", "awm", "fh"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_weights_are_the_mean_by_examples(learner, loss):
    k = {} if learner == "fh" else {"k": 10}
    sizes = (100, 300, 40)
    options = {"k": None, **WIDE, **k, "precision": "float64", "loss": loss}
    parts = trained(sizes, learner=learner, **options)
    merged = average(parts)
    keys = np.arange(200)
    wanted = sum(n / 440 * part.weights_of(keys) for n, part in zip(sizes, parts, strict=True))
    # Exact weights are float32 when they are put back, unless cells are double.
    np.testing.assert_allclose(merged.weights_of(keys), wanted, atol=1e-12)
    np.testing.assert_allclose(
        merged.intercept, sum(n / 440 * p.intercept for n, p in zip(sizes, parts, strict=True))
    )
    assert merged.counters == {"examples": 440, "batches": 22, "passes": 0}


def of_three_classes(n, seed):
    data = batch(n, seed)
    labels = np.minimum(data.keys.reshape(-1, 6)[:, 0] // 20, 2)
    return Batch(data.indptr, data.keys, data.values, labels=labels)


def softmax_parts(learner, sizes, **options):
    options = {"k": 5, "width": 4096, "depth": 3, "precision": "float64", **options}
    parts = [make_learner(learner, loss="softmax", classes=3, **options) for _ in sizes]
    for seed, (part, n) in enumerate(zip(parts, sizes, strict=True)):
        part.learn(of_three_classes(n, seed))
    return parts


# One for each storage that has a selection.
SELECTING = ["awm", "mission"]


@pytest.mark.parametrize("learner", SELECTING)
@pytest.mark.parametrize("per_class", [False, True])
def test_without_collisions_every_weight_is_the_mean_selected_or_not(learner, per_class):
    parts = softmax_parts(learner, (100, 300), width=1 << 15, per_class=per_class)
    merged = average(parts)
    keys = np.arange(200)
    wanted = 0.25 * parts[0].weights_of(keys) + 0.75 * parts[1].weights_of(keys)
    np.testing.assert_allclose(merged.weights_of(keys), wanted, atol=1e-12)
    wanted = 0.25 * parts[0].intercept + 0.75 * parts[1].intercept
    np.testing.assert_allclose(merged.intercept, wanted)


@pytest.mark.parametrize("learner", SELECTING)
def test_selection_is_the_largest_of_the_union(learner):
    parts = softmax_parts(learner, (200, 200, 200))
    merged = average(parts)
    union = np.unique(np.concatenate([part.selected().keys for part in parts]))
    assert len(union) > 5
    norms = np.linalg.norm(merged.weights_of(union), axis=1)
    assert merged.selected().keys.tolist() == union[np.argsort(-norms)][:5].tolist()


@pytest.mark.parametrize("learner", SELECTING)
@pytest.mark.parametrize("width", [7, 4096])
def test_the_order_of_two_does_not_matter_collisions_or_not(learner, width):
    a, b = softmax_parts(learner, (200, 200), width=width)
    one, two = average([a, b]), average([b, a])
    assert one.selected().keys.tolist() == two.selected().keys.tolist()
    keys = np.arange(200)
    np.testing.assert_allclose(one.weights_of(keys), two.weights_of(keys), atol=1e-12)


@pytest.mark.parametrize("learner", SELECTING)
def test_learning_goes_on_after_it(learner):
    parts = softmax_parts(learner, (200, 200), width=16)
    merged = average(parts)
    for seed in range(5):
        merged.learn(of_three_classes(40, seed))
    assert np.isfinite(merged.weights_of(np.arange(200))).all()
    assert merged.counters["examples"] == 600


def test_passes_are_the_most_of_any_part():
    parts = trained((100, 100))
    parts[0]._core.finish_pass()
    assert average(parts).counters["passes"] == 1


@pytest.mark.parametrize("intercept", [False, True])
def test_a_move_keeps_its_length(intercept):
    options = {
        "learner": "mission",
        "query": "mean",
        "reads": "storage",
        "depth": 1,
        **WIDE,
        "precision": "float64",
        "intercept": intercept,
    }
    start = trained((100,), **options)[0]
    parts = trained((200, 200, 200, 200), start=start, **options)
    merged = average(parts, start)
    keys = np.arange(200)

    def squares(weights):
        return float(((weights - start.weights_of(keys)) ** 2).sum())

    moved = [part.weights_of(keys) for part in parts]
    mean, plain = np.mean([squares(one) for one in moved]), squares(np.mean(moved, axis=0))
    assert plain < mean
    assert squares(merged.weights_of(keys)) == pytest.approx(mean, rel=0.02)
    assert merged.counters["examples"] == 900


def test_rows_with_much_in_common_do_not_overshoot_from_round_to_round():
    rng = np.random.default_rng(1)

    def rows(n):
        common, telling = rng.random((n, 50)) < 0.95, rng.random((n, 4)) < 0.2
        kept = np.hstack([common, telling])
        words = rng.integers(100, 5000, (n, 3))
        keys = [[*np.flatnonzero(kept[i]), *sorted(set(words[i].tolist()))] for i in range(n)]
        labels = telling @ [2, -2, 1.5, -1] + rng.logistic(size=n) > -0.2
        indptr = np.cumsum([0, *map(len, keys)])
        flat = np.concatenate(keys).astype(np.uint64)
        return Batch(indptr, flat, np.ones(len(flat), np.float32), labels=np.where(labels, 1, -1))

    test = rows(1000)
    learner = make_learner(memory="64KiB", k=50)
    leaps = []
    for _ in range(8):
        parts = [type(learner).from_bytes(learner.to_bytes()) for _ in range(4)]
        for part in parts:
            part.learn(rows(500))
        learner = average(parts, learner)
        offsets = [part.predict_margin(test).mean() for part in parts]
        leaps.append(abs(learner.predict_margin(test).mean() - np.mean(offsets)))
    assert np.mean(leaps) < 0.1


def test_parts_that_agree_are_not_stretched():
    start = trained((100,), learner="awm", **WIDE, precision="float64")[0]
    one = trained((200,), start=start)[0]
    same = type(one).from_bytes(one.to_bytes())
    merged = average([one, same], start)
    keys = np.arange(200)
    np.testing.assert_allclose(merged.weights_of(keys), one.weights_of(keys), atol=1e-12)


def test_the_same_parts_give_the_same_bytes_and_are_left_alone():
    parts = trained((100, 200, 300))
    before = [part.to_bytes() for part in parts]
    assert average(parts).to_bytes() == average(parts).to_bytes()
    assert [part.to_bytes() for part in parts] == before


def test_one_byte_cells_are_rounded_without_bias():
    parts = trained((400, 400, 400), k=5, memory="4KiB")
    assert parts[0].config.precision == "int8"
    # Of one model with itself since it began, whatever weighs how much, comes the same.
    merged = average([parts[0], type(parts[0]).from_bytes(parts[0].to_bytes())], parts[0])
    keys = np.setdiff1d(np.arange(200), parts[0].selected().keys)
    mean = parts[0].weights_of(keys)
    errors = merged.weights_of(keys) - mean
    quantum = merged._core.state(False)["cells"][0]
    sizes = np.abs(mean) / quantum
    spacing = np.select([sizes < 32, sizes < 64], [1, 2], 4)  # of the numbers that cells hold
    assert (np.abs(errors) <= spacing * quantum).all()
    assert abs(errors.mean()) < 0.15 * quantum


def test_names_are_those_of_whichever_part_knows():
    parts = [make_learner(k=4, memory="4KiB") for _ in range(2)]
    parts[0].learn(Batch.from_rows([["a"], ["b"]] * 10, [1, -1] * 10))
    parts[1].learn(Batch.from_rows([["c"], ["b"]] * 10, [1, -1] * 10))
    assert sorted(average(parts).selected().names) == ["a", "b", "c"]


def test_per_class_selections_merge(tmp_path):
    options = {"loss": "softmax", "classes": 3, "per_class": True, "k": 3, "memory": "4KiB"}
    parts = [make_learner(**options) for _ in range(3)]
    for seed, part in enumerate(parts):
        part.learn(of_three_classes(300, seed))
    merged = average(parts)
    assert merged._core.groups == 3
    assert [len(merged._core.selected(g)["keys"]) for g in range(3)] == [3, 3, 3]


def test_strangers_are_refused():
    with pytest.raises(IncompatibleError, match="seed is 0 here and 1 there"):
        average([make_learner(k=2, memory="1KiB"), make_learner(k=2, memory="1KiB", seed=1)])


def test_parts_of_bear_plus_that_learned_the_same_move_no_further_than_each():
    """Rare features that come together move for one reason: as posteriors they would move twice."""
    start = make_learner(k=40, width=1 << 14)
    start.learn(batch(400, 9))
    part = type(start).from_bytes(start.to_bytes())
    keys = np.arange(1000, 1400)
    part.learn(Batch(np.arange(0, 401, 20), keys, np.ones(400), labels=[1, -1] * 10))
    merged = average([part, type(part).from_bytes(part.to_bytes())], start)
    before, own, whole = (one.weights_of(keys)[:, 0] for one in (start, part, merged))
    assert np.linalg.norm(own - before) > 0.0
    assert np.linalg.norm(whole - before) == pytest.approx(np.linalg.norm(own - before), rel=0.1)


def test_parts_of_bear_plus_are_multiplied_over_one_prior():
    """What a feature met by one part alone is worth stays; of one that all know it is a mean."""
    start = make_learner(k=40, width=1 << 14)
    start.learn(batch(400, 9))
    parts = trained((400, 400), start=start)
    parts[0].learn(Batch([0, 1], [5000], [1.0], labels=[1]))
    merged = average(parts, start)
    alone = parts[0].weights_of([5000])[0, 0]
    assert alone > 0.0
    assert merged.weights_of([5000])[0, 0] == pytest.approx(alone, rel=0.2)
    keys = np.arange(20)
    own = [part.weights_of(keys)[:, 0] for part in parts]
    between = merged.weights_of(keys)[:, 0]
    mean, gap = np.mean(own, axis=0), np.abs(own[0] - own[1])
    assert np.mean(np.abs(between - mean)) < np.mean(gap) + 0.1
    records = [part._core.state(False)["update.rows"][0] for part in (start, *parts, merged)]
    assert records[3] == records[1] + records[2] - records[0]
