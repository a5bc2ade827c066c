"""Probabilities before and after calibration, on every data set at hand.

    python -m experiments.studies.calibration DATA PREPARED [CF,...] [NAME...] > table.tsv

Each model learns the training rows once, in their order; log-loss and calibration error (ECE, less
what it would be by chance) are of the test rows, from margins as they are and as calibrated. The
map comes from the training rows alone. ``clicks3`` is made up: 22 categorical fields, 3 % positive.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bearsketch import Batch, make_learner
from bearsketch.metrics import ClassScores
from experiments.datasets import DATASETS, prepare
from experiments.datasets.prepared import Prepared

COMPRESSIONS = (10.0, 100.0, 1000.0)
FIELDS, TRAIN, TEST, RATE = 22, 40_000, 20_000, 0.03
ROWS = 1000
HEAD = (
    "data", "compression", "bytes", "features", "accuracy", "accuracy_calibrated", "log_loss",
    "log_loss_change", "ece", "ece_calibrated", "slope", "offset",
)  # fmt: skip


def made_up_clicks(seed: int = 0) -> Prepared:
    """Rows of one value a field, common ones more often, whose log-odds are linear."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 3000, FIELDS)
    firsts = np.concatenate([[0], np.cumsum(sizes)])
    weights = rng.normal(0.0, 0.5, firsts[-1])
    n = TRAIN + TEST
    within = (sizes * rng.random((n, FIELDS)) ** 3).astype(np.int64)
    keys = firsts[:-1] + np.minimum(within, sizes - 1)
    margins = weights[keys].sum(axis=1)
    low, high = -30.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _shares(margins + middle).mean() > RATE else (middle, high)
    labels = (rng.random(n) < _shares(margins + low)).astype(np.int64)

    def part(rows: slice) -> Batch:
        indptr = np.arange(0, (rows.stop - rows.start) * FIELDS + 1, FIELDS)
        own = keys[rows].astype(np.uint64).ravel()
        return Batch(indptr, own, np.ones(len(own), np.float32), labels[rows])

    return Prepared(part(slice(0, TRAIN)), part(slice(TRAIN, n)), int(firsts[-1]), 2)


def _shares(margins):
    return 1.0 / (1.0 + np.exp(-margins))


def lines(name: str, prepared: Prepared, compression: float):
    """One line for all features, and one for the selected alone."""
    columns = prepared.classes if prepared.classes > 2 else 1
    memory = max(int(4 * prepared.dimension * columns / compression), 512)
    loss = "logistic" if prepared.classes == 2 else "softmax"
    learner = make_learner(memory=memory, loss=loss, classes=list(range(prepared.classes)))
    for start in range(0, len(prepared.train), ROWS):
        learner.learn(prepared.train.rows(start, min(start + ROWS, len(prepared.train))))
    numbers = np.asarray(prepared.test.labels, dtype=np.intp)
    for way, fit in learner.calibration.items():
        only = way == "selected_only"
        margins = learner.predict_margin(prepared.test, selected_only=only)
        scores = []
        for given in (margins, learner.calibrated(margins, selected_only=only)):
            scores.append(ClassScores(prepared.classes, probabilities=True))
            scores[-1].add(numbers, given)
        raw, fitted = scores
        extra = [s.reliability.error - s.reliability.chance for s in scores]
        slope, offset = (1.0, 0.0) if fit is None else fit[1:]
        yield (
            name, f"{compression:g}", memory, way, f"{raw.accuracy:.4f}", f"{fitted.accuracy:.4f}",
            f"{raw.log_loss:.4f}", f"{fitted.log_loss - raw.log_loss:+.4f}", f"{extra[0]:.4f}",
            f"{extra[1]:.4f}", f"{slope:.3f}", f"{offset:+.3f}",
        )  # fmt: skip


def main() -> None:
    """Print the table."""
    data, folder = Path(sys.argv[1]), Path(sys.argv[2])
    given = sys.argv[3].split(",") if len(sys.argv) > 3 else ()
    compressions = [float(text) for text in given] or COMPRESSIONS
    print("\t".join(HEAD))
    for name in sys.argv[4:] or [*DATASETS, "clicks3"]:
        made_up = name == "clicks3"
        prepared = made_up_clicks() if made_up else Prepared.load(prepare(name, data, folder))
        for compression in compressions:
            for line in lines(name, prepared, compression):
                print("\t".join(map(str, line)), flush=True)


if __name__ == "__main__":
    main()
