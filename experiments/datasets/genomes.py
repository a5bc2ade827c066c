"""Reads drawn from genomes, as counts of their k-mers."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from experiments.datasets.prepared import Prepared

KMER = 12
READ_BASES = 100
TRAIN_READS, TEST_READS = 60_000, 15_000
TRAIN_SEED, TEST_SEED = 1, 2

Bases = npt.NDArray[np.int8]


def dna(data: Path) -> Prepared:
    """Which of 15 bacteria a read of 100 bases comes from; 4^12 possible features."""
    genomes = [read_genome(path) for path in genome_paths(data)]
    return Prepared(
        draw_reads(genomes, TRAIN_READS, TRAIN_SEED),
        draw_reads(genomes, TEST_READS, TEST_SEED),
        4**KMER,
        len(genomes),
    )


def genome_paths(data: Path) -> list[Path]:
    """Files of the genomes; class numbers are places in this list."""
    folder = data / "genomes" / "bacteria15"
    found = sorted(folder.glob("*.fna.gz"))
    if not found:
        raise FileNotFoundError(f"no *.fna.gz in {folder}")
    return found


def read_genome(path: Path) -> Bases:
    """Bases of all records as 0 to 3, and -1 for any other letter and between records."""
    with gzip.open(path, "rb") as file:
        records = file.read().upper().split(b">")[1:]
    letters = b"N".join(b"".join(record.split(b"\n")[1:]) for record in records)
    code = np.full(256, -1, dtype=np.int8)
    code[list(b"ACGT")] = range(4)
    return np.asarray(code[np.frombuffer(letters, dtype=np.uint8)])


def draw_reads(genomes: list[Bases], n: int, seed: int) -> Batch:
    """K-mers of reads drawn from anywhere, equally many of each genome, in a mixed order.

    Examples
    --------
    >>> genomes = [np.zeros(500, dtype=np.int8), np.full(500, 3, dtype=np.int8)]
    >>> draw_reads(genomes, 4, seed=0).keys
    array([       0,        0, 16777215, 16777215], dtype=uint64)
    """
    return _kmers(*draw_bases(genomes, n, seed))


def draw_bases(genomes: list[Bases], n: int, seed: int) -> tuple[Bases, npt.NDArray[np.int64]]:
    """Return the reads themselves, one a row, and the place of each one's genome in the list."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(n) % len(genomes))
    reads = np.empty((n, READ_BASES), dtype=np.int8)
    for label, genome in enumerate(genomes):
        unknown = np.concatenate([[0], np.cumsum(genome < 0)])
        clean = np.flatnonzero(unknown[READ_BASES:] == unknown[:-READ_BASES])
        starts = random.choice(clean, int((labels == label).sum()))
        reads[labels == label] = genome[starts[:, None] + np.arange(READ_BASES)]
    return reads, labels


def kmer_codes(bases: Bases) -> npt.NDArray[np.int64]:
    """Give the number of the k-mer at each place, along the last axis."""
    n = bases.shape[-1] - KMER + 1
    codes = np.zeros((*bases.shape[:-1], n), dtype=np.int64)
    for j in range(KMER):
        codes = codes * 4 + bases[..., j : j + n]
    return codes


def _kmers(reads: Bases, labels: npt.NDArray[np.int64]) -> Batch:
    codes = kmer_codes(reads)
    codes.sort(axis=1)
    n, windows = codes.shape
    flat = codes.ravel()
    first = np.ones(n * windows, dtype=bool)
    first[1:] = flat[1:] != flat[:-1]
    first[::windows] = True
    at = np.flatnonzero(first)
    counts = np.diff(np.concatenate([at, [n * windows]]))
    indptr = np.searchsorted(at, np.arange(n + 1) * windows)
    values = (counts / np.sqrt(windows)).astype(np.float32)
    return Batch(indptr, flat[at].astype(np.uint64), values, labels)
