"""Seeded data for the campaign: examples with planted features among noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np


def rows(n: int, nnz: int, p: int, *, names: bool, seed: int = 0) -> Iterator[str]:
    """Lines of svmlight, or of VW with names; ids uniform below ``p``."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < n:
        some = min(n - done, max(1, 200_000 // nnz))
        ids = rng.integers(0, p, (some, nnz), dtype=np.uint64)
        sides = rng.integers(0, 2, some)
        planted = rng.integers(0, 20, some)
        for row, side, extra in zip(ids, sides, planted, strict=True):
            if names:
                words = " ".join(f"n{key}" for key in row.tolist())
                yield f"{side} |w s{side}{extra} {words}\n"
            else:
                keys = sorted({int(side) * 20 + int(extra), *row.tolist()})
                yield f"{side} " + " ".join(f"{key}:1" for key in keys) + "\n"
        done += some


def write(path: Path, n: int, nnz: int, p: int, *, names: bool, seed: int = 0) -> Path:
    """File of such lines; made once."""
    if not path.exists():
        with path.open("w") as file:
            file.writelines(rows(n, nnz, p, names=names, seed=seed))
    return path
