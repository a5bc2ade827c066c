import numpy as np
import pytest

from bearsketch import Batch
from bearsketch.exceptions import LimitError, ParameterError
from experiments.plans import simulate
from experiments.simulation import (
    Setting,
    Trial,
    make,
    make_data,
    run_trial,
    summarise,
)

SMALL = {"p": 80, "n": 400, "k": 3, "passes": 25}


def test_data_follow_the_paper():
    data = make_data(Setting(), seed=3)
    assert data.X.shape == (900, 1000)
    assert abs(float(data.X.mean())) < 0.01
    assert abs(float(data.X.std()) - 1) < 0.01
    assert len(data.support) == 8
    assert np.array_equal(np.flatnonzero(data.weights), data.support)
    chosen = data.weights[data.support]
    assert np.all((chosen >= 0.8) & (chosen <= 1.2))
    np.testing.assert_allclose(data.y, data.X.astype(np.float64) @ data.weights, atol=1e-12)


def test_noise_is_added_to_the_labels_only():
    plain, noisy = make_data(Setting(), 5), make_data(Setting(noise=0.5), 5)
    assert np.array_equal(plain.X, noisy.X)
    assert 0.45 < float((noisy.y - plain.y).std()) < 0.55


@pytest.mark.parametrize(
    ("learner", "compression", "width"),
    [("bear", 3.0, 111), ("bear", 1000 / 450, 150), ("bear", 6.0, 56)],
)
def test_width_is_what_the_budget_leaves(learner, compression, width):
    assert Setting(learner, compression=compression).width == width


def test_bear_plus_has_the_bytes_of_as_many_floats():
    for compression in (3.0, 6.0):
        budget = 4 * 1000 / compression
        assert (
            budget - 4
            < make(Setting(compression=compression), 0).config.sizes.model_bytes
            <= budget
        )


def test_all_learners_of_a_seed_and_width_share_their_hashes():
    keys = np.arange(50, dtype=np.uint64)
    seen = []
    for name in ("bear", "mission", "newton"):
        setting = Setting(name, **{**SMALL, "passes": 2}, query="median", step=0.5, automatic=False)
        learner = make(setting, seed=9)
        learner.learn(Batch([0, 1], [7], [1.0], [1.0]))
        seen.append(np.flatnonzero(learner.weights_of(keys)[:, 0]))
    assert np.array_equal(seen[0], seen[1])
    assert np.array_equal(seen[1], seen[2])


def test_a_trial_is_the_same_every_time():
    setting = Setting("bear", **SMALL, query="median", step=0.1, automatic=False)
    assert run_trial(setting, 4) == run_trial(setting, 4)


def test_exact_recovery_stops_early():
    found = simulate(Setting("olbfgs", step=0.1, automatic=False, **SMALL), trials=6)
    assert found.success == 1.0
    assert found.converged == 1.0
    assert found.passes < SMALL["passes"]
    assert found.l2_error < 1e-6


def test_a_step_that_is_too_large_is_counted_as_diverged():
    found = simulate(Setting("mission", **SMALL, step=10.0, automatic=False), trials=2)
    assert found.success == 0.0
    assert found.diverged == 1.0
    assert found.l2_error is None


def test_summed_gradients_are_a_larger_step():
    averaged = Setting("mission", **SMALL, step=0.02, automatic=False)
    summed = Setting("mission", **SMALL, step=0.001, summed=True, automatic=False)
    assert run_trial(averaged, 1)._replace(l2_error=0) == run_trial(summed, 1)._replace(l2_error=0)


def test_standard_errors():
    trials = [Trial(i, i < 3, 1.0 + i, 10, True, False) for i in range(4)]
    found = summarise(trials)
    assert found.success_se == pytest.approx((0.75 * 0.25 / 4) ** 0.5)
    assert found.l2_error_se == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"learner": "fh"}, "SIM-LEARNER"),
        ({"k": 2000}, "SIM-K"),
        ({"learner": "bear", "compression": 1000.0}, "SIM-COMPRESSION"),
        ({"learner": "bear", "query": "mode"}, ""),
        ({"noise": -1.0}, ""),
        ({"step": float("nan")}, ""),
    ],
)
def test_what_cannot_be_simulated_is_refused(fields, code):
    with pytest.raises(ParameterError) as error:
        Setting(**fields).check()
    assert error.value.code == code


def test_data_that_would_not_fit_are_refused():
    with pytest.raises(LimitError, match="n x p"):
        Setting(p=10**7).check()


def test_the_recommended_learner_untuned():
    """Six of the hundred trials of the acceptance table, at compression 3 and 6.

    All true features are found. Its weights carry the noise of cells of one byte, so no pass ends
    with gradients of 0.
    """
    for compression in (3.0, 6.0):
        found = simulate(Setting(compression=compression), trials=6)
        assert found.success == 1.0
        assert found.l2_error <= 0.1
