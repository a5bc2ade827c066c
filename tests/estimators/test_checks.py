"""scikit-learn's own checks, on every estimator with every learner it can have."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bearsketch import LEARNERS, SketchClassifier, SketchRegressor, SketchSelector
from bearsketch.learners import RECIPES

SELECTING = [name for name in LEARNERS if RECIPES[name].selects]
ESTIMATORS = [
    *(SketchClassifier(name) for name in LEARNERS),
    *(SketchRegressor(name) for name in LEARNERS),
    *(SketchSelector(name) for name in SELECTING),
    *(SketchSelector(name, task="regression") for name in SELECTING),
    SketchClassifier(passes=3),
    SketchRegressor(passes=3),
]
ONLINE = (
    "examples are learned in minibatches, one after the other: an example of weight 2 is one "
    "step, the same example twice are two"
)


def expected_failures(estimator):
    """The two checks scikit-learn itself expects to fail for its online learners."""
    if isinstance(estimator, SketchSelector):
        return {}  # it gives columns, which are the same for small differences
    return {
        "check_sample_weight_equivalence_on_dense_data": ONLINE,
        "check_sample_weight_equivalence_on_sparse_data": ONLINE,
    }


# Some of the checks take columns around 100, of which bear+ warns as it should.
@pytest.mark.filterwarnings("ignore:.*lie around a mean far from 0")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures, xfail_strict=True)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
