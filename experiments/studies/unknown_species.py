"""Reads of unknown species: right, wrong and unanswered, beside an exact k-mer look-up.

    python -m experiments.studies.unknown_species DATA FOLDER > table.tsv

Trained on 500 HiSeq reads of each of eight species of DATA/genomes/reads; tested on their other
reads and on all reads of two species that are not learned. Shares are of all tested reads. The
look-up holds every canonical k-mer of the training reads with the species it was seen in, and
answers with the species that most k-mers of a read were seen in alone, if there are enough of them
and no tie; its bytes are 8 for a k-mer and 1 for a species.
"""

from __future__ import annotations

import gzip
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from bearsketch.reading import open_stream
from bearsketch.training.session import Session

READS = "genomes/reads/kraken_HiSeq_accuracy.fa.gz"
UNKNOWN = ("B_fragilis", "V_cholerae")
TRAINED = 500
MEMORY = "512KiB"
LENGTHS = (7, 8, 9)
THRESHOLDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
LOOK_UP_LENGTHS = (12, 14, 16, 20)
LOOK_UP_HITS = (1, 2, 3, 5, 10)
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def read_records(path):
    """Species and bases of each record."""
    name, bases = "", []
    with gzip.open(path, "rt") as file:
        for line in file:
            if line.startswith(">"):
                if bases:
                    yield name, "".join(bases)
                name, bases = line[1:].split("_HiSeq")[0], []
            else:
                bases.append(line.strip())
    yield name, "".join(bases)


def split(path):
    """Training and test reads, both in random order."""
    by_species = defaultdict(list)
    for name, bases in read_records(path):
        by_species[name].append((name, bases))
    draw, train, test = random.Random(0), [], []
    for name, reads in sorted(by_species.items()):
        draw.shuffle(reads)
        cut = 0 if name in UNKNOWN else TRAINED
        train += reads[:cut]
        test += reads[cut:]
    draw.shuffle(train)
    draw.shuffle(test)
    return train, test


def write_fasta(reads, path):
    """Reads with the species as their label."""
    path.write_text("".join(f">{name}\n{bases}\n" for name, bases in reads))


def shares(answered, right, unknown):
    """Right, wrong, wrong of unknown species, and unanswered."""
    n = len(right)
    wrong = answered & ~right
    found = (answered & right, wrong, wrong & unknown, ~answered)
    return [f"{part.sum() / n:.4f}" for part in found]


def bearsketch_lines(folder, test, length):
    """One line for each threshold, of a model of k-mers of this length."""
    how = {"kmer": length, "label_regex": r"(\S+)"}
    with open_stream(folder / "train.fa", include_unlabelled=False, **how) as stream:
        training = Session(stream, memory=MEMORY)
        summary = training.run()
    learner = training.learner
    known = [learner.labels.label(number) for number in range(learner.config.n_classes)]
    with open_stream(folder / "test.fa", label_from="none", kmer=length) as stream:
        p = np.concatenate([learner.predict_proba(batch) for batch in stream])
    names = np.array([name for name, _ in test])
    right = np.array(known)[p.argmax(axis=1)] == names
    unknown = np.isin(names, UNKNOWN)
    size = learner.sizes.model_bytes
    accuracy = f"{summary.progressive_accuracy:.3f}"
    for least in THRESHOLDS:
        yield (
            f"bearsketch k={length} ({accuracy})",
            size,
            least,
            *shares(p.max(axis=1) >= least, right, unknown),
        )


def kmers(bases, length):
    """Canonical k-mers of a read, those with other letters left out."""
    for start in range(len(bases) - length + 1):
        one = bases[start : start + length]
        if not set(one) - set("ACGT"):
            yield min(one, one.translate(COMPLEMENT)[::-1])


def look_up_lines(train, test, length):
    """One line for each number of k-mers that an answer takes."""
    table = defaultdict(set)
    for name, bases in train:
        for one in kmers(bases, length):
            table[one].add(name)
    alone = {one: next(iter(names)) for one, names in table.items() if len(names) == 1}
    votes = [
        Counter(alone[one] for one in kmers(bases, length) if one in alone).most_common(2)
        for _, bases in test
    ]
    names = np.array([name for name, _ in test])
    unknown = np.isin(names, UNKNOWN)
    clear = np.array([len(v) == 1 or (len(v) > 1 and v[0][1] > v[1][1]) for v in votes])
    most = np.array([v[0][1] if v else 0 for v in votes])
    right = np.array([v[0][0] if v else "" for v in votes]) == names
    for hits in LOOK_UP_HITS:
        yield (
            f"look-up k={length}",
            9 * len(table),
            hits,
            *shares(clear & (most >= hits), right, unknown),
        )


def main():
    data, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    train, test = split(data / READS)
    write_fasta(train, folder / "train.fa")
    write_fasta(test, folder / "test.fa")
    print("method (accuracy while training)\tbytes\tleast\tright\twrong\twrong_unknown\tunanswered")
    for length in LENGTHS:
        for line in bearsketch_lines(folder, test, length):
            print("\t".join(map(str, line)), flush=True)
    for length in LOOK_UP_LENGTHS:
        for line in look_up_lines(train, test, length):
            print("\t".join(map(str, line)), flush=True)


if __name__ == "__main__":
    main()
