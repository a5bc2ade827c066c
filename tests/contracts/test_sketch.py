"""What a sketch obeys, read through the core alone: its cells are filled by hand and queried."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bearsketch import make_learner

KINDS = {
    "in a row": np.arange(4096, dtype=np.uint64),
    "high bits only": np.arange(4096, dtype=np.uint64) << np.uint64(50),
    "even": np.arange(4096, dtype=np.uint64) * np.uint64(2),
    "random": np.random.default_rng(0).integers(0, 2**64, 4096, dtype=np.uint64),
}
LEAST_P = 1e-6  # of a chance below one in a million nothing is said


def sketch(width, depth, query="mean", seed=0):
    return make_learner(
        "mission", k=1, width=width, depth=depth, query=query, seed=seed, precision="float64"
    )


def fill(learner, cells):
    learner._core.restore_cells(
        np.ascontiguousarray(cells, dtype=np.float64).ravel().view(np.uint8)
    )
    return learner


def places(keys, width, depth, seed):
    """Bucket and sign of each key in each row: row r alone is filled with 1, 2, 3, ..."""
    learner = sketch(width, depth, seed=seed)
    found = []
    for row in range(depth):
        cells = np.zeros((depth, width))
        cells[row] = np.arange(1, width + 1)
        read = np.rint(fill(learner, cells).weights_of(keys)[:, 0] * depth)
        found.append((np.abs(read).astype(int) - 1, np.sign(read).astype(int)))
    return found


def add(cells, found, weights):
    for row, (bucket, sign) in enumerate(found):
        np.add.at(cells[row], bucket, sign * weights)
    return cells


shapes = st.tuples(st.integers(1, 40), st.integers(1, 16), st.integers(0, 2**64 - 1))
key_sets = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30, unique=True)


@settings(max_examples=60, deadline=None)
@given(shapes, key_sets, st.integers(0, 2**32), st.floats(-10, 10), st.floats(-10, 10))
def test_the_mean_query_is_linear_in_the_cells(shape, keys, data_seed, a, b):
    width, depth, seed = shape
    rng = np.random.default_rng(data_seed)
    one, two = rng.normal(size=(2, depth * width))
    learner = sketch(width, depth, seed=seed)
    keys = np.array(keys, dtype=np.uint64)
    read = [fill(learner, cells).weights_of(keys) for cells in (one, two, a * one + b * two)]
    np.testing.assert_allclose(read[2], a * read[0] + b * read[1], atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(shapes, key_sets, st.integers(0, 2**32), st.floats(-10, 10))
def test_the_median_query_scales_and_stays_between_its_rows(shape, keys, data_seed, factor):
    width, depth, seed = shape
    cells = np.random.default_rng(data_seed).normal(size=(depth, width))
    learner = sketch(width, depth, "median", seed)
    keys = np.array(keys, dtype=np.uint64)
    read = fill(learner, cells).weights_of(keys)[:, 0]
    rows = np.array([sign * cells[r, at] for r, (at, sign) in enumerate(places(keys, *shape))])
    np.testing.assert_allclose(read, np.median(rows, axis=0), atol=1e-14)
    scaled = fill(learner, factor * cells).weights_of(keys)[:, 0]
    np.testing.assert_allclose(scaled, factor * read, atol=1e-12)


@pytest.mark.parametrize("query", ["mean", "median"])
@settings(max_examples=40, deadline=None)
@given(shapes, key_sets, st.integers(3, 9))
def test_every_class_reads_what_a_sketch_of_its_own_would(query, shape, keys, classes):
    width, depth, seed = shape
    cells = np.random.default_rng(2).normal(size=(depth * width, classes))
    many = make_learner(
        "mission",
        loss="softmax",
        classes=classes,
        k=1,
        width=width,
        depth=depth,
        query=query,
        seed=seed,
        precision="float64",
    )
    read = fill(many, cells).weights_of(keys)
    for c in range(classes):
        alone = fill(sketch(width, depth, query, seed), cells[:, c]).weights_of(keys)[:, 0]
        np.testing.assert_array_equal(read[:, c], alone)


@settings(max_examples=40, deadline=None)
@given(shapes, key_sets, st.randoms(use_true_random=False))
def test_a_weight_does_not_depend_on_the_keys_asked_with_it(shape, keys, random):
    width, depth, seed = shape
    cells = np.random.default_rng(1).normal(size=depth * width)
    learner = fill(sketch(width, depth, seed=seed), cells)
    together = dict(zip(keys, learner.weights_of(keys)[:, 0], strict=True))
    shuffled = random.sample(keys, len(keys))
    again = dict(zip(shuffled, learner.weights_of(shuffled)[:, 0], strict=True))
    assert together == again
    assert learner.weights_of(keys[:1])[0, 0] == together[keys[0]]


@settings(max_examples=30, deadline=None)
@given(key_sets, st.integers(1, 16), st.integers(0, 2**64 - 1))
def test_added_weights_are_read_back_where_nothing_collides(keys, depth, seed):
    keys = np.array(keys, dtype=np.uint64)
    width = 1 << 16
    found = places(keys, width, depth, seed)
    weights = np.random.default_rng(2).normal(size=len(keys))
    read = {}
    for query in ("mean", "median"):
        cells = add(np.zeros((depth, width)), found, weights)
        read[query] = fill(sketch(width, depth, query, seed), cells).weights_of(keys)[:, 0]
    alone = np.ones(len(keys), dtype=bool)
    for bucket, _ in found:
        alone &= np.isin(bucket, np.flatnonzero(np.bincount(bucket, minlength=width) == 1))
    np.testing.assert_allclose(read["mean"][alone], weights[alone], atol=1e-12)
    np.testing.assert_allclose(read["median"][alone], weights[alone], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [16, 17])
def test_signs_are_even_inside_every_bucket(kind, width):
    """With an even width and the parity of one hash, a bucket would have a single sign."""
    for row, (bucket, sign) in enumerate(places(KINDS[kind], width, 3, seed=7)):
        counts = np.array([np.bincount(bucket[sign == s], minlength=width) for s in (1, -1)])
        assert stats.chisquare(counts.ravel()).pvalue > LEAST_P, row
        assert counts.min() > 0.5 * len(bucket) / (2 * width)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_independent_of_each_other(kind):
    found = places(KINDS[kind], 8, 4, seed=3)
    for a in range(4):
        for b in range(a):
            together = np.histogram2d(found[a][0], found[b][0], bins=8)[0]
            assert stats.chi2_contingency(together).pvalue > LEAST_P
            signs = np.histogram2d(found[a][1], found[b][1], bins=2)[0]
            assert stats.chi2_contingency(signs).pvalue > LEAST_P


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", [1, 2, 2**63])
def test_another_seed_changes_everything(kind, other):
    one, two = (places(KINDS[kind], 8, 2, seed)[0] for seed in (0, other))
    together = np.histogram2d(one[0] * one[1], two[0] * two[1], bins=15)[0]
    together = together[together.sum(axis=1) > 0][:, together.sum(axis=0) > 0]
    assert stats.chi2_contingency(together).pvalue > LEAST_P


def test_another_seed_changes_the_keys_of_names():
    from bearsketch.keys import hash_names

    names = [f"name {i}" for i in range(2000)]
    one, two = hash_names(names, 0), hash_names(names, 1)
    assert len({*one.tolist(), *two.tolist()}) == 4000
    bits = np.unpackbits((one ^ two).view(np.uint8))
    assert abs(bits.mean() - 0.5) < 5 * 0.5 / np.sqrt(bits.size)


def test_the_mean_query_is_unbiased_over_seeds():
    """Seen over many seeds, collisions cancel, and leave the variance they must."""
    keys = np.arange(30, dtype=np.uint64)
    weights = np.linspace(-1.0, 1.0, 30)
    width, depth, seeds = 8, 3, 400
    errors = np.empty((seeds, 30))
    for seed in range(seeds):
        cells = add(np.zeros((depth, width)), places(keys, width, depth, seed), weights)
        read = fill(sketch(width, depth, seed=seed), cells).weights_of(keys)[:, 0]
        errors[seed] = read - weights
    others = np.sum(weights**2) - weights**2
    expected = np.sqrt(others / width / depth)
    bias = errors.mean(axis=0) / (expected / np.sqrt(seeds))
    assert np.abs(bias).max() < 5.0
    # Errors of two rows are independent, so the variance falls with the depth.
    assert np.abs(errors.std(axis=0) / expected - 1.0).max() < 0.25
