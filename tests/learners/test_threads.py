"""One learner in several threads: nothing breaks, and no example is lost."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest

from bearsketch import Batch, SketchClassifier, make_learner
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner
from bearsketch.learners.average import average


@pytest.fixture
def batch():
    """Some hundred named rows."""
    rng = np.random.default_rng(0)
    rows = [[f"w{i}" for i in rng.integers(0, 200, 20)] for _ in range(400)]
    return Batch.from_rows(rows, rng.integers(0, 2, 400))


def at_once(*jobs):
    """Run all jobs at the same time, some times each; raise what any of them raised."""
    failed = []

    def run(job):
        try:
            for _ in range(20):
                job()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert not any(thread.is_alive() for thread in threads)
    assert failed == []


def test_threads_that_learn_take_turns(batch):
    learner = make_learner(memory="16KiB", k=20, classes=[0, 1])
    at_once(*[lambda: learner.learn(batch)] * 3)
    assert learner.counters["examples"] == 3 * 20 * len(batch)


def test_all_else_waits_for_what_is_learned(batch):
    learner, other = (make_learner(memory="16KiB", k=20, classes=[0, 1]) for _ in range(2))
    other.learn(batch)
    at_once(
        lambda: learner.learn(batch),
        lambda: learner.predict_margin(batch),
        lambda: learner.selected(),
        lambda: learner.weights_of(np.unique(batch.keys)),
        lambda: Learner.from_bytes(learner.to_bytes()),
        lambda: average([learner, other]),
    )
    assert np.isfinite(learner.predict_margin(batch)).all()


def test_an_estimator_in_two_threads():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 30)), rng.integers(0, 2, 200)
    model = SketchClassifier(k=5, memory="16KiB").partial_fit(X, y, classes=[0, 1])
    at_once(*[lambda: model.partial_fit(X, y)] * 2, lambda: model.predict(X))
    assert model.learner_.counters["examples"] == 41 * 200


class Lingering:
    """Garbage that only the collector finds, and that lets other threads run when it goes."""

    def __init__(self):
        self.me = self

    def __del__(self):
        time.sleep(0)


def test_garbage_collected_while_a_learner_is_read_does_not_stop_the_threads(batch):
    learner = make_learner(k=200, memory="64KiB")
    learner.learn(batch)
    before = gc.get_threshold()
    gc.set_threshold(5)
    try:
        at_once(Lingering, learner.selected, lambda: learner.intercept, learner.selected)
    finally:
        gc.set_threshold(*before)


def test_arrays_that_changed_after_their_batch_was_made_are_refused(batch):
    learner = make_learner(k=20, memory="4KiB")
    wrong = batch.rows(0, len(batch))
    wrong.indptr.flags.writeable = True
    wrong.indptr[5] = 10**12
    for use in (learner.learn, learner.predict_margin):
        with pytest.raises(ParameterError, match="indptr must not fall"):
            use(wrong)
