"""Accuracy against bytes for the first screen of the README: tuned rivals beside untuned bear+.

    python -m experiments.studies.accuracy_per_byte --data DATA [--only METHOD] [rcv1 avazu ...]

Writes ``docs/figures/accuracy-per-byte.json``; ``make figures`` draws it and fills the README.
``--only "bear+"`` measures one method again and keeps the rows of the others.

Every method sees the training rows once, in order, and is scored on the test rows with three hash
seeds. Rates of the rivals are tuned on training rows set aside, on a ladder of half decades that
grows while the best is at its edge. Which of a rival's update rules counts is decided in its
favour, by the test rows:

- Vowpal Wabbit: adaptive updates (16 bytes a slot, the default) or ``--sgd`` (4 bytes).
- scikit-learn: ``FeatureHasher`` and ``SGDClassifier``, weights charged 4 bytes each, with schedule
  ``constant`` or ``invscaling`` (``eta0`` tuned) or ``optimal`` (``alpha`` tuned).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import itertools
import json
import platform
import warnings
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from bearsketch import make_learner
from experiments.datasets import DATASETS, prepare
from experiments.datasets.prepared import Prepared
from experiments.equal_bytes import LADDER, score
from experiments.search import climb
from experiments.studies.vowpal_wabbit import SLOT_BYTES, as_lines, margins

TABLE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "accuracy-per-byte.json"
KIB = (1, 2, 4, 8, 16, 32, 64, 128)
SEEDS = range(3)
SEARCH_SEED = 99
SCHEDULES = {"constant": "eta0", "invscaling": "eta0", "optimal": "alpha"}
STARTS = {"eta0": (0.3, 1.0, 3.0), "alpha": (1e-5, 3e-5, 1e-4)}
CHUNK = 1000


@lru_cache(2)
def parts(data):
    """Rows by name; ``fit`` and ``rest`` are the training rows, ``rest`` set aside."""
    fit, rest = data.split()
    return {"fit": fit, "rest": rest, "train": data.train, "test": data.test}


def tested(run, start):
    """(best rate on the rows set aside, scores on the test rows)."""
    seen = cache(lambda rung: run(LADDER[rung], SEARCH_SEED, "fit", "rest"))
    rungs, place = climb(
        [LADDER.index(rate) for rate in start],
        len(LADDER),
        lambda rungs: max(range(len(rungs)), key=lambda i: seen(rungs[i])),
    )
    rate = LADDER[rungs[place]]
    return rate, [run(rate, seed, "train", "test") for seed in SEEDS]


def wabbit(data, kib, auc):
    """Settings and scores of Vowpal Wabbit, tuned."""
    lines = {part: as_lines(rows) for part, rows in parts(data).items()}
    found = []
    for kind, size in SLOT_BYTES.items():
        bits = int(np.log2(kib * 1024 // size))

        def run(rate, seed, fit, rows, kind=kind, bits=bits):
            got = margins(kind, bits, rate, seed, lines[fit], lines[rows])
            return score(parts(data)[rows], got, auc=auc)

        rate, scores = tested(run, (0.3, 1.0, 3.0))
        rule = " --sgd" if kind == "sgd" else ""
        found.append((scores, f"--loss_function logistic -b {bits} -l {rate:g}{rule}"))
    return max(found, key=lambda one: np.mean(one[0]))


def hashed(rows, width, seed):
    """Rows as FeatureHasher makes them."""
    from sklearn.feature_extraction import FeatureHasher

    names = np.char.add(f"{seed}:", rows.keys.astype(str))
    ends = rows.indptr.tolist()
    pairs = (
        zip(names[a:b].tolist(), rows.values[a:b].tolist(), strict=True)
        for a, b in itertools.pairwise(ends)
    )
    return FeatureHasher(width, input_type="pair").transform(pairs)


def descent(schedule, rate, X, labels, Z):
    """Margins after one pass of SGDClassifier."""
    from sklearn.linear_model import SGDClassifier

    name = SCHEDULES[schedule]
    given = {name: rate} if name == "alpha" else {name: rate, "alpha": 0.0}
    learner = SGDClassifier(loss="log_loss", learning_rate=schedule, shuffle=False, **given)
    for start in range(0, X.shape[0], CHUNK):
        part = slice(start, start + CHUNK)
        learner.partial_fit(X[part], labels[part], classes=[0, 1])
    return learner.decision_function(Z)[:, None]


def scikit(data, kib, auc):
    """Settings and scores of scikit-learn's hashing and SGD, tuned."""
    width = kib * 1024 // 4
    matrix = cache(lambda part, seed: hashed(parts(data)[part], width, seed))
    found = []
    for schedule, name in SCHEDULES.items():

        def run(rate, seed, fit, rows, schedule=schedule):
            got = descent(
                schedule, rate, matrix(fit, seed), parts(data)[fit].labels, matrix(rows, seed)
            )
            return score(parts(data)[rows], got, auc=auc)

        rate, scores = tested(run, STARTS[name])
        found.append((scores, f"n_features={width}, learning_rate={schedule}, {name}={rate:g}"))
    return max(found, key=lambda one: np.mean(one[0]))


def ours(data, kib, auc):
    """Scores with nothing set but the memory."""
    found = []
    for seed in SEEDS:
        learner = make_learner(memory=kib * 1024, classes=[0, 1], seed=seed)
        learner.learn(data.train)
        found.append(score(data.test, learner.predict_margin(data.test), auc=auc))
    return found, "defaults"


METHODS = {"Vowpal Wabbit, tuned": wabbit, "scikit-learn, tuned": scikit, "bear+, untuned": ours}


def measure(options):
    """Write the table, rows of methods that are not measured again kept."""
    warnings.simplefilter("ignore")
    only = [name for name in METHODS if options.only is None or name.startswith(options.only)]
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {"rows": []}
    table["versions"] = {
        name: importlib.metadata.version(name)
        for name in ("bearsketch", "scikit-learn", "vowpalwabbit")
    } | {"python": platform.python_version()}
    for name in options.names:
        data = Prepared.load(prepare(name, options.data, options.prepared))
        measure_name = "AUC" if DATASETS[name].skewed else "accuracy"
        about = {"title": DATASETS[name].title, "measure": measure_name, "train": len(data.train)}
        table.setdefault("sets", {})[name] = about | {"test": len(data.test)}
        for kib in KIB:
            for method in only:
                scores, settings = METHODS[method](data, kib, DATASETS[name].skewed)
                row = {"set": name, "kib": kib, "method": method, "settings": settings}
                row |= {"score": round(float(np.mean(scores)), 4)}
                row |= {"sd": round(float(np.std(scores, ddof=1)), 4)}
                same = ("set", "kib", "method")
                table["rows"] = [r for r in table["rows"] if any(r[k] != row[k] for k in same)]
                table["rows"].append(row)
                print(row, flush=True)
                rows = ",\n  ".join(json.dumps(row) for row in table["rows"])
                head = {key: value for key, value in table.items() if key != "rows"}
                text = json.dumps(head)[:-1] + f', "rows": [\n  {rows}\n]}}\n'
                TABLE.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["rcv1", "avazu"], metavar="NAME")
    parser.add_argument("--data", type=Path, required=True, help="folder with text and clicks")
    parser.add_argument("--prepared", type=Path, default=Path("build/prepared"))
    parser.add_argument("--only", help="a method that is measured again")
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
