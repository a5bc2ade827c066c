"""How many names are proven on real data, and with its labels shuffled: a number of the README.

    python -m experiments.studies.proven --data DATA [rcv1 ...]

One pass of ``bear+`` with k = 500 and 64 KiB, names proven at a false discovery rate of 10 %; the
same with the training labels permuted. Writes ``docs/figures/proven.json``.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from bearsketch import make_learner
from experiments.datasets import DATASETS, prepare
from experiments.datasets.prepared import Prepared

TABLE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "proven.json"
K, MEMORY, FDR, RUNS = 500, "64KiB", 0.1, 10


def proven(rows, seed):
    """(selected, proven) after one pass."""
    learner = make_learner(k=K, memory=MEMORY, classes=[0, 1], seed=seed)
    learner.learn(rows)
    return len(learner.selected()), len(learner.proven(fdr=FDR))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["rcv1"], choices=DATASETS, metavar="NAME")
    parser.add_argument("--data", type=Path, required=True, help="folder with text and clicks")
    parser.add_argument("--prepared", type=Path, default=Path("build/prepared"))
    options = parser.parse_args()
    found = {}
    for name in options.names:
        rows = Prepared.load(prepare(name, options.data, options.prepared)).train
        selected, named = proven(rows, 0)
        noise = []
        for run in range(RUNS):
            labels = np.random.default_rng(run).permutation(rows.labels)
            noise.append(proven(replace(rows, labels=labels), 0)[1])
        found[name] = {"title": DATASETS[name].title, "rows": len(rows), "selected": selected}
        found[name] |= {"named": named, "shuffled_named": noise}
        print(name, found[name])
    about = {"fdr": FDR, "k": K, "memory": MEMORY, "sets": found}
    TABLE.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
