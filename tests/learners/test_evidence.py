"""Evidence about selected features: what learners test, save, merge and list."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bearsketch import Batch, _core, make_learner
from bearsketch.exceptions import ParameterError
from bearsketch.learners.average import average
from bearsketch.learners.learner import Learner

LEARNERS = ("bear+", "bear", "mission", "newton", "awm")


def words(n, *, planted=4, seed=0, shuffled=False, classes=2, numbers=False, share=0.5):
    """Rows of Zipf words of which the planted ones go with the label."""
    rng = np.random.default_rng(seed)
    noise = np.minimum(rng.zipf(1.3, (n, 12)), 2000)
    if numbers:
        y = rng.normal(size=n)
        side = np.where(y > 0, 0, 1)
    else:
        y = (rng.random(n) < share).astype(int) if classes == 2 else rng.integers(0, classes, n)
        side = y
    has = (rng.random((n, planted)) < 0.3) & (np.arange(planted) % max(classes, 2) == side[:, None])
    rows = [
        [*(f"w{w}" for w in dict.fromkeys(row.tolist())), *(f"p{j}" for j in np.flatnonzero(own))]
        for row, own in zip(noise, has, strict=True)
    ]
    return Batch.from_rows(rows, rng.permutation(y) if shuffled else y)


def records_of(learner):
    """Evidence by (heap, key), for comparison."""
    found = {}
    for heap in range(learner._core.groups):
        held = learner._core.evidence_records(heap, False)
        for i, key in enumerate(held["keys"].tolist()):
            found[heap, key] = {name: held[name][i].tolist() for name in held if name != "keys"}
    return found


# The gains, against plain enumeration.


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9), st.floats(-1.5, 1.5))
def test_the_mean_over_labels_is_that_of_all_subsets(b, positive, n, bet):
    positive, n = min(positive, b), min(n, b)
    sums = [sum(i < positive for i in rows) for rows in itertools.combinations(range(b), n)]
    expected = math.log(np.mean(np.exp(bet * np.array(sums, dtype=float))))
    assert _core.log_mean_of_labels(b, positive, n, bet) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), st.integers(0, 9), st.floats(-1.5, 1.5))
def test_the_mean_over_ranks_is_that_of_all_subsets(b, n, bet):
    n = min(n, b)
    sums = np.array([sum(rows) for rows in itertools.combinations(range(b), n)], dtype=float)
    expected = math.log(np.mean(np.exp(bet * (sums - n * (b - 1) / 2))))
    assert _core.log_mean_of_ranks(b, n, bet) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-50, 300).map(lambda n: n / 10), st.sampled_from([0.0, 0.01, 0.1])),
        min_size=1,
        max_size=8,
    )
)
def test_levels_agree_with_the_closure_over_all_sets_of_true_nulls(tests):
    log_e, stakes = (np.array(column) for column in zip(*tests, strict=True))
    bank = 1.0 - float(stakes.sum())
    gains = np.where(stakes > 0, stakes * np.expm1(log_e), 0.0)
    order = [i for i in np.lexsort((-log_e, -gains)) if gains[i] > 0]
    expected = np.ones(len(tests))
    for length in range(1, len(order) + 1):
        listed = order[:length]
        level = 0.0
        for nulls in itertools.product([False, True], repeat=len(tests)):
            chosen = np.array(nulls)
            level = max(level, chosen[listed].sum() / length / (1.0 + gains[chosen].sum()))
        expected[listed] = np.minimum(expected[listed], level)
    found = _core.evidence_levels(log_e, stakes, bank, np.ones(len(tests), np.uint8))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# What learners make of it.


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_planted_words_are_proven_and_shuffled_labels_prove_nothing(name, loss):
    kind = {"logistic": {}, "softmax": {"classes": 4}, "squared": {"numbers": True}}[loss]
    classes = {"classes": 4} if loss == "softmax" else {}
    planted, noise = (words(6000, shuffled=shuffled, **kind) for shuffled in (False, True))
    learner, idle = (
        make_learner(name, loss=loss, k=20, memory="16KiB", **classes) for _ in range(2)
    )
    learner.learn(planted)
    idle.learn(noise)
    found = set(learner.proven(0.1).names)
    assert found
    assert {name for name in found if name.startswith("p")} == found
    if name == "bear+":
        assert found == {"p0", "p1", "p2", "p3"}
    assert not idle.proven(0.1).names


def test_one_heap_per_class_tests_a_feature_for_each_class():
    learner = make_learner(loss="softmax", classes=3, k=10, memory="32KiB", per_class=True)
    learner.learn(words(6000, classes=3, planted=3))
    proven = learner.proven(0.1)
    assert {("p0", 0), ("p1", 1), ("p2", 2)} <= set(zip(proven.names, proven.tested, strict=True))
    assert proven.tested == proven.labels


def test_rare_labels_are_named_more_than_the_weights_alone_would():
    learner = make_learner(k=20, memory="16KiB")
    learner.learn(words(20000, share=0.03))
    assert set(learner.proven(0.1).names) == {"p0", "p1", "p2", "p3"}


def test_odds_ratios_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20000)
    has = rng.random(20000) < np.where(y == 1, 0.4, 0.2)
    learner = make_learner(k=3, memory="2KiB")
    learner.learn(Batch.from_rows([["a", "b"] if x else ["b"] for x in has], y))
    proven = learner.proven(0.1)
    assert proven.names == ["a"]
    odds = 0.4 / 0.6 / (0.2 / 0.8)
    assert proven.odds_ratio[0] == pytest.approx(odds, rel=0.15)
    assert proven.rows[0] == pytest.approx(has.sum(), rel=0.01)


def test_a_column_of_numbers_that_every_row_has_is_proven():
    rng = np.random.default_rng(0)
    n = 4000
    x = rng.normal(size=(n, 5)).astype(np.float32)
    y = (x[:, 2] + rng.normal(size=n) > 0).astype(int)
    indptr = np.arange(0, 5 * n + 1, 5)
    batch = Batch(indptr, np.tile(np.arange(5, dtype=np.uint64), n), x.ravel(), labels=y)
    learner = make_learner(k=5, memory="2KiB")
    learner.learn(batch)
    assert learner.proven(0.1).names == ["2"]


# The same bytes, and the same evidence.


@pytest.mark.parametrize("kind", [{}, {"classes": 3}, {"numbers": True}])
def test_a_saved_learner_goes_on_with_the_same_evidence_at_every_minibatch(kind):
    loss = "squared" if "numbers" in kind else "softmax" if kind else "logistic"
    batch = words(600, **kind)
    classes = {"classes": 3} if "classes" in kind else {}
    whole, parts = (make_learner(loss=loss, k=8, memory="2KiB", **classes) for _ in range(2))
    for start in range(0, 600, 20):
        whole.learn(batch.rows(start, start + 20))
        parts.learn(batch.rows(start, start + 20))
        parts = Learner.from_bytes(parts.to_bytes())
        assert parts.to_bytes() == whole.to_bytes()
    assert whole.evidence.tests > 0


def test_without_evidence_nothing_else_changes():
    batch = words(2000)
    with_it, without = (make_learner(k=8, memory="2KiB", evidence=on) for on in (True, False))
    one, other = with_it.learn(batch), without.learn(batch)
    assert np.array_equal(one.margins, other.margins)
    assert with_it.selected().names == without.selected().names
    assert without.evidence is None
    assert np.isnan(without.selected().fdr).all()
    with pytest.raises(ParameterError, match="no evidence"):
        without.proven()


def test_a_second_pass_changes_no_evidence_and_what_enters_then_is_not_tested():
    batch = words(1000)
    learner = make_learner(k=30, memory="2KiB")
    learner.learn(batch)
    before, names = records_of(learner), set(learner.selected().names)
    learner.finish_pass()
    assert not learner.evidence.frozen
    learner.learn(words(1000, seed=5))
    assert learner.evidence.frozen
    after = records_of(learner)
    stayed = [key for key in after if after[key]["since"] < 1000]
    assert stayed
    assert all(after[key] == before[key] for key in stayed)
    new = [i for i, name in enumerate(learner.selected().names) if name not in names]
    assert new
    assert np.isnan(learner.selected().fdr[new]).all()
    assert learner.evidence.rows == 1000
    learner.expect_new_rows()
    learner.learn(words(1000, seed=6))
    assert learner.evidence.rows == 2000


def test_rows_of_weight_0_are_no_evidence():
    batch = words(1000)
    weights = np.zeros(1000)
    learner = make_learner(k=8, memory="2KiB")
    learner.learn(Batch.from_rows([["a"], ["b"]] * 10, [1, 0] * 10))
    before = records_of(learner)
    silent = Batch(
        batch.indptr,
        batch.keys,
        batch.values,
        labels=batch.labels,
        weights=weights,
        names=batch.names,
        naming="name",
        seed=0,
    )
    learner.learn(silent)
    after = records_of(learner)
    assert all(after[key] == before[key] for key in after.keys() & before.keys())
    assert learner.evidence.rows == 20


# Merging.


def test_composed_evidence_is_that_of_both_and_noise_proves_nothing():
    parts = []
    for seed in range(3):
        learner = make_learner(k=20, memory="16KiB")
        learner.learn(words(3000, seed=seed))
        parts.append(learner)
    alone = dict(zip(parts[0].selected().names, parts[0].selected().log10_e, strict=True))
    other = dict(zip(parts[1].selected().names, parts[1].selected().log10_e, strict=True))
    both = average(parts[:2])
    found = dict(zip(both.selected().names, both.selected().log10_e, strict=True))
    for name in ("p0", "p1", "p2", "p3"):
        assert found[name] == pytest.approx(alone[name] + other[name])
    assert set(average(parts).proven(0.1).names) == {"p0", "p1", "p2", "p3"}
    idle = []
    for seed in range(8):
        learner = make_learner(k=20, memory="16KiB")
        learner.learn(words(1000, seed=seed, shuffled=True))
        idle.append(learner)
    assert not average(idle).proven(0.5).names


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=4, unique=True))
def test_no_set_of_composed_tests_is_worth_less_than_nothing(seeds):
    parts = []
    for seed in seeds:
        learner = make_learner(k=6, memory="1KiB")
        learner.learn(words(200, seed=seed, planted=2))
        parts.append(learner)
    merged = average(parts)
    state, held = merged._core.evidence_state(), merged._core.evidence_records(0, False)
    bank, stakes = float(state["numbers"][0]), held["stake"].astype(float)
    gains = stakes * np.expm1(held["log_e"])
    assert bank > 0.0
    assert bank + stakes.sum() <= 1.0 + 1e-6
    assert bank + stakes.sum() + np.minimum(gains, 0.0).sum() > 0.0


@pytest.mark.parametrize("shuffled", [False, True])
def test_rounds_of_parts_share_their_tests(shuffled):
    batch = words(12000, shuffled=shuffled)
    learner = make_learner(k=20, memory="16KiB")
    for round_ in range(10):
        parts = []
        for part in range(4):
            own = Learner.from_bytes(learner.to_bytes())
            own.share(part)
            start = 1200 * round_ + 300 * part
            own.learn(batch.rows(start, start + 300))
            parts.append(Learner.from_bytes(own.to_bytes()))
        learner = average(parts, learner)
    assert learner.evidence.rows == 12000
    assert learner.evidence.tests > 0
    found = set(learner.proven(0.1).names)
    assert found == (set() if shuffled else {"p0", "p1", "p2", "p3"})
    state, held = learner._core.evidence_state(), learner._core.evidence_records(0, False)
    assert 0.0 < state["numbers"][0] + held["stake"].astype(float).sum() <= 1.0 + 1e-6
    once = make_learner(k=20, memory="16KiB")
    once.learn(batch)
    if not shuffled:  # nothing is lost but what is not tested in the first round
        rounds = dict(zip(learner.selected().names, learner.selected().log10_e, strict=True))
        whole = dict(zip(once.selected().names, once.selected().log10_e, strict=True))
        assert all(rounds[f"p{j}"] > 0.7 * whole[f"p{j}"] for j in range(4))


# Lists.


def test_lists_grow_with_the_level_and_subsets_may_be_chosen_after_looking():
    learner = make_learner(k=20, memory="16KiB")
    learner.learn(words(6000))
    selected = learner.selected()
    lists = [learner.proven(fdr).names for fdr in (1e-6, 0.01, 0.1, 0.5)]
    assert [len(one) for one in lists] == sorted(len(one) for one in lists)
    assert set(learner.proven(0.1, "p[01]").names) == {"p0", "p1"}
    assert set(learner.proven(0.1, ["p0", "w1"]).names) == {"p0"}
    assert set(learner.proven(0.1, np.array([n == "p2" for n in selected.names])).names) == {"p2"}
    assert (np.diff(learner.proven(0.1).fdr) >= 0).all()
    alone = learner.proven(0.5, "p0")
    assert alone.fdr[0] <= selected.fdr[selected.names.index("p0")]


@pytest.mark.parametrize("fdr", [0, 1, 2, -0.1, float("nan"), True, "0.1", None])
def test_a_level_is_a_share(fdr):
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        make_learner(k=2, memory="1KiB").proven(fdr)


def test_copies_of_a_feature_are_one_line_and_others_stay_apart():
    rng = np.random.default_rng(1)
    n = 8000
    y = rng.integers(0, 2, n)
    noise = rng.integers(0, 300, (n, 5))
    one, two = (rng.random(n) < np.where(y == side, 0.2, 0.05) for side in (0, 1))
    rows = [
        [
            *{f"w{w}" for w in noise[i]},
            *(["a", "b", "c"] if one[i] else []),
            *(["z"] if two[i] else []),
        ]
        for i in range(n)
    ]
    learner = make_learner(k=20, memory="16KiB")
    learner.learn(Batch.from_rows(rows, y))
    names, lines = learner.proven(0.1), learner.proven(0.1, lines=True)
    assert set(names.names) == {"a", "b", "c", "z"}
    assert sorted(sorted(line) for line in lines.members) == [["a", "b", "c"], ["z"]]
    assert [line[0] for line in lines.members] == lines.names


def test_warnings_of_copied_and_sorted_rows():
    batch = words(1000)
    learner = make_learner(k=8, memory="2KiB")
    learner.learn(batch)
    assert learner.evidence.warnings() == []
    learner.learn(batch)
    assert [code for code, _ in learner.evidence.warnings()] == ["EVIDENCE-COPIES"]
    assert learner.evidence.repeated_rows == pytest.approx(0.5, abs=0.1)
    with pytest.warns(UserWarning, match="If they are copies"):
        learner.proven(0.1)
    few = make_learner(k=2, memory="1KiB")
    few.learn(Batch.from_rows([["a"], ["b"]] * 500, [1, 0] * 500))
    assert "EVIDENCE-COPIES" not in [code for code, _ in few.evidence.warnings()]
    order = np.argsort(batch.labels, kind="stable")
    rows = [[f"w{i}"] for i in range(1000)]
    learner = make_learner(k=8, memory="2KiB", batch_size=20)
    learner.learn(Batch.from_rows(rows, batch.labels[order]))
    assert "EVIDENCE-SORTED" in [code for code, _ in learner.evidence.warnings()]
    learner = make_learner(k=8, memory="2KiB", batch_size=1)
    learner.learn(batch)
    assert [code for code, _ in learner.evidence.warnings()] == ["EVIDENCE-BATCH"]


def test_strata_adjust_for_a_confounder():
    rng = np.random.default_rng(0)
    n = 8000
    site = rng.integers(0, 2, n)
    y = (rng.random(n) < np.where(site == 1, 0.8, 0.2)).astype(int)
    marker = rng.random(n) < np.where(site == 1, 0.6, 0.1)
    cause = rng.random(n) < np.where(y == 1, 0.4, 0.2)
    rows = [
        [name for name, has in (("marker", marker[i]), ("cause", cause[i])) if has] + [f"w{i}"]
        for i in range(n)
    ]
    plain, adjusted = (make_learner(k=10, memory="4KiB") for _ in range(2))
    batch = Batch.from_rows(rows, y)
    plain.learn(batch)
    assert set(plain.proven(0.1).names) == {"marker", "cause"}
    adjusted.learn(replace(batch, strata=site.astype(np.uint64)))
    assert set(adjusted.proven(0.1).names) == {"cause"}
    assert "marker" in adjusted.selected().names
