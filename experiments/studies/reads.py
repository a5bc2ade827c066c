"""Reads at the paper's size: one pass of ``bearsketch train``, CPU time, peak memory and accuracy.

    python -m experiments.studies.reads DATA FOLDER 1MiB 16MiB > table.csv

DATA holds ``genomes``; the drawn reads stay in FOLDER as FASTA files, for a second run.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from experiments.datasets.genomes import draw_bases, genome_paths, read_genome

READS = {"train": (600_000, 1), "test": (30_000, 2)}  # how many, and the seed
LETTERS = np.frombuffer(b"ACGT", dtype=np.uint8)


def write_reads(data, folder):
    """FASTA files with the species in the header."""
    paths = genome_paths(data)
    names = [path.name.split(".")[0] for path in paths]
    genomes = [read_genome(path) for path in paths]
    for part, (n, seed) in READS.items():
        reads, labels = draw_bases(genomes, n, seed)
        with (folder / f"{part}.fa").open("wb") as file:
            for i, label in enumerate(labels):
                file.write(b">%d species=%s\n" % (i, names[label].encode()))
                file.write(LETTERS[reads[i]].tobytes() + b"\n")


def command(*words):
    """Run bearsketch: its JSON and its CPU seconds."""
    program = Path(sys.executable).with_name("bearsketch")
    child = subprocess.Popen([program, *map(str, words), "--json"], stdout=subprocess.PIPE)
    text = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"bearsketch {words[0]} failed")
    return json.loads(text), used.ru_utime + used.ru_stime


def main():
    data, folder, budgets = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    if not all((folder / f"{part}.fa").exists() for part in READS):
        write_reads(data, folder)
    reading = "--label-regex", r"species=(\w+)"
    table = csv.writer(sys.stdout)
    table.writerow(["memory", "accuracy", "selected_only", "cpu_seconds", "peak_mib"])
    for memory in budgets:
        model = folder / f"{memory}.bear"
        options = "--kmer", 12, "--memory", memory, "-o", model
        trained, cpu = command("train", folder / "train.fa", *reading, *options)
        found, _ = command("evaluate", model, folder / "test.fa", *reading)
        told = found["accuracy"], found["selected_only"]["accuracy"]
        peak = trained["peak_rss_bytes"] / 2**20
        table.writerow([memory, *told, f"{cpu:.1f}", f"{peak:.0f}"])


if __name__ == "__main__":
    main()
