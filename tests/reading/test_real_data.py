"""Real files load with exactly the rows and active features they are known to have."""

import pytest

from bearsketch.exceptions import BearError
from bearsketch.reading import open_stream

SVMLIGHT = {  # file: rows, active features a row, largest id
    "text/rcv1/rcv1_binary_train.svm.gz": (17_059, 75.31, 47_236),
    "text/rcv1/rcv1_binary_test.svm.gz": (2_282, 74.81, 47_205),
    "text/farm-ads.svm.gz": (4_143, 197.23, 54_877),
    "text/news20-multiclass-2000.svm.gz": (2_000, 78.71, 61_992),
    "text/news20-small.binary.svm.gz": (100, 464.31, 259_620),
    "clicks/ipinyou/train.fm.svm.gz": (26_773, 16.00, 133_464),
    "clicks/ipinyou/test.fm.svm.gz": (21_150, 16.00, 133_464),
}


@pytest.mark.parametrize("name", SVMLIGHT)
def test_svmlight(shared_data, name):
    n_rows, active, largest = SVMLIGHT[name]
    entries, top = 0, 0
    with open_stream(shared_data / name, include_unlabelled=False) as stream:
        for batch in stream:
            entries += batch.n_entries
            top = max(top, int(batch.keys.max()))
    assert stream.format == "svmlight"
    assert stream.counts.examples == stream.counts.lines == n_rows
    assert round(entries / n_rows, 2) == active
    assert top == largest


GENOMES = {  # file: records, bases of records
    "bacillus_anthracis": (3, 5_503_926),
    "haemophilus_influenzae": (1, 1_830_138),
    "legionella_pneumophila": (2, 3_635_495),
}


@pytest.mark.parametrize("name", GENOMES)
def test_genomes(shared_data, name):
    records, bases = GENOMES[name]
    path = shared_data / "genomes" / "bacteria15" / f"{name}.fna.gz"
    windows = 0.0
    with open_stream(path, kmer=12, label_from="file") as stream:
        for batch in stream:
            windows += float(batch.values.astype("f8").sum())
            assert set(batch.labels.tolist()) == {name}
    assert stream.counts.other["records"] == stream.counts.examples == records
    assert windows + stream.counts.other["invalid_windows"] == bases - 11 * records


def test_reads(shared_data):
    folder = shared_data / "genomes" / "reads"
    with open_stream(folder / "ERR1438863_R1_s_pneumoniae.fastq.gz", kmer=21) as stream:
        assert sum(len(batch) for batch in stream) == 25_000
    with open_stream(
        folder / "kraken_HiSeq_accuracy.fa.gz", kmer=12, label_regex=r"^(\w+)_HiSeq"
    ) as stream:
        labels = {label for batch in stream for label in batch.labels.tolist()}
    assert stream.counts.examples == 10_000
    assert len(labels) == 10


def test_clicks_as_a_table(shared_data):
    folder = shared_data / "clicks" / "avazu-sample"
    options = {"label_column": "click", "drop": ["id", "hour"], "categorical": ["*"]}
    names = set()
    clicks = 0.0
    with open_stream(folder / "train.csv.gz", **options) as stream:
        for batch in stream:
            names |= set(batch.keys.tolist())
            clicks += batch.labels.sum()
            assert batch.n_entries == 21 * len(batch)
    assert stream.counts.examples == 8_087
    assert round(100 * clicks / 8_087, 1) == 17.3
    # The known count of one-hot columns is over all three files.
    columns = (folder / "train.csv.gz", folder / "dev.csv.gz", folder / "test.csv.gz")
    header = stream_columns(columns[0])
    for path in columns[1:]:
        with open_stream(path, "csv", header=False, columns=header, **options) as stream:
            for batch in stream:
                names |= set(batch.keys.tolist())
    assert len(names) == 10_348


def stream_columns(path) -> list[str]:
    import gzip

    with gzip.open(path, "rt") as file:
        return file.readline().strip().split(",")


# Files of Vowpal Wabbit's own tests that are no simple examples, with why and where.
REFUSED = {
    "cb_eval": ("VW-BANDIT", 1),
    "chain_hash_text_test.dat": ("VW-VALUE-MISSING", 4),  # spaces after a colon
    "cs_test": ("VW-COST", 1),
    "cs_test.ldf": ("VW-COST", 1),
    "houses": ("VW-INITIAL", 3),
    "library_train": ("VW-COST", 1),
    "malformed.dat": ("COM-NUL", 1),
    "multilabel": ("VW-MULTILABEL", 1),
    "rcv1_raw_cb_small.vw.gz": ("VW-BANDIT", 1),
}


def test_every_vw_file_is_read_or_refused_at_a_place(shared_data):
    refused = {}
    for path in sorted((shared_data / "vw").iterdir()):
        with open_stream(path, "vw") as stream:
            try:
                rows = sum(len(batch) for batch in stream)
            except BearError as error:
                refused[path.name] = (error.code, getattr(error, "line", 0))
            else:
                counts = stream.counts
                assert rows == counts.examples + counts.unlabelled == counts.lines - counts.blank
    assert refused == REFUSED


def test_rcv1_of_vowpal_wabbit(shared_data):
    entries = 0
    with open_stream(shared_data / "vw" / "rcv1_small.dat.gz") as stream:
        for batch in stream:
            entries += batch.n_entries
    assert (stream.format, stream.counts.examples) == ("vw", 1000)
    assert round(entries / 1000, 1) == 77.7
