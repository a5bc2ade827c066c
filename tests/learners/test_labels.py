"""Classes that a learner can tell apart."""

import numpy as np
import pytest

from bearsketch import Batch, ParameterError, SketchClassifier, make_learner
from bearsketch.learners.labels import Labels
from bearsketch.training.seen import Seen
from bearsketch.training.task import decide

LARGE = 2**53


@pytest.mark.parametrize("classes", [[LARGE, LARGE + 1], [0, -LARGE - 1], [1, 2, np.int64(LARGE)]])
def test_classes_too_large_to_tell_apart_are_refused(classes):
    loss = "softmax" if len(classes) > 2 else "logistic"
    with pytest.raises(ParameterError, match=r"(?s)below 2\*\*53.*words"):
        Labels(loss, classes)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        make_learner(loss=loss, classes=classes, memory="4KiB")
    seen = Seen()
    seen.add(np.array(classes, dtype=np.float64))
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        decide(seen, classes=list(map(str, classes)))
    assert Labels("logistic", [0, LARGE - 1]).encode(np.array([LARGE - 1]))[0] == 1.0
    assert Labels("logistic", [str(LARGE), str(LARGE + 1)]).label(1) == str(LARGE + 1)


def test_estimators_refuse_them_when_they_come():
    X, y = [["a"], ["b"]] * 10, np.array([LARGE, LARGE + 1] * 10)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        SketchClassifier(memory="8KiB").fit(X, y)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        SketchClassifier(memory="8KiB").partial_fit(X, y)
    with pytest.raises(ParameterError, match=r"below 2\*\*53"):
        SketchClassifier(memory="8KiB").fit_stream([Batch.from_rows(X, y.astype(np.float64))])
    got = SketchClassifier(memory="8KiB").fit(X, y.astype(str))
    assert got.predict(X).tolist() == y.astype(str).tolist()
