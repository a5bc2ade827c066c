"""Features that many rows have: what they move all margins by is the intercept's business."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, make_learner

COLUMNS, TEST = 30, 10_000


def ticked(n: int, seed: int) -> tuple[Batch, Batch, np.ndarray]:
    """Rows that have each of 30 features with even chance, and of the test rows how many."""
    chosen = np.random.default_rng(seed).random((n + TEST, COLUMNS)) < 0.5
    indptr = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))])
    counts = chosen.sum(axis=1).astype(float)
    rows = Batch(indptr, np.nonzero(chosen)[1].astype(np.uint64), np.ones(indptr[-1]), counts)
    return rows.rows(0, n), rows.rows(n, n + TEST), counts


def relabelled(rows: Batch, labels) -> Batch:
    return Batch(rows.indptr, rows.keys, rows.values, labels)


@pytest.mark.parametrize("k", [0, 100])
@pytest.mark.parametrize("classes", [2, 3])
def test_more_than_so_many_is_told_from_fewer(classes, k):
    train, test, counts = ticked(10_000, seed=1)
    ends = np.quantile(counts, np.arange(1, classes) / classes)
    train, test = (
        relabelled(b, np.searchsorted(ends, b.labels).astype(float)) for b in (train, test)
    )
    kind = {} if classes == 2 else {"loss": "softmax"}
    learner = make_learner(k=k, memory="64KiB", classes=range(classes), **kind)
    learner.learn(train)
    right = np.mean(learner.predict(test) == test.labels)
    assert right > (0.95 if classes == 2 else 0.85)  # .86 and .70 without it


def test_how_many_is_learned_from_few_rows():
    train, test, counts = ticked(500, seed=1)
    train, test = (relabelled(b, (b.labels - 15) / counts.std()) for b in (train, test))
    learner = make_learner(k=100, memory="64KiB", loss="squared")
    learner.learn(train)
    left = np.mean((test.labels - learner.predict_margin(test).ravel()) ** 2)
    assert left < 0.4 * test.labels.var()  # .71 without it
