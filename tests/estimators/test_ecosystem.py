"""The estimators inside the rest of scikit-learn."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from joblib import Parallel, delayed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from bearsketch import SketchClassifier, SketchRegressor, SketchSelector


def test_tags_say_what_they_are():
    assert is_classifier(SketchClassifier())
    assert is_regressor(SketchRegressor())
    assert get_tags(SketchSelector()).estimator_type is None
    for estimator in (SketchClassifier(), SketchRegressor(), SketchSelector()):
        tags = get_tags(estimator)
        assert tags.input_tags.sparse
        assert tags.input_tags.dict
        assert tags.target_tags.required
        assert tags.transformer_tags is not None
    assert get_tags(SketchClassifier("fh")).transformer_tags is None
    assert get_tags(SketchClassifier("unknown")).transformer_tags is not None


def test_selector_in_a_pipeline_keeps_names(two_classes):
    X, y = two_classes
    pipe = make_pipeline(StandardScaler(), SketchSelector(k=3), LogisticRegression())
    pipe.fit(X, y)
    assert pipe.score(X, y) > 0.75
    assert_array_equal(pipe[:-1].get_feature_names_out(), ["x3", "x7", "x11"])
    names = [f"w{i}" for i in range(40)]
    assert_array_equal(pipe[:-1].get_feature_names_out(names), ["w3", "w7", "w11"])
    number = make_pipeline(SketchSelector(k=2, task="regression"), Ridge())
    assert number.fit(X, X[:, 5] - X[:, 9]).score(X, X[:, 5] - X[:, 9]) > 0.99


def test_pipeline_with_a_cache(two_classes, tmp_path):
    X, y = two_classes
    steps = (SketchSelector(k=3), LogisticRegression())
    plain = make_pipeline(*steps).fit(X, y)
    for _ in range(2):
        cached = make_pipeline(*steps, memory=str(tmp_path)).fit(X, y)
        assert_array_equal(cached.predict(X), plain.predict(X))


def test_grid_search_over_learners_and_sizes(two_classes):
    X, y = two_classes
    grid = {"learner": ["bear+", "mission"], "k": [3, 40], "batch_size": [None, 50]}
    search = GridSearchCV(SketchClassifier(), grid, cv=3, n_jobs=2).fit(sp.csr_array(X), y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.75


def test_features_by_name_in_cross_validation():
    rows = [{"buy": 1.0}, {"meet": 2.0}] * 60
    assert cross_val_score(SketchClassifier(), rows, ["spam", "ham"] * 60, cv=3).min() == 1.0


def test_calibration_and_one_against_rest(two_classes, three_classes):
    X, y = two_classes
    calibrated = CalibratedClassifierCV(SketchClassifier(), cv=3).fit(X, y)
    assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    assert calibrated.score(X, y) > 0.75
    each = OneVsRestClassifier(SketchClassifier()).fit(*three_classes)
    assert each.score(*three_classes) > 0.8


def test_other_selectors_read_coef(two_classes):
    X, y = two_classes
    chosen = SelectFromModel(SketchClassifier(k=5), threshold=0.5).fit(X, y)
    assert {3, 7, 11} <= set(chosen.get_support(indices=True))
    columns = make_column_transformer((SketchSelector(k=3), list(range(12))), remainder="drop")
    assert columns.fit_transform(X, y).shape == (500, 3)


def test_metadata_is_routed(two_classes):
    X, y = two_classes
    weights = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SketchSelector(k=3).set_fit_request(sample_weight=True)
        last = SketchClassifier().set_fit_request(sample_weight=True)
        last.set_score_request(sample_weight=True)
        pipe = make_pipeline(selector, last)
        routed = pipe.fit(X, y, sample_weight=weights)
        assert 0 < routed.score(X, y, sample_weight=weights) <= 1
        grown = SketchClassifier().set_partial_fit_request(sample_weight=True, classes=True)
        assert get_metadata(grown) == {"classes": True, "sample_weight": True}
    narrow = SketchSelector(k=3).fit(X, y, sample_weight=weights).transform(X)
    by_hand = SketchClassifier().fit(narrow, y, sample_weight=weights)
    assert_array_equal(routed.predict(X), by_hand.predict(narrow))
    assert not np.array_equal(by_hand.decision_function(narrow), make_plain(X, y))


def get_metadata(estimator):
    return estimator.get_metadata_routing().partial_fit.requests


def make_plain(X, y):
    selector = SketchSelector(k=3).fit(X, y)
    return SketchClassifier().fit(selector.transform(X), y).decision_function(selector.transform(X))


class Recorder:
    """A callback that writes down the tasks, and may stop after some."""

    def __init__(self, stop_after=None):
        self.ended, self.seen, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.ended.clear()

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append(context.task_name)
        self.seen.append(fitted_estimator.learner_.counters["examples"])
        return self.ended.count(self.stop_after) > 0 if self.stop_after else False


def test_callbacks_see_fit_passes_and_examples(two_classes):
    X, y = two_classes
    recorder = Recorder()
    X, y = np.tile(X, (20, 1)), np.tile(y, 20)  # 10,000 examples are two blocks
    SketchClassifier(passes=2).set_callbacks(recorder).fit(X, y)
    one_pass = ["examples", "examples", "pass"]
    assert recorder.ended == [*one_pass, *one_pass, "fit", "teardown"]
    assert recorder.seen == [8100, 10_000, 10_000, 18_100, 20_000, 20_000, 20_000]


def test_a_callback_may_stop_the_passes(two_classes):
    fitted = SketchClassifier(passes=5).set_callbacks(Recorder(stop_after="pass"))
    assert fitted.fit(*two_classes).learner_.counters["passes"] == 1


def test_tasks_of_a_stream_are_few(two_classes):
    from bearsketch import Batch

    recorder = Recorder()
    batch = Batch.from_rows([["a"], ["b"]] * 500, [0, 1] * 500)
    SketchClassifier().set_callbacks(recorder).fit_stream([batch] * 70)
    assert recorder.ended == ["examples", "examples", "pass", "fit", "teardown"]
    assert recorder.seen[0] == 66_000


def test_progress_bar_and_scores(two_classes, capsys):
    monitor = ScoringMonitor(scoring="accuracy")
    estimator = SketchClassifier(passes=3).set_callbacks(ProgressBar(), monitor)
    estimator.fit(*two_classes)
    assert "SketchClassifier - fit" in capsys.readouterr().out
    scores = [row["accuracy"] for row in monitor.get_logs().data if "accuracy" in row]
    assert len(scores) == 7  # a block and its pass, three times, and the fit
    assert scores[-1] == estimator.score(*two_classes)


def test_progress_bar_reaches_into_a_search(two_classes):
    search = GridSearchCV(SketchClassifier(), {"k": [3, 5]}, cv=2).set_callbacks(ProgressBar())
    assert search.fit(*two_classes).best_score_ > 0.7


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_parallel_fits_agree_with_sequential_ones(two_classes, backend):
    X, y = two_classes
    estimators = [SketchClassifier(random_state=seed) for seed in range(4)]
    expected = [clone(e).fit(X, y).decision_function(X) for e in estimators]
    fitted = Parallel(n_jobs=2, backend=backend)(delayed(e.fit)(X, y) for e in estimators)
    for got, scores in zip(fitted, expected, strict=True):
        assert_array_equal(got.decision_function(X), scores)


def test_threads_may_predict_with_one_model(two_classes):
    X, y = two_classes
    fitted = SketchClassifier().fit(X, y)
    got = Parallel(n_jobs=4, backend="threading")(
        delayed(fitted.decision_function)(X) for _ in range(16)
    )
    for scores in got:
        assert_array_equal(scores, fitted.decision_function(X))


def test_repr_and_html(two_classes):
    assert repr(SketchClassifier(k=5)) == "SketchClassifier(k=5)"
    fitted = SketchSelector(k=3).fit(*two_classes)
    for estimator in (SketchClassifier(), fitted, make_pipeline(fitted, Ridge())):
        assert "Sketch" in estimator._repr_html_()


def test_import_is_lazy():
    code = (
        "import bearsketch, sys\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'polars'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "from bearsketch import SketchClassifier\n"
        "assert 'SketchSelector' in dir(bearsketch)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


OLD_RELEASE = """
import builtins
whole = builtins.__import__

def before_callbacks(name, globals=None, *rest):
    asked_by = (globals or {}).get("__name__", "")
    if name == "sklearn.callback" and asked_by.startswith("bearsketch"):
        raise ImportError(name)
    return whole(name, globals, *rest)

builtins.__import__ = before_callbacks
from bearsketch import SketchClassifier
got = SketchClassifier(passes=2).fit([["a"], ["b"]] * 20, [0, 1] * 20)
assert got.predict([["b"]]) == [1]
assert not hasattr(got, "set_callbacks")
"""


def test_releases_without_callbacks_work():
    subprocess.run([sys.executable, "-c", OLD_RELEASE], check=True, timeout=120)
