"""Arrays at any address: what a message, a memory map or a structured array gives."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bearsketch import Batch, SketchClassifier, _core, make_learner
from bearsketch.batch import Names


def odd(array):
    """The same array at an odd address."""
    array = np.ascontiguousarray(array)
    kept = np.zeros(array.nbytes + 2, dtype=np.uint8)
    at = 1 - kept.ctypes.data % 2
    moved = kept[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert array.dtype.itemsize == 1 or not moved.flags.aligned
    return moved


@pytest.fixture
def batch():
    """Two named examples."""
    rows = [{"free": 1.0, "money": 2.0}, {"hello": 1.0}]
    return Batch.from_rows(rows, [1, -1], weights=np.array([1.0, 2.0]))


def learned(batch):
    learner = make_learner("bear+", memory="2KiB", k=3, classes=[-1, 1])
    learner.learn(batch)
    return learner


def test_a_batch_of_arrays_at_odd_addresses(batch):
    names = Names(batch.names.data, odd(batch.names.offsets))
    moved = Batch(
        *(odd(array) for array in (batch.indptr, batch.keys, batch.values)),
        labels=odd(batch.labels),
        weights=odd(batch.weights),
        names=names,
        naming="name",
        seed=0,
    )
    assert learned(moved).to_bytes() == learned(batch).to_bytes()


def test_a_batch_from_a_message(batch):
    apart = []
    message = pickle.dumps(batch, protocol=5, buffer_callback=apart.append)
    moved = [odd(np.frombuffer(part, dtype=np.uint8)) for part in apart]
    came = pickle.loads(message, buffers=moved)
    assert came.names[1] == batch.names[1]
    assert all(array.flags.aligned for array in (came.indptr, came.keys, came.values))
    assert learned(came).to_bytes() == learned(batch).to_bytes()


def test_keys_and_weights_of_examples(batch):
    learner = learned(batch)
    assert np.array_equal(learner.weights_of(odd(batch.keys)), learner.weights_of(batch.keys))
    X, y, w = np.eye(4), np.array([0, 1, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0])
    a = SketchClassifier(k=2, memory="1KiB").fit(odd(X), odd(y), sample_weight=odd(w))
    b = SketchClassifier(k=2, memory="1KiB").fit(X, y, sample_weight=w)
    assert np.array_equal(a.decision_function(odd(X)), b.decision_function(X))


def test_the_core_refuses_what_it_cannot_read():
    with pytest.raises(ValueError, match="an address that suits its type"):
        _core.check_rows(
            odd(np.array([0, 1])), np.ones(1, np.uint64), np.ones(1, "f4"), *[None] * 3
        )
