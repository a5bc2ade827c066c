"""Random sparse streams, as rows of {key: value} and as the batches a learner takes."""

from __future__ import annotations

import numpy as np

from bearsketch import Batch

LOSSES = {"squared": 1, "logistic": 1, "softmax": 4}  # weights per key


def key_pool(n: int, seed: int = 0) -> np.ndarray:
    """Distinct 64-bit keys, the extremes among them."""
    keys = np.random.default_rng([seed, 64]).integers(0, 2**64, n, dtype=np.uint64)
    keys[:2] = 0, 2**64 - 1
    return np.unique(keys)


def stream(
    loss: str, pool: np.ndarray, *, n_rows: int, active: int, seed: int = 0
) -> tuple[list[dict[int, float]], np.ndarray]:
    """Rows whose labels follow planted weights, with noise and a few empty rows."""
    rng = np.random.default_rng(seed)
    planted = np.where(rng.random(len(pool)) < 0.2, rng.normal(size=len(pool)) * 3, 0.0)
    several = rng.normal(size=(len(pool), 4)) * (planted != 0)[:, None]
    rows, labels = [], np.empty(n_rows)
    for i in range(n_rows):
        n = rng.integers(0, active + 1)
        at = rng.choice(len(pool), n, replace=False)
        values = rng.normal(size=n).astype(np.float32)
        rows.append(dict(zip(pool[at].tolist(), values.tolist(), strict=True)))
        margin = values @ planted[at] + rng.normal() * 0.3
        labels[i] = {
            "squared": margin,
            "logistic": margin > 0,
            "softmax": np.argmax(values @ several[at] + rng.normal(size=4) * 0.1),
        }[loss]
    return rows, labels


def batch_of(rows: list[dict[int, float]], labels=None, weights=None) -> Batch:
    keys = [key for row in rows for key in sorted(row)]
    values = [row[key] for row in rows for key in sorted(row)]
    return Batch(
        np.cumsum([0, *map(len, rows)]),
        np.array(keys, dtype=np.uint64),
        np.array(values, dtype=np.float32),
        labels=labels,
        weights=weights,
    )


# What bear+ refuses by name: it has one row of one-byte cells and finds its steps and prior itself.
FIXED = ("depth", "precision", "query", "reads", "step_size", "l2")


def fitting(learner, options):
    """Options, but for those that a learner has none of."""
    if learner != "bear+":
        return options
    return {name: value for name, value in options.items() if name not in FIXED}
