"""The parsers of the core on real files: counts as documented, refusals by code."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bearsketch import _core


def read(path: Path, form: str, **options: object) -> list[_core.Block]:
    """All blocks of a file, read in chunks of an awkward size."""
    data = path.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    parser, blocks, at, step = _core.Parser(form, **options), [], 0, 65521
    while not blocks or not blocks[-1].done:
        block = parser.take(1000, 100_000)
        if block.hungry:
            parser.feed(data[at : at + step], at + step >= len(data))
            at += step
        else:
            blocks.append(block)
    assert blocks[-1].byte == len(data)
    return blocks


def total(blocks: list[_core.Block]) -> Counter[str]:
    return sum((Counter(block.counts) for block in blocks), Counter())


def entries(blocks: list[_core.Block]) -> int:
    return sum(len(block.keys) for block in blocks)


@pytest.mark.parametrize(
    ("file", "rows", "active"),
    [
        ("text/rcv1/rcv1_binary_train.svm.gz", 17059, 75.31),
        ("text/rcv1/rcv1_binary_test.svm.gz", 2282, 74.81),
        ("text/farm-ads.svm.gz", 4143, 197.23),
        ("text/news20-small.binary.svm.gz", 100, 464.31),
        ("text/news20-multiclass-2000.svm.gz", 2000, 78.71),
        ("clicks/ipinyou/train.fm.svm.gz", 26773, 16.00),
        ("clicks/ipinyou/test.fm.svm.gz", 21150, 16.00),
    ],
)
def test_svmlight_counts(shared_data: Path, file: str, rows: int, active: float) -> None:
    blocks = read(shared_data / file, "svmlight")
    counts = total(blocks)
    assert counts["examples"] == counts["lines"] == rows
    assert round(entries(blocks) / rows, 2) == active


def test_rcv1_rows_have_norm_one(shared_data: Path) -> None:
    blocks = read(shared_data / "text/rcv1/rcv1_binary_test.svm.gz", "svmlight")
    for block in blocks:
        if len(block):
            norms = np.add.reduceat(block.values.astype(float) ** 2, block.indptr[:-1])
            assert np.abs(norms - 1).max() < 1e-4


# What each file has: labelled, unlabelled, blank lines, and lines refused by code.
VW = {
    "0001.dat.gz": (200, 0, 0, {}),
    "0002.dat.gz": (1000, 0, 0, {}),
    "0080.dat": (4, 0, 0, {}),
    "affix_test.dat": (6, 0, 0, {}),
    "aloi_short_test.dat": (100, 0, 0, {}),
    "aloi_short_train.dat": (100, 0, 0, {}),
    "big-constant.dat.gz": (100, 0, 0, {}),
    "big_feature_poison.dat": (3, 0, 0, {}),
    "bin1.dat": (3, 0, 0, {}),
    "cb_eval": (0, 0, 0, {"VW-BANDIT": 8}),
    "chain_hash_text_test.dat": (5, 0, 0, {"VW-VALUE-MISSING": 1}),
    "cs_test": (0, 0, 0, {"VW-COST": 3}),
    "cs_test.ldf": (0, 0, 3, {"VW-COST": 7}),
    "dupeindex_self.dat": (1, 0, 0, {}),
    "houses": (2, 0, 0, {"VW-INITIAL": 1}),
    "interact.dat": (6, 0, 0, {}),
    "ksvm_simple.dat": (20, 0, 0, {}),
    "labeled-unlabeled-mix.dat": (2, 2, 0, {}),
    "library_train": (0, 0, 2, {"VW-COST": 4}),
    "long_line.gz": (1, 0, 0, {}),
    "malformed.dat": (5, 0, 0, {"COM-NUL": 6}),
    "marginal_features": (4, 0, 0, {}),
    "ml100k_small_train": (237, 0, 0, {}),
    "multi_namespace.dat": (5, 0, 0, {}),
    "multiclass": (10, 0, 0, {}),
    "multiclass.sch": (10, 0, 10, {}),
    "multilabel": (3, 0, 0, {"VW-MULTILABEL": 7}),
    "ner_25.dat": (22, 0, 3, {}),
    "poisson_small.dat": (25, 0, 0, {}),
    "privacy_dataset": (31, 0, 0, {}),
    "privacy_dataset_no_tags": (31, 0, 0, {}),
    "probabilities_mixed_ind.dat": (6, 0, 0, {}),
    "rcv1_multiclass.dat.gz": (1000, 0, 0, {}),
    "rcv1_raw_cb_small.vw.gz": (0, 0, 0, {"VW-BANDIT": 1000}),
    "rcv1_small.dat.gz": (1000, 0, 0, {}),
    "rcv1_small_test.data.gz": (500, 0, 0, {}),
    "seq_small": (6, 0, 1, {}),
    "single_empty_lines.txt": (1, 0, 8, {}),
    "tagged_data.dat": (2, 0, 0, {}),
    "test_named": (5, 1, 0, {}),
    "topk.vw": (9, 0, 3, {}),
    "wiki256.dat.gz": (0, 256, 0, {}),
    "x.txt.gz": (1, 0, 0, {}),
    "xxor.dat": (8, 0, 0, {}),
    "zero.dat": (5, 0, 0, {}),
}


@pytest.mark.parametrize("file", VW)
def test_vw_files(shared_data: Path, file: str) -> None:
    blocks = read(shared_data / "vw" / file, "vw")
    labelled, unlabelled, blank, refused = VW[file]
    counts = total(blocks)
    assert (counts["examples"], counts["unlabelled"], counts["blank"]) == (
        labelled,
        unlabelled,
        blank,
    )
    assert Counter(error[2] for block in blocks for error in block.errors) == refused
    assert counts["lines"] == labelled + unlabelled + blank + sum(refused.values())


def test_every_vw_file_is_listed(shared_data: Path) -> None:
    assert {path.name for path in (shared_data / "vw").iterdir()} == set(VW)


def test_vw_rcv1_has_its_active_count(shared_data: Path) -> None:
    blocks = read(shared_data / "vw/rcv1_small.dat.gz", "vw")
    assert round(entries(blocks) / 1000, 1) == 77.7


def test_genome_has_its_bases(shared_data: Path) -> None:
    blocks = read(shared_data / "genomes/bacteria15/haemophilus_influenzae.fna.gz", "fasta", k=1)
    counts = total(blocks)
    assert counts["records"] == 1
    assert counts["invalid_windows"] == 115
    assert sum(float(block.values.sum()) for block in blocks) == 1830138 - 115


def test_reads_have_their_number_and_windows(shared_data: Path) -> None:
    kraken = read(shared_data / "genomes/reads/kraken_HiSeq_accuracy.fa.gz", "fasta", k=1)
    assert total(kraken)["examples"] == 10000
    assert sum(float(b.values.sum()) for b in kraken) + total(kraken)["invalid_windows"] == 922427
    illumina = read(shared_data / "genomes/reads/ERR1438863_R1_s_pneumoniae.fastq.gz", "fastq", k=1)
    assert total(illumina)["examples"] == 25000
