from dataclasses import replace

import numpy as np
import pytest

from experiments.theory import (
    LossGap,
    SketchError,
    sketch_of,
    slope_of,
    theorem1_jobs,
    theorem2_jobs,
    theorem2_rows,
)


def test_a_wide_sketch_holds_the_vector_itself():
    values = np.random.default_rng(0).standard_normal(20)
    learner = sketch_of(values, 10_000, 5, "median", seed=1, k=3)
    got = learner.weights_of(np.arange(20, dtype=np.uint64))[:, 0]
    np.testing.assert_array_equal(got, values.astype(np.float32))
    assert set(learner.selected().keys.tolist()) == set(np.argsort(-abs(values))[:3].tolist())


def test_the_bound_holds_for_all_keys_when_deep_and_falls_with_the_width():
    deep = [SketchError(width, 15, "median", trials=4, p=2000).run() for width in (64, 256, 1024)]
    assert [result["within_all"] for result in deep] == [1.0] * 3
    assert deep[0]["error"] > deep[1]["error"] > deep[2]["error"]


def test_one_row_cannot_tell_a_key_from_its_bucket_mates():
    shallow = SketchError(256, 1, "median", trials=4, p=2000).run()
    assert shallow["within_all"] == 0.0
    assert shallow["found"] == 0.0


def test_slope_and_its_interval():
    random = np.random.default_rng(3)
    t = np.geomspace(10, 1000, 12)
    gaps = (2.0 / t) * random.lognormal(0, 0.2, (40, 12))
    slope, low, high = slope_of(t, gaps)
    assert low < -1.0 < high
    assert low < slope < high < low + 0.2


SHORT = LossGap("bear", 4, 100.0, 1000.0, p=30, n=300, width=5, first=50, minibatches=3000)


@pytest.mark.parametrize("learner", ["bear", "olbfgs"])
def test_the_gap_is_positive_and_falls(learner):
    case = replace(SHORT, learner=learner)
    result = case.run()
    assert len(result["gaps"]) == len(case.times())
    assert min(result["gaps"]) > 0
    assert result["gaps"][-1] < 0.3 * result["gaps"][0]


def test_the_sketch_holds_fewer_dimensions_than_the_data():
    basis, (least, largest) = SHORT.range_of_storage()
    assert basis.shape[0] == 30
    assert basis.shape[1] <= 15
    assert 0 < least < 1 < largest
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)


def test_rows_of_theorem_2_need_every_trial():
    jobs = theorem2_jobs(2, {})
    done = {job.key: {"gaps": [1.0] * 24, "least": 1.0, "largest": 1.0} for job in jobs}
    assert len(list(theorem2_rows(2, done))) == 5 * 24
    assert list(theorem2_rows(3, done)) == []


def test_keys_tell_jobs_apart():
    jobs = [*theorem1_jobs(3, {}), *theorem2_jobs(3, {})]
    assert len({job.key for job in jobs}) == len(jobs)
