"""Metrics of a stream equal those of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bearsketch.metrics import ClassScores, NumberScores, Ranking, Reliability, log_losses


def exact_auc(scores, positive, weights):
    above = scores[positive][:, None] - scores[~positive][None, :]
    share = (above > 0) + 0.5 * (above == 0)
    pairs = weights[positive][:, None] * weights[~positive][None, :]
    return float((share * pairs).sum() / pairs.sum())


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("positives", [0.5, 0.01])
def test_auc_is_close_to_the_exact_one_at_any_scale(scale, positives):
    rng = np.random.default_rng(0)
    positive = rng.random(5000) < positives
    scores = scale * (rng.normal(size=5000) - 3 + 1.5 * positive)
    weights = rng.random(5000)
    ranking = Ranking()
    for part in np.array_split(np.arange(5000), 7):
        ranking.add(scores[part], positive[part], weights[part])
    exact = exact_auc(scores, positive, weights)
    assert ranking.auc == pytest.approx(exact, abs=5e-4)
    assert abs(ranking.auc - exact) <= ranking.error


def test_parts_of_a_ranking_join_to_the_whole():
    rng = np.random.default_rng(0)
    scores, positive, weights = rng.normal(size=90), rng.random(90) < 0.5, rng.integers(1, 9, 90)
    whole, joined = Ranking(), Ranking()
    whole.add(scores, positive, weights)
    assert joined.to_bytes() == b""
    joined.join(b"")
    assert joined.auc is None
    for rows in np.array_split(np.arange(90), 4):
        part = Ranking()
        part.add(scores[rows], positive[rows], weights[rows])
        joined.join(part.to_bytes())
    assert joined.auc == whole.auc
    assert joined.to_bytes() == whole.to_bytes()
    with pytest.raises(ValueError, match="bins below"):
        joined.join(np.full(2, 2.0**62).tobytes())


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=40))
def test_auc_of_ties_is_exact(pairs):
    scores = np.array([score for score, _ in pairs], dtype=float)
    positive = np.array([side for _, side in pairs])
    ranking = Ranking()
    ranking.add(scores, positive)
    if positive.all() or not positive.any():
        assert ranking.auc is None
    else:
        assert ranking.auc == pytest.approx(exact_auc(scores, positive, np.ones(len(scores))))


def test_order_of_bins_holds_for_infinite_and_signed_zero():
    ranking = Ranking()
    ranking.add(np.array([-np.inf, -1e300, -0.0, 0.0, 1e300, np.inf]), np.array([0, 0, 0, 1, 1, 1]))
    assert ranking.auc == pytest.approx(1 - 0.5 / 9)  # -0 and 0 tie


def test_log_loss_does_not_overflow_and_classes_agree():
    margins = np.array([[800.0], [-800.0], [0.3]])
    numbers = np.array([1, 1, 0])
    two = np.hstack([np.zeros((3, 1)), margins])
    assert log_losses(numbers, two) == pytest.approx([0.0, 800.0, np.log1p(np.exp(0.3))])
    for weights in (None, np.array([0.5, 2.0, 3.0])):
        both = [ClassScores(2), ClassScores(2)]
        for scores, part in zip(both, (margins, two), strict=True):
            scores.add(numbers, part, weights)
        assert both[0].log_loss == pytest.approx(both[1].log_loss)
        assert both[0].accuracy == pytest.approx(both[1].accuracy)
        assert both[0].weight == both[1].weight


def test_scores_of_another_length_are_refused():
    with pytest.raises(ValueError, match="for each example"):
        Ranking().add(np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="for each example"):
        Ranking().add(np.zeros(3), np.zeros(3), np.ones(4))


def test_scores_in_parts_equal_scores_of_the_whole():
    rng = np.random.default_rng(1)
    numbers, margins = rng.integers(0, 4, 300), rng.normal(size=(300, 4))
    weights = rng.random(300)
    whole, parts = ClassScores(4, confusion=True), ClassScores(4, confusion=True)
    whole.add(numbers, margins, weights)
    for part in np.array_split(np.arange(300), 11):
        parts.add(numbers[part], margins[part], weights[part])
    assert parts.to_json()["log_loss"] == pytest.approx(whole.to_json()["log_loss"])
    assert np.allclose(parts.confusion, whole.confusion)
    assert whole.accuracy == pytest.approx(np.trace(whole.confusion) / whole.confusion.sum())
    assert whole.auc is None


def test_skew_is_told():
    scores = ClassScores(2)
    scores.add(np.array([0] * 95 + [1] * 5), np.zeros((100, 1)))
    assert scores.skewed
    scores.add(np.ones(50, dtype=int), np.zeros((50, 1)))
    assert not scores.skewed


def test_r2_survives_a_large_offset_and_many_parts():
    rng = np.random.default_rng(2)
    targets = 1e8 + rng.normal(size=1000)
    predicted = targets + 0.5 * rng.normal(size=1000)
    scores = NumberScores()
    for part in np.array_split(np.arange(1000), 9):
        scores.add(targets[part], predicted[part][:, None])
    left = ((targets - predicted) ** 2).sum()
    assert scores.rmse == pytest.approx(np.sqrt(left / 1000))
    assert scores.r2 == pytest.approx(1 - left / ((targets - targets.mean()) ** 2).sum(), abs=1e-6)


def test_nothing_seen_gives_nothing():
    assert ClassScores(2).to_json() == {"accuracy": None, "auc": None, "log_loss": None}
    assert NumberScores().to_json() == {"rmse": None, "r2": None}


def exact_error(p, happened, bins):
    """Calibration error over bins of an equal number of examples."""
    order = np.argsort(p, kind="stable")
    misses = (happened - p)[order]
    return sum(abs(part.sum()) for part in np.array_split(misses, bins)) / len(p)


@pytest.mark.parametrize("rate", [0.5, 0.02])
@pytest.mark.parametrize("slope", [1.0, 0.5, 3.0])
def test_the_calibration_error_is_close_to_that_of_exact_bins(rate, slope):
    rng = np.random.default_rng(0)
    truth = np.log(rate / (1 - rate)) + 1.5 * rng.normal(size=20000)
    happened = rng.random(20000) < 1 / (1 + np.exp(-truth))
    p = 1 / (1 + np.exp(-slope * truth))
    reliability = Reliability()
    for part in np.array_split(np.arange(20000), 7):
        reliability.add(p[part], happened[part])
    assert reliability.error == pytest.approx(exact_error(p, happened, 15), abs=2e-3)
    drawn = [exact_error(p, rng.random(20000) < p, 15) for _ in range(50)]
    assert reliability.chance == pytest.approx(np.mean(drawn), rel=0.1)
    if slope == 1.0:
        assert reliability.error < 2 * reliability.chance
    else:
        assert reliability.error > 2 * reliability.chance


def test_probabilities_of_a_stream_are_measured_as_those_of_the_whole():
    rng = np.random.default_rng(3)
    margins, numbers = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    weights = rng.integers(0, 3, 500).astype(float)
    whole, parts = (ClassScores(3, probabilities=True) for _ in range(2))
    whole.add(numbers, margins, weights)
    for part in np.array_split(np.arange(500), 9):
        parts.add(numbers[part], margins[part], weights[part])
    p = np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True)
    wanted = weights @ ((p - np.eye(3)[numbers]) ** 2).sum(axis=1) / weights.sum()
    assert whole.brier == pytest.approx(wanted)
    assert parts.brier == pytest.approx(wanted)
    assert parts.reliability.error == pytest.approx(whole.reliability.error)
    assert parts.reliability.chance == pytest.approx(whole.reliability.chance)
    # A weight of 2 is two examples alike, except that by chance these differ from each other.
    twice = ClassScores(3, probabilities=True)
    rows = np.repeat(np.arange(500), weights.astype(int))
    twice.add(numbers[rows], margins[rows])
    assert twice.reliability.error == pytest.approx(whole.reliability.error)
    assert twice.reliability.chance < whole.reliability.chance


def test_the_brier_score_of_two_classes_is_that_of_the_second():
    scores = ClassScores(2, probabilities=True)
    scores.add(np.array([0, 1]), np.log([[1 / 3], [4.0]]))
    assert scores.brier == pytest.approx((0.25**2 + 0.2**2) / 2)
    assert ClassScores(2, probabilities=True).brier is None
    assert ClassScores(2).brier is None


@pytest.mark.parametrize("classes", [2, 4])
def test_accuracy_of_the_surest_is_that_of_exact_thresholds(classes):
    rng = np.random.default_rng(5)
    margins = rng.normal(size=(4000, 1 if classes == 2 else classes), scale=2.0)
    logits = np.hstack([np.zeros((4000, 1)), margins]) if classes == 2 else margins
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    numbers = np.array([rng.choice(classes, p=row) for row in p])
    scores = ClassScores(classes, probabilities=True)
    scores.add(numbers, margins)
    top, right = p.max(axis=1), np.argmax(p, axis=1) == numbers
    rows = scores.reliability.answered(two_sided=classes == 2)
    assert rows[0].share == 1.0
    assert rows[0].accuracy == pytest.approx(right.mean())
    assert rows[0].min_proba <= top.min()
    assert len(rows) == 20
    for row in rows:
        given = top >= row.min_proba
        assert row.share == pytest.approx(given.mean(), abs=1e-9)
        assert row.accuracy == pytest.approx(right[given].mean())
    assert rows[-1].share == pytest.approx(0.05, abs=0.01)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60), st.integers(0, 2**32 - 1))
def test_a_reliability_curve_holds_all_that_was_entered(given_p, seed):
    p = np.array(given_p)
    happened = np.random.default_rng(seed).random(len(p)) < p
    reliability = Reliability()
    reliability.add(p, happened)
    curve = reliability.curve()
    assert sum(row.examples for row in curve) == len(p)
    assert sum(row.share * row.examples for row in curve) == pytest.approx(happened.sum())
    assert sum(row.probability * row.examples for row in curve) == pytest.approx(p.sum())
    assert [row.probability for row in curve] == sorted(row.probability for row in curve)
    for row in curve:
        assert 0.0 <= row.low <= row.share + 1e-12
        assert row.share - 1e-12 <= row.high <= 1.0
    for two_sided in (False, True):
        rows = reliability.answered(two_sided=two_sided)
        assert [row.share for row in rows] == sorted((row.share for row in rows), reverse=True)


def test_without_examples_nothing_is_said_of_probabilities():
    reliability = Reliability()
    assert (reliability.error, reliability.chance) == (None, None)
    assert reliability.curve() == reliability.answered(two_sided=True) == []


def test_the_interval_of_a_share_holds_it_95_times_of_100():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        reliability = Reliability()
        reliability.add(np.full(200, 0.3), rng.random(200) < 0.3)
        (row,) = reliability.curve()
        held += row.low <= 0.3 <= row.high
    assert 0.92 <= held / 400 <= 0.98
