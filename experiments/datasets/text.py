"""News, reviews, mails and addresses: words, bigrams, characters and bytes as features."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from bearsketch.batch import Batch
from bearsketch.reading import open_stream
from experiments.datasets.prepared import (
    Prepared,
    join,
    numbered,
    shuffled,
    take,
    unit_length,
)

RCV1_FEATURES = 47_236
FARM_ADS_FEATURES = 54_877
TECHNICAL = ("comp.", "sci.")
NOT_WORDS = re.compile(rb"[^a-z0-9']+")
PREFIXES = ("https://", "http://", "www.")
TEST_SHARE = 0.2  # where the data itself names no test rows

Line = tuple[str, bytes]  # a label and the text


def rcv1(data: Path) -> Prepared:
    """News wire as cosine-normalised TF-IDF, two groups of topics."""
    folder = data / "text" / "rcv1"
    subset, fetched = (
        [folder / name.format(part) for part in ("train", "test")]
        for name in ("rcv1_binary_{}.svm.gz", "rcv1_{}.binary.bz2")
    )
    whole = all(path.exists() for path in fetched) and not any(path.exists() for path in subset)
    train, test = map(_svmlight, fetched if whole else subset)
    return Prepared(train, test, RCV1_FEATURES, 2)


def news_binary(data: Path) -> Prepared:
    """Newsgroups, computers and science against the rest; words and bigrams."""
    return _words(lambda part: news_lines(data, part, binary=True), 2)


def news(data: Path) -> Prepared:
    """Newsgroups, all 20; words and bigrams."""
    return _words(lambda part: news_lines(data, part, binary=False), 20)


def imdb(data: Path) -> Prepared:
    """Film reviews, good or bad; words and bigrams."""
    return _words(lambda part: imdb_lines(data, part), 2)


def spam(data: Path) -> Prepared:
    """Mails with headers as byte trigrams: 2^24 possible features, 1 + log of counts."""
    rows: dict[bool, list[tuple[int, bytes]]] = {False: [], True: []}
    for name, text in _members(data / "text" / "spamassassin-raw.tar.xz"):
        share = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) / 2**32
        rows[share < TEST_SHARE].append((int(name.startswith("spam")), text))
    train, test = (
        shuffled(unit_length(_trigrams(rows[part]), logarithm=True)) for part in (False, True)
    )
    return Prepared(train, test, 1 << 24, 2)


def urls(data: Path) -> Prepared:
    """Addresses of honest and of phishing pages; presence of 3 to 5 characters in a row."""
    folder, lines = data / "text" / "urls", []
    for label, name in (("0", "legitimate_36400"), ("1", "phishing_37175")):
        with gzip.open(folder / f"{name}.json.gz", "rt", encoding="utf-8") as file:
            lines += [(label, f"^{_bare(str(url))}$".encode()) for url in json.load(file)]
    every = _read(lines, ngrams=None, char_ngrams=(3, 5), presence=True, lowercase=False)
    train, test, dimension = numbered(*map(unit_length, _split(every)))
    return Prepared(train, test, dimension, 2)


def farm_ads(data: Path) -> Prepared:
    """Advertisements about animals, approved or not; presence of words."""
    train, test = map(unit_length, _split(_svmlight(data / "text" / "farm-ads.svm.gz")))
    return Prepared(train, test, FARM_ADS_FEATURES, 2)


def _split(every: Batch) -> tuple[Batch, Batch]:
    """Rows to learn from and rows to score, drawn at random."""
    order = np.random.default_rng(0).permutation(len(every))
    cut = int(len(every) * (1 - TEST_SHARE))
    return take(every, order[:cut]), take(every, order[cut:])


def news_lines(data: Path, part: str, *, binary: bool) -> list[Line]:
    """Messages of ``train`` or ``test`` without their headers, labelled by group, shuffled."""
    lines = []
    for name, text in _members(data / "text" / "20news-bydate.tar.xz"):
        folder, group, _ = name.split("/")
        if folder.endswith(part):
            label = str(int(group.startswith(TECHNICAL))) if binary else group
            lines.append((label, _plain(text[max(text.find(b"\n\n"), 0) :])))
    return _mixed(lines)


def imdb_lines(data: Path, part: str) -> list[Line]:
    """Reviews of ``train`` or ``test``, 1 for good, shuffled."""
    members = _members(data / "text" / "imdb-aclImdb-labelled.tar.xz")
    named = [(name.split("/"), text) for name, text in members]
    return _mixed([(str(int(n[2] == "pos")), _plain(text)) for n, text in named if n[1] == part])


def spam_lines(data: Path) -> list[Line]:
    """Mails without their headers as words, 1 for spam, shuffled."""
    return _mixed(
        [
            (str(int(name.startswith("spam"))), _plain(text[max(text.find(b"\n\n"), 0) :]))
            for name, text in _members(data / "text" / "spamassassin-raw.tar.xz")
        ]
    )


def _mixed(lines: list[Line]) -> list[Line]:
    return [lines[i] for i in np.random.default_rng(0).permutation(len(lines))]


def _plain(text: bytes) -> bytes:
    """Lower-case words of any eight-bit text with single blanks between."""
    return NOT_WORDS.sub(b" ", text.lower())


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield member.name, file.read()


def _bare(url: str) -> str:
    for prefix in PREFIXES:
        url = url.removeprefix(prefix)
    return re.sub(r"[\0\r\n]", " ", url)


def _words(lines: Callable[[str], list[Line]], classes: int) -> Prepared:
    """Words and bigrams as 1 + log of their counts, rows of length one."""
    parts = [lines(part) for part in ("train", "test")]
    groups = sorted({label for label, _ in parts[0]})
    number = {label: str(i) for i, label in enumerate(groups)}
    read = [
        _read([(number[a], text) for a, text in part], ngrams=(1, 2), presence=False)
        for part in parts
    ]
    train, test, dimension = numbered(*(unit_length(part, logarithm=True) for part in read))
    return Prepared(train, test, dimension, classes)


def _read(lines: list[Line], **options: object) -> Batch:
    source = io.BytesIO(b"".join(a.encode() + b"\t" + text + b"\n" for a, text in lines))
    with open_stream(source, "text", names=False, labels="number", **options) as stream:
        return _class_numbers(join(stream))


def _svmlight(path: Path) -> Batch:
    with open_stream(path, "svmlight", names=False, labels="number") as stream:
        rows = _class_numbers(join(stream))
    return replace(rows, keys=rows.keys - np.uint64(1))  # the file counts from 1


def _class_numbers(batch: Batch) -> Batch:
    """-1 and 1, or 0, 1, ..., as whole class numbers from 0 on."""
    assert batch.labels is not None
    labels = np.maximum(batch.labels, 0).astype(np.int64)
    return Batch(batch.indptr, batch.keys, batch.values, labels)


def _trigrams(mails: list[tuple[int, bytes]]) -> Batch:
    keys, counts = [], []
    for _, text in mails:
        code = np.frombuffer(text, dtype=np.uint8).astype(np.uint64)
        seen, count = np.unique(
            code[:-2] << np.uint64(16) | code[1:-1] << np.uint64(8) | code[2:], return_counts=True
        )
        keys.append(seen)
        counts.append(count.astype(np.float32))
    indptr = np.cumsum([0, *map(len, keys)], dtype=np.int64)
    labels = np.array([label for label, _ in mails])
    return Batch(indptr, np.concatenate(keys), np.concatenate(counts), labels)
