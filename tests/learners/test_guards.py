"""Numerical guards on data planted to break training: a message, or finite numbers; never both."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bearsketch import LEARNERS, Batch, DivergedError, Learner, make_learner
from bearsketch.learners import state
from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.session import Session

LARGEST = float(np.finfo(np.float32).max)


def make(learner, loss, **options):
    dense = learner in ("sgd", "olbfgs")
    return make_learner(
        learner,
        loss=loss,
        classes=3 if loss == "softmax" else None,
        batch_size=4,
        **({"dimension": 64} if dense else {"width": 16}),
        **({} if dense or learner == "fh" else {"k": 4}),
        **options,
    )


def rows(values, keys=None, labels=None):
    """One entry per example, or as many as ``keys`` has columns."""
    values = np.atleast_2d(np.asarray(values, dtype=np.float32).T).T
    n, width = values.shape
    keys = np.tile(np.arange(width, dtype=np.uint64), n) if keys is None else keys
    labels = np.arange(n) % 2 if labels is None else labels
    return Batch(np.arange(n + 1) * width, keys, values.ravel(), labels=labels)


def examples(kind, n=40):
    rng = np.random.default_rng(2)
    if kind == "all rows equal":
        return rows(np.ones((n, 3)), labels=np.ones(n))
    if kind == "one feature":
        return rows(rng.normal(size=(n, 1)))
    if kind == "values of zero":
        return rows(np.zeros((n, 3)))
    if kind == "one value as large as can be":
        values = np.ones((n, 3))
        values[n // 2, 1] = LARGEST
        return rows(values)
    if kind == "all values as large as can be":
        return rows(np.full((n, 3), LARGEST))
    if kind == "values as small as can be":
        return rows(np.full((n, 3), 1e-45))
    if kind == "large and small":
        return rows(10.0 ** rng.uniform(-38, 38, (n, 8)))
    assert kind == "labels at random"
    return rows(rng.normal(size=(n, 8)), labels=rng.integers(0, 2, n))


KINDS = [
    "all rows equal",
    "one feature",
    "values of zero",
    "one value as large as can be",
    "all values as large as can be",
    "values as small as can be",
    "large and small",
    "labels at random",
]


def assert_sound(learner):
    """All it would save is finite, and what is saved can be read."""
    arrays, _ = state.dump(learner, exact=True)
    for name, array in arrays.items():
        if array.dtype.kind == "f":
            assert np.isfinite(array).all(), name
    assert Learner.from_bytes(learner.to_bytes()).counters == learner.counters


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_planted_data_never_leave_the_finite_numbers(learner, loss, kind):
    some = ({}, {"step_size": 1e6}, {"l2": 0.5, "step_size": 1.0})
    for options in some[:1] if learner == "bear+" else some:
        made = make(learner, loss, **options)
        batch = examples(kind)
        learned = made.counters["batches"]
        try:
            for _ in range(10):
                made.learn(batch)
                learned = made.counters["batches"]
        except DivergedError as error:
            assert error.code == "NUM-DIVERGED"
            assert "diverged" in str(error)
            assert made.counters["batches"] >= learned
        assert_sound(made)


def test_a_wild_step_is_stopped_within_one_minibatch_or_fifty():
    """A weight out of range at once; a loss far above that of nothing after 50 minibatches."""
    jump = make_learner("mission", k=4, width=64, batch_size=4, step_size=1e30, loss="squared")
    with pytest.raises(DivergedError, match="minibatch [01]:"):
        jump.learn(examples("one feature"))
    slow = make_learner("sgd", dimension=64, batch_size=4, step_size=1e4)
    rng = np.random.default_rng(0)
    noise = rows(rng.normal(size=(400, 8)), labels=rng.integers(0, 2, 400))
    with pytest.raises(DivergedError, match="times that of predicting nothing, for 50") as caught:
        slow.learn(noise)
    assert slow.counters["batches"] < 100
    assert caught.value.exit_code == 7
    assert_sound(slow)


def test_pairs_without_curvature_are_left_out_and_counted():
    """The same examples again and again, with the right answer learned: nothing changes."""
    learner = make_learner("bear", k=4, width=64, batch_size=4, loss="squared")
    still = rows(np.zeros((40, 3)))
    learner.learn(still)
    guards = learner.guards
    assert guards["flat_pairs"] == learner.counters["batches"]
    assert guards["stored_pairs"] == 0
    moving = make_learner("bear", k=4, width=64, batch_size=4, loss="squared")
    moving.learn(rows(np.random.default_rng(1).normal(size=(400, 3))))
    counted = sum(moving.guards[name] for name in ("flat_pairs", "rejected_pairs", "stored_pairs"))
    assert counted == moving.counters["batches"]
    assert moving.guards["stored_pairs"] > 0
    assert_sound(moving)


def test_strong_decay_never_overflows_the_cells():
    """Lazy factors shrink to nothing while weights stay large: cells are rescaled in time."""
    learner = make_learner(
        "fh", width=8, loss="squared", step_size=0.5, l2=1.0, batch_size=1, precision="float32"
    )
    batch = rows(np.ones((400, 1)), labels=np.full(400, 1e12))
    learner.learn(batch)
    assert learner.fill()["largest"] < 1e15
    assert_sound(learner)


def test_no_model_with_a_number_that_is_not_finite_is_written(tmp_path):
    learner = make("bear+", "logistic")
    learner.learn(examples("one feature"))
    learner._core.intercept = [float("nan")]
    for write in (lambda: learner.save(tmp_path / "m"), learner.to_bytes):
        with pytest.raises(DivergedError, match="intercept holds a number") as caught:
            write()
        assert caught.value.code == "NUM-MODEL"
    assert not list(tmp_path.iterdir())


def test_divergence_says_where_and_names_the_last_checkpoint(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f} |w a:{rng.normal():.3f}\n" for _ in range(2000)]
    lines[1500] = "1e30 |w a:3e38\n"
    text = "".join(lines).encode()
    with open_stream(io.BytesIO(text), "vw", rows=100, include_unlabelled=False) as stream:
        training = Session(
            stream,
            loss="squared",
            learner="mission",
            k=1,
            memory="1KiB",
            step_size=0.01,
            checkpoint=Checkpoints(tmp_path, 500),
        )
        with pytest.raises(DivergedError) as caught:
            training.run()
    assert "before <file object>:1600: minibatch " in str(caught.value)
    assert f"Last checkpoint: {tmp_path / 'checkpoint-00000003.bear'}" in str(caught.value)
    assert_sound(training.learner)


def test_advice_for_values_out_of_scale_is_for_both_sides():
    batch = Batch([0, 1, 2], [3, 4], np.full(2, 1e-30, dtype=np.float32), labels=[1, -1])
    with pytest.raises(DivergedError, match=r"far above 1, or all far below it.*multiply"):
        make_learner("mission", k=2, memory="1KiB").learn(batch)


@pytest.mark.parametrize(("width", "tiny"), [(16, True), (4096, False)])
def test_a_tiny_memory_is_named_where_a_run_diverges(width, tiny):
    learner = make_learner("mission", loss="squared", width=width, k=4, step_size=1e6)
    with pytest.raises(DivergedError) as caught:
        learner.learn(examples("large and small"))
    told = f"has only {learner.sizes.model_bytes} bytes"
    assert (told in str(caught.value)) is tiny
    assert ("memory='4KiB'" in str(caught.value)) is tiny
