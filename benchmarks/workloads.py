"""Seeded workloads, made outside the timed call and written once to a folder."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np


def shared_data() -> Path | None:
    """Folder of the real data sets, or None."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BEARSKETCH_DATA", beside))
    return folder if folder.is_dir() else None


def rcv1_svmlight(folder: Path, times: int) -> Path:
    """RCV1 (or rows like it, where the data is absent) repeated, as svmlight."""
    path = folder / f"rcv1x{times}.svm"
    if not path.exists():
        data = shared_data()
        once = (
            gzip.decompress((data / "text/rcv1/rcv1_binary_train.svm.gz").read_bytes())
            if data
            else _like_rcv1()
        )
        path.write_bytes(once * times)
    return path


def as_vw(svmlight: Path) -> Path:
    """The same rows as Vowpal Wabbit text."""
    path = svmlight.with_suffix(".vw")
    if not path.exists():
        with svmlight.open() as lines, path.open("w") as out:
            for line in lines:
                label, _, features = line.partition(" ")
                out.write(f"{label} | {features}")
    return path


def clicks(folder: Path, rows: int) -> Path:
    """Click-like rows: 30 named features in 6 namespaces, Zipf, with names as VW text."""
    path = folder / f"clicks{rows}.vw"
    if not path.exists():
        rng = np.random.default_rng(7)
        with path.open("w") as out:
            for start in range(0, rows, 10_000):
                _write_clicks(out, rng, min(10_000, rows - start))
    return path


def _write_clicks(out, rng: np.random.Generator, rows: int) -> None:
    values = np.asarray(10**6 ** rng.random((rows, 6, 5)), dtype=np.int64)
    clicked = rng.random(rows) < 0.2 + 0.2 * (values[:, 0, 0] % 3 == 0)
    spaces = ("user", "site", "ad", "query", "device", "time")
    for i in range(rows):
        parts = [
            f"|{name} " + " ".join(f"{name[0]}{j}_{v}" for j, v in enumerate(values[i, s]))
            for s, name in enumerate(spaces)
        ]
        out.write(f"{1 if clicked[i] else -1} {' '.join(parts)}\n")


def _like_rcv1() -> bytes:
    rng = np.random.default_rng(3)
    lines = []
    for _ in range(17_059):
        ids = np.unique(np.asarray(47_236 ** rng.random(90), dtype=np.int64))
        values = rng.random(len(ids))
        values /= np.linalg.norm(values)
        label = "+1" if rng.random() < 0.5 else "-1"
        lines.append(
            f"{label} " + " ".join(f"{i}:{v:.6f}" for i, v in zip(ids, values, strict=True))
        )
    return ("\n".join(lines) + "\n").encode()
