"""A data folder like the real one, made up and tiny."""

import gzip
import io
import json
import tarfile

import numpy as np
import pytest

from tests.experiments.serving import server  # noqa: F401 (a fixture)

GOOD, BAD = ["great", "lovely", "superb"], ["awful", "boring", "dreadful"]
FILLER = [f"word{i}" for i in range(40)]


def write_gzip(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def write_tar(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as archive:
        for name, text in members:
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))


def sentence(random, label):
    words = [*random.choice(FILLER, 12), *random.choice(GOOD if label else BAD, 2)]
    return " ".join(random.permutation(words)).encode()


def svmlight(random, n):
    """Rows whose first features tell the label; 1-based, of length one."""
    lines = []
    for _ in range(n):
        label = int(random.random() < 0.5)
        keys = sorted(
            {*random.choice(np.arange(1, 11) + 10 * label, 4), *random.integers(50, 400, 6)}
        )
        value = 1 / np.sqrt(len(keys))
        lines.append(f"{2 * label - 1} " + " ".join(f"{key}:{value:.6f}" for key in keys))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def made_up(tmp_path_factory):
    """Folder with a few hundred rows of every data set."""
    folder, random = tmp_path_factory.mktemp("data"), np.random.default_rng(5)
    text, clicks = folder / "text", folder / "clicks"
    for part, n in (("train", 600), ("test", 200)):
        write_gzip(text / "rcv1" / f"rcv1_binary_{part}.svm.gz", svmlight(random, n))
        rows = [f"{int(i % 9 == 0)} {i % 9}:1 {20 + i % 7}:1" for i in range(n)]
        write_gzip(clicks / "ipinyou" / f"{part}.fm.svm.gz", "\n".join(rows) + "\n")
    write_gzip(text / "farm-ads.svm.gz", svmlight(random, 200))
    groups = ["comp.graphics", "sci.space", "rec.autos", "talk.politics"]
    write_tar(
        text / "20news-bydate.tar.xz",
        [
            (f"20news-bydate-{part}/{group}/{i}", b"From: x\n\n" + sentence(random, label < 2))
            for part in ("train", "test")
            for label, group in enumerate(groups)
            for i in range(30)
        ],
    )
    write_tar(
        text / "imdb-aclImdb-labelled.tar.xz",
        [
            (f"aclImdb/{part}/{side}/{i}_7.txt", sentence(random, side == "pos") + b" na\xefve")
            for part in ("train", "test")
            for side in ("neg", "pos")
            for i in range(60)
        ],
    )
    write_tar(
        text / "spamassassin-raw.tar.xz",
        [
            (f"{kind}/{i:05d}.abc", b"To: y\n\n" + sentence(random, kind == "spam"))
            for kind in ("easy_ham", "spam")
            for i in range(50)
        ],
    )
    for name, stem in (("legitimate_36400", "http://library"), ("phishing_37175", "https://login")):
        urls = [f"{stem}{i}.example/page" for i in range(80)]
        write_gzip(text / "urls" / f"{name}.json.gz", json.dumps(urls))
    header = "id,click,hour,site,device\n"
    rows = "".join(f"{i},{int(i % 5 == 0)},9,s{i % 5},d{i % 11}\n" for i in range(100))
    write_gzip(clicks / "avazu-sample" / "train.csv.gz", header + rows)
    for part in ("dev", "test"):
        write_gzip(clicks / "avazu-sample" / f"{part}.csv.gz", rows[:300].rsplit("\n", 1)[0] + "\n")
    hashed = "".join(f"{i % 6},{1000 + i % 13}:0.5,0:1.0 {int(i % 6 == 0)}\n" for i in range(200))
    write_gzip(clicks / "hivemall_hashed24_10000.tsv.gz", hashed)
    for i in range(3):
        bases = "".join(random.choice(list("ACGT"), 3000)) + "N" + "ACGT" * 50
        record = f">one\n{bases[:1500]}\n{bases[1500:]}\n>two\n{'ACGTT' * 40}\n"
        write_gzip(folder / "genomes" / "bacteria15" / f"species_{i}.fna.gz", record)
    return folder
