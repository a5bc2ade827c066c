"""Estimators that learn from a stream continue from a checkpoint to the same model."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bearsketch import (
    Batch,
    IncompatibleError,
    ParameterError,
    SketchClassifier,
    SketchRegressor,
    SketchSelector,
)
from bearsketch.training.checkpoint import Checkpoints


class StopError(Exception):
    """Stands in for a kill."""


def rows(n, classes):
    rng = np.random.default_rng(5)
    for i in range(n):
        label = classes[i % len(classes)] if i % 7 else classes[0]
        yield label, [f"k{label}", *(f"n{w}" for w in rng.integers(0, 500, 6))]


def batches(n=40, classes=(0, 1), stop_at=None):
    """Batches of 50 examples that can be iterated again; stopped in the middle."""

    class Source:
        def __iter__(self):
            found = list(rows(50 * n, classes))
            for i in range(n):
                if i == stop_at:
                    raise StopError
                part = found[50 * i : 50 * i + 50]
                yield Batch.from_rows([row for _, row in part], [label for label, _ in part])

    return Source()


CASES = {
    "two classes": (SketchClassifier, {}, (0, 1)),
    "several": (SketchClassifier, {"max_classes": 6}, ("c", "a", "b")),
    "passes": (SketchClassifier, {"passes": 2}, (0, 1)),
    "regression": (SketchRegressor, {}, (0.5, 2.5, 4.0)),
    "selector": (SketchSelector, {"learner": "bear"}, (0, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_stopped_fit_goes_on_to_the_same_model(case, tmp_path):
    kind, parameters, classes = CASES[case]
    made = [kind(k=10, memory="4KiB", random_state=0, **parameters) for _ in range(3)]
    kept = [Checkpoints(tmp_path / "c", 200, resume=True) for _ in range(2)]
    made[0].fit_stream(batches(classes=classes))
    with pytest.raises(StopError):
        made[1].fit_stream(batches(classes=classes, stop_at=23), checkpoint=kept[0])
    made[2].fit_stream(batches(classes=classes), checkpoint=kept[1])
    assert kept[1].written is not None
    made[0].save(tmp_path / "a")
    made[2].save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    if hasattr(made[0], "classes_"):
        assert made[2].classes_.tolist() == made[0].classes_.tolist()
    kept[1].forget()
    assert list((tmp_path / "c").iterdir()) == []


def test_other_parameters_and_data_are_refused(tmp_path):
    kept = Checkpoints(tmp_path, 200, resume=True)
    with pytest.raises(StopError):
        SketchClassifier(k=10, random_state=0).fit_stream(batches(stop_at=23), checkpoint=kept)
    with pytest.raises(IncompatibleError, match="k was '10'"):
        SketchClassifier(k=11, random_state=0).fit_stream(batches(), checkpoint=kept)
    with pytest.raises(IncompatibleError, match="not those"):
        SketchClassifier(k=10, random_state=0).fit_stream(batches(n=3), checkpoint=kept)


def test_a_file_is_read_again_from_its_start(tmp_path):
    lines = [f"{label} |w {' '.join(row)}" for label, row in rows(3000, (0, 1))]
    text = ("\n".join(lines) + "\n").encode()
    straight = SketchClassifier(k=10, random_state=0).fit_stream(io.BytesIO(text), format="vw")
    kept = Checkpoints(tmp_path / "c", 500, resume=True)
    broken = text[: len(text) * 2 // 3].rpartition(b"\n")[0] + b"\nnonsense\n"
    with pytest.raises(ValueError, match="no '|' in the line"):
        SketchClassifier(k=10, random_state=0).fit_stream(
            io.BytesIO(broken), format="vw", checkpoint=kept
        )
    again = SketchClassifier(k=10, random_state=0).fit_stream(
        io.BytesIO(text), format="vw", checkpoint=kept
    )
    assert again.learner_.to_bytes() == straight.learner_.to_bytes()


def test_a_seed_is_needed(tmp_path):
    with pytest.raises(ParameterError, match="random_state must be a whole number"):
        SketchClassifier(random_state=None).fit_stream(batches(), checkpoint=Checkpoints(tmp_path))
