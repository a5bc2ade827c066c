"""Seeded workloads, made outside the timed call and written once to a folder."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from experiments.datasets import genomes

READ_BASES = 100
LONG_ROW = 3_700
CSR_FITS = 5  # RCV1 in memory is learned so many times per run: once is too short to time


@dataclass(frozen=True)
class Sizes:
    """How large the workloads are."""

    times: int = 20
    rows: int = 200_000
    reads: int = 60_000
    long_rows: int = 3_000

    @property
    def id_rows(self) -> int:
        return max(1, self.rows // 2)

    @property
    def river_rows(self) -> int:
        return max(1, self.rows // 10)


@dataclass(frozen=True)
class Data:
    """A workload on the disk: where it is, and how much of it there is."""

    path: Path
    rows: int
    bytes: int


def shared_data() -> Path | None:
    """Folder of the real data sets, or None."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BEARSKETCH_DATA", beside))
    return folder if folder.is_dir() else None


def rcv1_svmlight(folder: Path, times: int) -> Path:
    """RCV1 (or rows like it, where the data is absent) repeated, as svmlight."""
    path = folder / f"rcv1x{times}.svm"
    if not path.exists():
        path.write_bytes(_rcv1_part("train") * times)
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


def rcv1_csr(folder: Path) -> Data:
    """RCV1 as matrices ``{train,test}.npz`` and labels ``{train,test}.npy`` in a folder."""
    csr = folder / "csr"
    csr.mkdir(exist_ok=True)
    for part in ("test", "train"):
        (csr / part).write_bytes(_rcv1_part(part))
        X, y = load_svmlight_file(str(csr / part), n_features=50_000, dtype=np.float64)
        sparse.save_npz(csr / f"{part}.npz", X, compressed=False)
        np.save(csr / f"{part}.npy", y)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return Data(csr, CSR_FITS * X.shape[0], CSR_FITS * size)


def clicks(folder: Path, rows: int) -> Path:
    """Click-like rows: 30 named features in 6 namespaces, Zipf, with names as VW text."""
    path = folder / f"clicks{rows}.vw"
    if not path.exists():
        rng = np.random.default_rng(7)
        with path.open("w") as out:
            for start in range(0, rows, 10_000):
                _write_clicks(out, rng, min(10_000, rows - start))
    return path


def reads(folder: Path, n: int) -> Path | None:
    """Reads of 100 bases from 15 genomes, in a mixed order, as FASTA; None without the genomes."""
    data = shared_data()
    if data is None or not (data / "genomes" / "bacteria15").is_dir():
        return None
    path = folder / f"reads{n}.fasta"
    if not path.exists():
        paths = genomes.genome_paths(data)
        rng = np.random.default_rng(5)
        drawn = [
            (paths[i].name.partition(".")[0], read)
            for i in range(len(paths))
            for read in _draw(genomes.read_genome(paths[i]), -(-n // len(paths)), rng)
        ]
        with path.open("w") as out:
            for i in rng.permutation(len(drawn))[:n]:
                out.write(f">read{i} taxon={drawn[i][0]}\n{drawn[i][1]}\n")
    return path


def long_rows(folder: Path, rows: int) -> Path:
    """Rows of 3,700 of the 2^24 byte trigrams, like pages of webspam: unit rows, 200 that tell."""
    path = folder / f"long{rows}.svm"
    if not path.exists():
        rng = np.random.default_rng(11)
        trigrams = rng.permutation(1 << 24)
        telling = rng.standard_normal(200)
        with path.open("w") as out:
            for _ in range(rows):
                # Log-uniform ranks are Zipf's; many draws are the same few, so there are more of them.
                ranks = np.unique(np.exp(rng.random(3 * LONG_ROW) * np.log(1 << 24)).astype(int))
                ranks = np.sort(rng.permutation(ranks - 1)[:LONG_ROW])
                margin = telling[ranks[ranks < len(telling)]].sum()
                label = "+1" if margin + rng.standard_normal() > 0 else "-1"
                ids = np.sort(trigrams[ranks]) + 1
                values = rng.geometric(0.5, len(ids)) / np.sqrt(6.0 * len(ids))
                pairs = (f"{i}:{v:.6f}" for i, v in zip(ids, values, strict=True))
                out.write(f"{label} {' '.join(pairs)}\n")
    return path


def wide_ids(folder: Path, rows: int, bits: int) -> Path:
    """Rows of 40 ids drawn from all below 2^bits, as svmlight."""
    path = folder / f"ids{rows}below{bits}.svm"
    if not path.exists():
        rng = np.random.default_rng(13)
        with path.open("w") as out:
            for _ in range(rows):
                ids = np.unique(rng.integers(1, 1 << bits, 40, dtype=np.uint64))
                label = "+1" if rng.random() < 0.5 else "-1"
                out.write(f"{label} {' '.join(f'{i}:1' for i in ids)}\n")
    return path


def prepare(names: set[str], folder: Path, sizes: Sizes) -> dict[str, Data]:
    """Make the data of these names; one that cannot be made is left out."""
    made = {name: MAKERS[name](folder, sizes) for name in sorted(names)}
    return {name: _data(one) for name, one in made.items() if one is not None}


def _data(made: Data | Path) -> Data:
    if isinstance(made, Data):
        return made
    with made.open("rb") as lines:
        rows = sum(1 for line in lines if made.suffix != ".fasta" or line.startswith(b">"))
    return Data(made, rows, made.stat().st_size)


MAKERS: dict[str, Callable[[Path, Sizes], Data | Path | None]] = {
    "svm": lambda folder, sizes: rcv1_svmlight(folder, sizes.times),
    "vw": lambda folder, sizes: as_vw(rcv1_svmlight(folder, sizes.times)),
    "svm tenth": lambda folder, sizes: rcv1_svmlight(folder, max(1, sizes.times // 10)),
    "clicks": lambda folder, sizes: clicks(folder, sizes.rows),
    "few": lambda folder, _: clicks(folder, 10),
    "clicks river": lambda folder, sizes: clicks(folder, sizes.river_rows),
    "reads": lambda folder, sizes: reads(folder, sizes.reads),
    "csr": lambda folder, _: rcv1_csr(folder),
    "long": lambda folder, sizes: long_rows(folder, sizes.long_rows),
    "long vw": lambda folder, sizes: as_vw(long_rows(folder, sizes.long_rows)),
    "ids 20": lambda folder, sizes: wide_ids(folder, sizes.id_rows, 20),
    "ids 63": lambda folder, sizes: wide_ids(folder, sizes.id_rows, 63),
}


def _rcv1_part(part: str) -> bytes:
    data = shared_data()
    if data is None:
        return _like_rcv1(17_059, seed=3) if part == "train" else _like_rcv1(3_000, seed=4)
    return gzip.decompress((data / f"text/rcv1/rcv1_binary_{part}.svm.gz").read_bytes())


def _draw(genome: genomes.Bases, n: int, rng: np.random.Generator) -> list[str]:
    """Reads of a genome without unknown letters."""
    unknown = np.concatenate([[0], np.cumsum(genome < 0)])
    clean = np.flatnonzero(unknown[READ_BASES:] == unknown[:-READ_BASES])
    at = rng.choice(clean, n)
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)[genome[at[:, None] + np.arange(READ_BASES)]]
    return [row.tobytes().decode() for row in letters]


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


def _like_rcv1(rows: int, seed: int) -> bytes:
    """Made-up rows of about 75 words; a weight per word, the same for any seed, decides."""
    rng, weights = np.random.default_rng(seed), np.random.default_rng(2).standard_normal(47_236)
    lines = []
    for _ in range(rows):
        ids = np.unique(np.asarray(47_236 ** rng.random(90), dtype=np.int64))
        values = rng.random(len(ids))
        values /= np.linalg.norm(values)
        label = "+1" if values @ weights[ids] > 0 else "-1"
        lines.append(
            f"{label} " + " ".join(f"{i}:{v:.6f}" for i, v in zip(ids, values, strict=True))
        )
    return ("\n".join(lines) + "\n").encode()
