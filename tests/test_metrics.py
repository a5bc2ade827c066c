"""Metrics of a stream equal those of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bearsketch.metrics import ClassScores, NumberScores, Ranking, log_losses


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
