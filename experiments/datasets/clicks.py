"""Click logs: few clicks, one active feature per field."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bearsketch.batch import Batch
from bearsketch.reading import open_stream
from experiments.datasets.prepared import Prepared, join, numbered, take, unit_length

IPINYOU_FEATURES = 133_465
HASHED_FEATURES = 1 << 24
TEST_SHARE = 0.2
LEFT_OUT = ("id", "click", "hour")


def ipinyou(data: Path) -> Prepared:
    """Display ads, 16 fields, one click in a hundred; rows mixed, for they come in blocks."""
    folder, parts = data / "clicks" / "ipinyou", []
    for part in ("train", "test"):
        path = folder / f"{part}.fm.svm.gz"
        with open_stream(path, "svmlight", names=False, labels="number") as stream:
            rows = join(stream)
        assert rows.labels is not None
        rows = Batch(rows.indptr, rows.keys, rows.values, rows.labels.astype(np.int64))
        parts.append(take(unit_length(rows), np.random.default_rng(0).permutation(len(rows))))
    return Prepared(parts[0], parts[1], IPINYOU_FEATURES, 2)


def avazu(data: Path) -> Prepared:
    """Mobile ads of one hour in their order; the smaller two files are the test."""
    folder = data / "clicks" / "avazu-sample"
    with gzip.open(folder / "train.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    header, rows = rows[0], rows[1:]
    later: list[list[str]] = []
    for part in ("dev", "test"):
        with gzip.open(folder / f"{part}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            later += csv.reader(file)
    train, test, dimension = numbered(*(_one_hot(header, part) for part in (rows, later)))
    return Prepared(train, test, dimension, 2)


def hashed24(data: Path) -> Prepared:
    """Features hashed to 2^24 by their maker, one click in 23; a mixed fifth is the test."""
    path = data / "clicks" / "hivemall_hashed24_10000.tsv.gz"
    with gzip.open(path, "rt", encoding="ascii") as file:
        lines = [line.split() for line in file]
    rows = [dict(_feature(word) for word in words.split(",")) for words, _ in lines]
    every = unit_length(_batch(rows, [int(float(label)) for _, label in lines]))
    order = np.random.default_rng(0).permutation(len(every))
    cut = int(len(every) * (1 - TEST_SHARE))
    return Prepared(take(every, order[:cut]), take(every, order[cut:]), HASHED_FEATURES, 2)


def _feature(word: str) -> tuple[int, float]:
    key, _, value = word.partition(":")
    return int(key), float(value or 1.0)


def _one_hot(header: list[str], rows: Iterable[list[str]]) -> Batch:
    label = header.index("click")
    columns = [i for i, name in enumerate(header) if name not in LEFT_OUT]
    named = [[f"{header[i]}={row[i]}" for i in columns] for row in rows]
    batch = Batch.from_rows(named, np.array([int(row[label]) for row in rows]))
    return unit_length(Batch(batch.indptr, batch.keys, batch.values, batch.labels))


def _batch(rows: list[dict[int, float]], labels: list[int]) -> Batch:
    ordered = [sorted(row.items()) for row in rows]
    keys = np.array([key for row in ordered for key, _ in row], dtype=np.uint64)
    values = np.array([value for row in ordered for _, value in row], dtype=np.float32)
    return Batch(np.cumsum([0, *map(len, ordered)]), keys, values, np.array(labels))
