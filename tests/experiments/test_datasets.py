"""Preparation of the real data sets, on made-up files of the same shape."""

import numpy as np
import pytest

from bearsketch.batch import Batch
from bearsketch.exceptions import ParameterError, SourceError
from experiments import datasets
from experiments.datasets import DATASETS, Prepared, clicks, genomes, prepare, text
from experiments.datasets.prepared import shuffled, take

SIZES = {
    "rcv1": (600, 200, 47236),
    "farm-ads": (160, 40, 54877),
    "20news": (120, 120, None),
    "20news20": (120, 120, None),
    "imdb": (120, 120, None),
    "urls": (128, 32, None),
    "spam": (None, None, 2**24),
    "ipinyou": (600, 200, 133465),
    "avazu": (100, None, None),
    "hashed24": (160, 40, 2**24),
    "dna": (60000, 15000, 4**12),
}


@pytest.mark.parametrize("name", [name for name in DATASETS if name != "dna"])
def test_rows_are_the_same_every_time_and_fit_a_learner(name, made_up, tmp_path):
    first, second = (Prepared.load(prepare(name, made_up, tmp_path / part)) for part in "ab")
    n_train, n_test, dimension = SIZES[name]
    assert len(first.train) == (n_train or len(first.train))
    assert len(first.test) == (n_test or len(first.test)) > 0
    assert first.dimension == (dimension or first.dimension)
    for mine, other in ((first.train, second.train), (first.test, second.test)):
        np.testing.assert_array_equal(mine.keys, other.keys)
        np.testing.assert_array_equal(mine.values, other.values)
        np.testing.assert_array_equal(mine.labels, other.labels)
        assert mine.keys.max() < first.dimension
        assert set(np.unique(mine.labels)) <= set(range(DATASETS[name].classes))
        assert len(np.unique(mine.labels)) > 1
        squares = np.bincount(
            np.repeat(np.arange(len(mine)), np.diff(mine.indptr)), mine.values.astype(float) ** 2
        )
        np.testing.assert_allclose(squares, 1.0, atol=1e-3)


def test_shuffled_rows_are_mixed(made_up, tmp_path):
    """The archives are sorted by class; a learner of one pass must not see them so."""
    for name in ("20news", "imdb", "spam", "urls"):
        labels = Prepared.load(prepare(name, made_up, tmp_path)).train.labels
        assert np.count_nonzero(np.diff(labels)) > len(labels) / 5, name


def test_headers_and_foreign_letters_are_left_out(made_up):
    assert all(b"from" not in line for _, line in text.news_lines(made_up, "train", binary=True))
    line = text.imdb_lines(made_up, "train")[0][1]
    assert line.endswith(b" na ve")
    assert {label for label, _ in text.news_lines(made_up, "test", binary=False)} == {
        "comp.graphics",
        "rec.autos",
        "sci.space",
        "talk.politics",
    }


def test_presence_of_characters(made_up):
    prepared = text.urls(made_up)
    sizes = np.diff(prepared.train.indptr)
    np.testing.assert_allclose(prepared.train.values[0], 1 / np.sqrt(sizes[0]), rtol=1e-6)


def test_values_of_hashed_features(made_up):
    every = clicks.hashed24(made_up)
    row = every.train.rows(0, 1)
    assert row.keys[0] == 0 or 0 in row.keys
    assert row.keys[-1] >= 1000
    assert row.values[-1] == pytest.approx(row.values[0] / 2) or len(row.keys) == 2


def test_validation_rows_are_training_rows_set_aside(made_up, tmp_path):
    prepared = Prepared.load(prepare("rcv1", made_up, tmp_path))
    fit, rest = prepared.split()
    assert (len(fit), len(rest)) == (525, 75)
    np.testing.assert_array_equal(rest.keys, prepared.split()[1].keys)
    rows = {tuple(part.rows(i, i + 1).keys) for part in (fit,) for i in range(len(part))}
    assert sum(tuple(rest.rows(i, i + 1).keys) in rows for i in range(len(rest))) < 5


def test_reads_are_pieces_of_their_genome(made_up):
    strands = [genomes.read_genome(path) for path in genomes.genome_paths(made_up)]
    assert len(strands) == 3
    assert np.count_nonzero(strands[0] < 0) == 2  # an N, and the place between two records
    batch = genomes.draw_reads(strands, 30, seed=3)
    assert np.bincount(batch.labels).tolist() == [10, 10, 10]
    for i in range(30):
        row = batch.rows(i, i + 1)
        home = strands[batch.labels[i]]
        assert np.isin(row.keys, genomes.kmer_codes(home)).all()
        assert np.sum(row.values) * np.sqrt(89) == pytest.approx(89, rel=1e-5)


def test_take_and_shuffle_keep_rows_whole():
    batch = Batch([0, 2, 2, 3], [4, 9, 5], [1.0, 2.0, 3.0], labels=[7, 8, 9])
    turned = take(batch, np.array([2, 1, 0]))
    assert turned.indptr.tolist() == [0, 1, 1, 3]
    assert turned.keys.tolist() == [5, 4, 9]
    assert turned.labels.tolist() == [9, 8, 7]
    assert sorted(shuffled(batch, 3).labels) == [7, 8, 9]


def test_errors(tmp_path):
    with pytest.raises(ParameterError, match="must be one of rcv1"):
        prepare("mnist", tmp_path, tmp_path)
    with pytest.raises(SourceError, match="cannot prepare imdb"):
        prepare("imdb", tmp_path, tmp_path)
    path = datasets.prepared_path("rcv1", tmp_path)
    path.write_bytes(b"not arrays")
    with pytest.raises(SourceError, match="no prepared data set"):
        Prepared.load(path)
