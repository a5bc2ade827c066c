"""The table of equal bytes again, on many splits of training rows instead of the test rows.

Needs a folder that ``python -m experiments reproduce`` has prepared:

    python -m experiments.studies.splits reproduced/prepared out 12 avazu farm-ads ipinyou > table.csv

Test rows of click logs are too few to tell differences of a hundredth. Here a part of the training
rows is set aside (30 %, of more than 15,000 rows 20 %), everything runs as on test rows, steps of
the baselines searched anew, and scores are means over the splits. Features have other numbers in
every split, so that chance of hashing is averaged too. ``error`` is the standard error of the
difference between ours and the best baseline with one-byte cells. A stopped run continues.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from experiments.datasets import prepared_path
from experiments.datasets.prepared import Prepared
from experiments.grid import Store, run_all
from experiments.real import compare, equal_bytes


def resplit(name, prepared, folder, number):
    """Write the data set with other rows to score and other numbers of features."""
    path = prepared_path(name, folder)
    if path.exists():
        return
    rng = np.random.default_rng([1000, number])
    rows = prepared.train
    share = 0.3 if len(rows) < 15_000 else 0.2
    aside = np.zeros(len(rows), dtype=bool)
    aside[rng.permutation(len(rows))[: int(share * len(rows))]] = True
    old, of_entry = np.unique(rows.keys, return_inverse=True)
    new = rng.choice(prepared.dimension, len(old), replace=False).astype(np.uint64)
    keys = new[of_entry.ravel()]
    order = np.lexsort((keys, np.repeat(np.arange(len(rows)), np.diff(rows.indptr))))
    rows = replace(rows, keys=keys[order], values=rows.values[order])
    folder.mkdir(parents=True, exist_ok=True)
    replace(prepared, train=rows.keep(~aside), test=rows.keep(aside)).save(path)


def table_of(names, source, folder, number):
    """Rows of the table of equal bytes on one split."""
    folder = folder / f"split-{number}"
    for name in names:
        resplit(name, Prepared.load(prepared_path(name, source)), folder, number)
    experiment = equal_bytes(names, source, folder)
    store = Store(folder / "cells.jsonl")
    run_all(partial(experiment.jobs, 1), store, 2, lambda done, total: None)
    return list(experiment.rows(1, store.done))


def cell_of(row):
    """What a row is of, whatever the split."""
    return row["series"], row["dataset"], row["compression"], row["read_out"]


def main(source, folder, splits, names):
    tables = []
    for number in range(splits):
        tables.append(table_of(names, Path(source), Path(folder), number))
        print(f"split {number + 1} of {splits}", file=sys.stderr, flush=True)
    scores = {}
    for table in tables:
        for row in table:
            scores.setdefault(cell_of(row), []).append(row["score"])
    means = [
        {**row, "score": None if None in scores[cell_of(row)] else np.mean(scores[cell_of(row)])}
        for row in tables[0]
    ]
    out = None
    for found in compare(means):
        where = found["dataset"], found["compression"], found["read_out"]
        apart = np.subtract(
            scores[("bear+", *where)], scores[(f"{found['int8_best']}, int8", *where)]
        )
        error = apart.std(ddof=1) / np.sqrt(splits) if splits > 1 else None
        row = {**found, "error": error, "splits": splits}
        if out is None:
            out = csv.DictWriter(sys.stdout, list(row), lineterminator="\n")
            out.writeheader()
        out.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
