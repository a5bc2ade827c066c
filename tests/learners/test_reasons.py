"""Reasons of predictions add up to their margins."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bearsketch import Batch, ParameterError, make_learner
from bearsketch.batch import pack_names
from bearsketch.cli.predict import named_cell, quoted
from bearsketch.scaling import Scaling

WORDS = [f"w{i}" for i in range(30)]


def mails(n, classes=2, seed=0, values=False):
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(n):
        label = int(rng.integers(classes))
        words = {WORDS[i]: 1.0 for i in rng.choice(30, 5, replace=False)}
        words[f"sign{label}"] = float(rng.normal()) if values else 1.0
        rows.append(words)
        labels.append(label)
    return Batch.from_rows(rows, labels)


def trained(classes=2, loss=None, **options):
    loss = loss or ("logistic" if classes == 2 else "softmax")
    named = {} if loss == "squared" else {"classes": list(range(classes))}
    learner = make_learner(loss=loss, **named, **{"k": 8, "memory": "2KiB", **options})
    learner.learn(mails(600, classes))
    return learner


MODELS = {
    "two": trained(),
    "five": trained(5),
    "numbers": trained(3, "squared"),
    "bear": trained(3, learner="bear"),
    "awm": trained(learner="awm"),
    "fh": trained(learner="fh", k=None),
}


def plain_parts(learner, batch, row, selected_only):
    """Margin, constant and all parts of a row, from the weights of its keys."""
    entries = range(int(batch.indptr[row]), int(batch.indptr[row + 1]))
    weights = learner.weights_of(np.array(batch.keys)[list(entries)])
    if selected_only:
        chosen = {f.key for f in learner.selected()}
        weights = weights * [[int(batch.keys[e]) in chosen] for e in entries]
    constant = learner.selected_intercept if selected_only else learner.intercept
    margins = learner.predict_margin(batch, selected_only=selected_only)[row]
    if len(margins) > 1:
        top = int(np.argmax(margins))
        weights = weights[:, [top]] - weights.mean(axis=1, keepdims=True)
        constant = constant[[top]] - constant.mean()
        margins = margins[[top]] - margins.mean()
    parts = weights[:, 0] * np.array(batch.values)[list(entries)]
    names = [batch.names[e].decode() for e in entries]
    return margins[0], constant[0], dict(zip(names, parts, strict=True))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("selected_only", [False, True])
def test_parts_are_weight_times_value_largest_first(model, selected_only):
    learner = MODELS[model]
    if selected_only and learner.config.k == 0:
        with pytest.raises(ParameterError, match="k=0"):
            learner.explain(mails(1), selected_only=True)
        return
    batch = mails(40, seed=4, values=True)
    whys = learner.explain(batch, 3, selected_only=selected_only)
    predicted = learner.predict(batch, selected_only=selected_only)
    for row, why in enumerate(whys):
        margin, constant, parts = plain_parts(learner, batch, row, selected_only)
        assert why.label == predicted[row]
        assert why.margin == pytest.approx(margin, abs=1e-12)
        assert why.intercept == pytest.approx(constant, abs=1e-12)
        given_parts = {part.name: part.part for part in why.parts}
        assert given_parts == pytest.approx({name: parts[name] for name in given_parts})
        sizes = sorted((abs(part) for part in parts.values() if part), reverse=True)
        assert [abs(part.part) for part in why.parts] == pytest.approx(sizes[:3])
        assert why.rest == pytest.approx(sum(parts.values()) - sum(given_parts.values()), abs=1e-9)


def test_reasons_say_whether_they_are_proven():
    learner = MODELS["two"]
    proven = set(learner.proven().names)
    assert {"sign0", "sign1"} <= proven
    for why in learner.explain(mails(20, seed=6)):
        for part in why.parts:
            assert part.proven is (part.name in proven)
    tested = MODELS["fh"].explain(mails(1))[0].parts
    assert [part.proven for part in tested] == [None] * len(tested)


@pytest.mark.parametrize("model", MODELS)
def test_with_every_part_nothing_is_left(model):
    for why in MODELS[model].explain(mails(20, seed=5, values=True), 50):
        assert why.rest == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(MODELS)),
    st.lists(
        st.dictionaries(
            st.sampled_from([*WORDS, "sign0", "sign1", "unknown", 'a "quoted"\tname', "=1", ""]),
            st.floats(-1e9, 1e9, width=32) | st.floats(-(2.0**-20), 2.0**-20, width=32),
            max_size=8,
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(1, 6),
)
def test_printed_parts_add_up_to_the_last_digit(model, rows, n):
    learner, batch = MODELS[model], Batch.from_rows(rows)
    margins, texts = learner.explained(batch, n, named_cell, json=False)
    np.testing.assert_array_equal(margins, learner.predict_margin(batch))
    _, records = learner.explained(batch, n, quoted, json=True)
    for row, (text, record) in enumerate(zip(texts, records, strict=True)):
        _, margin, constant, *cells, rest = text.split("\t")
        assert len(cells) == 2 * n
        parts = [Decimal(part) for part in cells[1::2] if part]
        assert Decimal(margin) == Decimal(constant) + sum(parts) + Decimal(rest)
        exact = (
            margins[row][0] if margins.shape[1] == 1 else max(margins[row]) - margins[row].mean()
        )
        largest = max(abs(Decimal(x)) for x in (margin, constant, *parts))
        assert abs(float(margin) - exact) <= 1e-5 * float(largest) + 1e-15
        plain = json.loads("{" + record.removeprefix(", ") + "}", parse_float=Decimal)
        assert plain["margin"] == Decimal(margin)
        assert [reason["part"] for reason in plain["reasons"]] == parts
        assert {reason["feature"] for reason in plain["reasons"]} <= set(rows[row])


def test_columns_at_mean_zero_count_from_their_mean():
    learner = make_learner(k=4, memory="1KiB", loss="squared")
    steps = [*range(7), *np.random.default_rng(0).integers(0, 7, 203).tolist()]
    rows = [{"price": 300.0 + 10 * i, "rooms": float(i % 3)} for i in steps]
    batch = Batch.from_rows(rows, steps)
    own = {bytes(batch.names[e]): batch.keys[e] for e in range(2)}
    names = sorted(own, key=own.__getitem__)
    keys = np.array([own[name] for name in names])
    means = np.array([330.0 if name == b"price" else 1.0 for name in names])
    sizes = np.array([20.0 if name == b"price" else 1.0 for name in names])
    learner.scaling = Scaling(keys, means, sizes, np.uint8([0, 0]), pack_names(names))
    for _ in range(5):
        learner.learn(batch)
    for i, why in enumerate(learner.explain(batch.rows(0, 7), 2)):
        parts = {part.name: part.part for part in why.parts}
        assert why.margin == pytest.approx(why.intercept + sum(parts.values()), abs=1e-9)
        price = learner.weights_of([own[b"price"]])[0, 0] * (300.0 + 10 * i - 330.0)
        assert parts.get("price", 0.0) == pytest.approx(price, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("naming", "name"), [("id", "27"), ("kmer:4", "ACGT"), ("iupac:2", "AM")])
def test_features_without_names_are_called_by_their_keys(naming, name):
    key = {"id": 27, "kmer:4": 27, "iupac:2": 0x13}[naming]
    batch = Batch([0, 1, 2], [key, key + 1], [1.0, 1.0], labels=[1, 0], naming=naming)
    learner = make_learner(k=2, memory="1KiB")
    for _ in range(20):
        learner.learn(batch)
    assert learner.explain(batch, 1)[0].parts[0].name == name
    assert learner.explained(batch, 1, named_cell, json=False)[1][0].split("\t")[3] == name


@pytest.mark.parametrize("n", [0, -1, 1001, 2.5, True])
def test_a_number_of_reasons_that_is_none_is_refused(n):
    with pytest.raises(ParameterError, match="n must be a whole number from 1 to 1000"):
        MODELS["two"].explain(mails(1), n)


def test_rows_without_features_have_no_reasons():
    why = MODELS["two"].explain(Batch.from_rows([{}]))[0]
    assert why.parts == []
    assert why.margin == why.intercept
