"""Several passes over noisy labels: no worse than one, as examples seen before teach no boldness."""

from __future__ import annotations

import numpy as np

from bearsketch import Batch, make_learner

FIELDS, VALUES = 10, 400


def clicks(n: int, seed: int) -> Batch:
    """Rows of one value a field, a third of them clicked for little reason."""
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, VALUES + 1)
    values = rng.choice(VALUES, size=(n, FIELDS), p=often / often.sum())
    weights = np.random.default_rng(7).normal(0, 0.4, (FIELDS, VALUES)) * (np.arange(VALUES) < 20)
    margins = weights[np.arange(FIELDS), values].sum(axis=1) - 0.8
    labels = np.where(rng.random(n) < 1 / (1 + np.exp(-margins)), 1.0, -1.0)
    keys = (np.arange(FIELDS) * VALUES + values).astype(np.uint64)
    return Batch(np.arange(n + 1) * FIELDS, keys.ravel(), np.ones(keys.size), labels)


def loss_after(passes: int, *, selected_only: bool, told: bool = True) -> float:
    """Test loss; told: the learner knows where passes end."""
    train, test = clicks(8000, seed=1), clicks(4000, seed=2)
    learner = make_learner("bear+", memory="8KiB", k=100)
    for _ in range(passes):
        learner.learn(train)
        if told:
            learner.finish_pass()
    margins = learner.predict_margin(test, selected_only=selected_only).ravel()
    return float(np.mean(np.logaddexp(0.0, -test.labels * margins)))


def test_noise_is_not_learned_from_pass_to_pass():
    for selected_only in (False, True):
        once = loss_after(1, selected_only=selected_only)
        for passes in (2, 4, 12):
            assert loss_after(passes, selected_only=selected_only) < once + 0.006
        # It would be, if examples that were learned before were taken for new ones.
        assert loss_after(12, selected_only=selected_only, told=False) > once + 0.02
