"""Selected features: two bytes for a weight, or one for each of several classes."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, ModelFileError, load, make_learner
from bearsketch.learners import state
from bearsketch.learners.average import average

CLASSES = ["a", "b", "c"]


def learned(seed=0, **options):
    rng = np.random.default_rng(seed)
    learner = make_learner(k=20, memory="2KiB", loss="softmax", classes=CLASSES, **options)
    for _ in range(60):
        kinds = rng.integers(0, 3, 20)
        rows = [[f"{CLASSES[kind]}{rng.integers(9)}", f"x{rng.integers(50)}"] for kind in kinds]
        learner.learn(Batch.from_rows(rows, [CLASSES[kind] for kind in kinds]))
    return learner


def test_a_file_holds_a_byte_for_each_weight_and_loses_nothing(tmp_path):
    learner = learned()
    arrays, _ = state.dump(learner)
    assert arrays["selected.0.weights"].dtype == arrays["selected.0.exponents"].dtype == np.int8
    kept = [
        arrays[f"selected.0.{what}"].nbytes for what in ("keys", "weights", "exponents", "levels")
    ]
    assert sum(kept) == learner.sizes.selected_bytes == 20 * (8 + 3 + 1 + 1)
    learner.save(tmp_path / "m.bear")
    again = load(tmp_path / "m.bear")
    np.testing.assert_array_equal(again.selected_weights(), learner.selected_weights())
    assert again.to_bytes() == learner.to_bytes()


def test_what_is_loaded_learns_on_to_the_same_bytes():
    one = learned()
    two = type(one).from_bytes(one.to_bytes())
    batch = Batch.from_rows([["a1", "x3"], ["b2", "x4"], ["c3"]] * 30, CLASSES * 30)
    for learner in (one, two):
        learner.learn(batch)
    assert one.to_bytes() == two.to_bytes()


def test_weights_of_any_size_have_their_bytes():
    learner = learned()
    arrays, plain = state.dump(learner)
    n = len(arrays["selected.0.weights"])
    for exponent in (-127, 0, 40):
        arrays["selected.0.exponents"] = np.full(n, exponent, dtype=np.int8)
        record, fill_in = state.read(arrays, plain, "m")
        again = type(learner)(record.config, record.labels)
        fill_in(again)
        back, _ = state.dump(again)
        for what in ("weights", "exponents"):
            whole = [back[f"selected.0.{what}"], arrays[f"selected.0.{what}"]]
            order = [np.argsort(some["selected.0.keys"]) for some in (back, arrays)]
            shifted = [rows[at] for rows, at in zip(whole, order, strict=True)]
            np.testing.assert_array_equal(*shifted, err_msg=what)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"per_class": True}, "uint16"),
        ({"learner": "awm"}, "float32"),
    ],
)
def test_other_selections_have_their_own_width(options, kind):
    arrays, _ = state.dump(learned(**options))
    assert arrays["selected.0.weights"].dtype == kind


def two_classes(**options):
    rng = np.random.default_rng(2)
    learner = make_learner(k=20, memory="1KiB", **options)
    for _ in range(60):
        labels = rng.integers(0, 2, 20)
        rows = [[f"w{label}{rng.integers(9)}", f"x{rng.integers(50)}"] for label in labels]
        learner.learn(Batch.from_rows(rows, labels))
    return learner


def test_one_weight_has_two_bytes_and_loses_nothing():
    learner = two_classes()
    arrays, plain = state.dump(learner)
    kept = [arrays[f"selected.0.{what}"].nbytes for what in ("keys", "weights", "levels")]
    assert sum(kept) == learner.sizes.selected_bytes == 20 * (8 + 2 + 1)
    again = type(learner).from_bytes(learner.to_bytes())
    np.testing.assert_array_equal(again.selected_weights(), learner.selected_weights())
    batch = Batch.from_rows([["w01", "x3"], ["w12", "x4"]] * 50, [0, 1] * 50)
    for one in (learner, again):
        one.learn(batch)
    assert again.to_bytes() == learner.to_bytes()
    arrays["selected.0.weights"][0] = 0x7F80  # infinity
    record, fill_in = state.read(arrays, plain, "m")
    with pytest.raises(ModelFileError, match="not finite"):
        fill_in(type(learner)(record.config, record.labels))


def test_numbers_keep_floats():
    arrays, _ = state.dump(two_classes(loss="squared"))
    assert arrays["selected.0.weights"].dtype == np.float32


def test_bytes_select_and_predict_what_was_planted():
    batch = Batch.from_rows([[f"{kind}{i}"] for kind in CLASSES for i in range(9)])
    assert list(learned().predict(batch)) == [kind for kind in CLASSES for _ in range(9)]


def test_models_of_several_classes_merge():
    one, two = learned(1), learned(2)
    merged = average([one, two])
    assert merged.config == one.config
    assert len(merged.selected()) == 20
    assert merged.to_bytes() == type(one).from_bytes(merged.to_bytes()).to_bytes()
    batch = Batch.from_rows([[f"{kind}{i}"] for kind in CLASSES for i in range(9)])
    assert list(merged.predict(batch)) == [kind for kind in CLASSES for _ in range(9)]
