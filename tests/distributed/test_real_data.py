"""Four shards and the default rounds cost little accuracy on RCV1."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from bearsketch import make_learner
from bearsketch.distributed import Driver, Serial
from bearsketch.distributed.prepare import prepare
from bearsketch.reading import open_stream

DIMENSION = 47_236
SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def rcv1(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rcv1")
    packed = shared_data / "text" / "rcv1"
    paths = []
    for name in ("train", "test"):
        paths.append(folder / f"{name}.svm")
        paths[-1].write_bytes(gzip.decompress((packed / f"rcv1_binary_{name}.svm.gz").read_bytes()))
    return paths


def accuracies(learner, path):
    right, total = np.zeros(2), 0
    with open_stream(str(path)) as stream:
        for batch in stream:
            for i, only in enumerate((False, True)):
                right[i] += (learner.predict(batch, selected_only=only) == batch.labels).sum()
            total += len(batch)
    return right / total


def overlap(a, b):
    one, two = set(a.selected().keys.tolist()), set(b.selected().keys.tolist())
    return len(one & two) / len(one | two)


@pytest.mark.parametrize(("compression", "least_overlap"), [(10, 0.5), (95, 0.2)])
def test_four_shards_are_within_a_hundredth_of_one_stream(rcv1, compression, least_overlap):
    train, test = rcv1
    budget = 4 * DIMENSION // compression
    found, overlaps = [], []
    for seed in SEEDS:
        parts = {"memory": budget, "k": budget // 4 // 12, "seed": seed}
        single = make_learner(classes=[-1, 1], **parts)
        with open_stream(str(train), seed=seed, rows=240) as stream:
            for batch in stream:
                single.learn(batch)
        prepared = prepare(str(train), options={"rows": 240}, **parts)
        assert (prepared.plan.shards, prepared.plan.rounds) == (4, 16)
        driver = Driver(prepared)
        sharded = driver.run(Serial())
        found.append([accuracies(single, test), accuracies(sharded, test)])
        overlaps.append(overlap(single, sharded))
    one, four = np.mean(found, axis=0)
    assert (four >= one - 0.01).all(), (one, four)
    assert np.mean(overlaps) > least_overlap
