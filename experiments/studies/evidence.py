"""False and found shares of proven names: planted words, shuffled labels, worst dependence.

    python -m experiments.studies.evidence planted --seeds 20
    python -m experiments.studies.evidence shuffled --runs 40 rcv1_binary_train.svm.gz ...
    python -m experiments.studies.evidence dependence --runs 300

Every subcommand prints a table of tab-separated values; docs/explanation/evidence.md has them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

from bearsketch import Batch, make_learner
from bearsketch.reading import open_stream

LEVELS = (0.05, 0.1, 0.2)
PLANTED, VOCABULARY, WORDS = 60, 200_000, 40


def planted_rows(n, seed, *, share=0.5, drift=False, squared=False):
    """Zipf words of which 60 shift the log odds (or the mean) by .3 to 2; whether each is true."""
    rng = np.random.default_rng(seed)
    law = 1.0 / np.arange(3, VOCABULARY + 3) ** 1.07
    words = np.searchsorted(np.cumsum(law / law.sum()), rng.random((n, WORDS)))
    words = np.minimum(words, VOCABULARY - 1)
    ranks = np.unique(np.exp(rng.uniform(np.log(20), np.log(4000), 40 * PLANTED)).astype(int))
    true = rng.choice(ranks, PLANTED, replace=False)
    if drift:  # half of the words become frequent along the stream, half become rare
        at = (np.arange(n) / n)[:, None]
        stay = np.where((words * 2654435761 >> 7) % 2 == 0, at, 1.0 - at)
        words = np.where((rng.random(words.shape) < stay) | np.isin(words, true), words, -1)
    effect = np.zeros(VOCABULARY + 1)
    effect[true] = rng.uniform(0.3, 2.0, PLANTED) * rng.choice([-1, 1], PLANTED)
    words.sort(axis=1)
    words[:, 1:][words[:, 1:] == words[:, :-1]] = -1
    words.sort(axis=1)
    margin = effect[words].sum(axis=1)
    if squared:
        labels = margin + rng.normal(size=n)
    else:
        low, high = -30.0, 30.0
        for _ in range(50):
            middle = (low + high) / 2.0
            above = (1.0 / (1.0 + np.exp(-margin - middle))).mean() > share
            low, high = (low, middle) if above else (middle, high)
        trend = 2.0 * (np.arange(n) / n - 0.5) if drift else 0.0
        labels = (rng.random(n) < 1.0 / (1.0 + np.exp(-margin - middle - trend))).astype(float)
    kept = words >= 0
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    keys = words[kept].astype(np.uint64)
    return Batch(indptr, keys, np.ones(len(keys), np.float32), labels=labels), set(true.tolist())


SCENARIOS = {
    "independent": {},
    "3 % positive": {"share": 0.03},
    "drift": {"drift": True},
    "regression": {"squared": True},
}


def planted(seeds):
    """Share of false names and true names found, by scenario, memory and level."""
    print("scenario\tmemory\tlabels\tlevel\tfalse share\t2 s.e.\tfound\tselected true")
    for name, options in SCENARIOS.items():
        for memory, k in (("4KiB", 100), ("16KiB", 200), ("64KiB", 200)):
            found = defaultdict(list)
            for seed in range(seeds):
                batch, true = planted_rows(20_000, seed, **options)
                shuffled = np.random.default_rng(seed).permutation(batch.labels)
                for labels, own in (("real", batch), ("shuffled", relabelled(batch, shuffled))):
                    loss = "squared" if "squared" in options else "logistic"
                    learner = make_learner(k=k, memory=memory, loss=loss)
                    learner.learn(own)
                    selected = learner.selected()
                    right = np.array([int(key) in true for key in selected.keys])
                    right &= labels == "real"
                    for level in LEVELS:
                        listed = selected.fdr <= level
                        false = (listed & ~right).sum() / max(listed.sum(), 1)
                        found[labels, level].append((false, (listed & right).sum(), right.sum()))
            for (labels, level), rows in found.items():
                mean, error = np.mean(rows, axis=0), 2 * np.std(rows, axis=0) / len(rows) ** 0.5
                print(
                    f"{name}\t{memory}\t{labels}\t{level}\t{mean[0]:.4f}\t{error[0]:.4f}"
                    f"\t{mean[1]:.1f}\t{mean[2]:.1f}",
                    flush=True,
                )


def relabelled(batch, labels):
    """Copy a batch with other labels."""
    return Batch(
        batch.indptr,
        batch.keys,
        batch.values,
        labels=labels,
        names=batch.names,
        naming=batch.naming,
        seed=batch.seed,
    )


def whole(path, options):
    """Read all examples of a file as one batch, without names, and its classes as numbers."""
    with open_stream([path], include_unlabelled=False, **options) as stream:
        parts = list(stream)
    indptr, at = [np.zeros(1, np.int64)], 0
    for part in parts:
        indptr.append(part.indptr[1:] + at)
        at += part.n_entries
    labels = np.concatenate([part.labels for part in parts])
    classes, numbers = np.unique(labels, return_inverse=True)
    keys = np.concatenate([part.keys for part in parts])
    values = np.concatenate([part.values for part in parts])
    return Batch(np.concatenate(indptr), keys, values, labels=numbers.astype(float)), len(classes)


def shuffled(paths, runs, options):
    """Names proven on real labels, and on labels in random order; levels .05, .1, .2."""
    print("data\trows\tclasses\treal .05/.1/.2\truns that name, shuffled .05/.1/.2\truns")
    for path in paths:
        batch, classes = whole(path, options)
        counts = []
        for run in range(runs + 1):
            labels = batch.labels
            if run:
                labels = np.random.default_rng(run).permutation(labels)
            loss = "logistic" if classes == 2 else "softmax"
            learner = (
                make_learner(
                    k=500, memory="64KiB" if classes == 2 else "256KiB", loss=loss, classes=classes
                )
                if classes > 2
                else make_learner(k=500, memory="64KiB", loss=loss)
            )
            learner.learn(relabelled(batch, labels))
            fdr = learner.selected().fdr
            counts.append([(fdr <= level).sum() for level in LEVELS])
        real, noise = counts[0], (np.array(counts[1:]) > 0).sum(axis=0)
        name = path.rsplit("/", 1)[-1]
        print(
            f"{name}\t{len(batch)}\t{classes}\t{'/'.join(map(str, real))}"
            f"\t{'/'.join(map(str, noise))}\t{runs}",
            flush=True,
        )


def dependence(runs):
    """Runs that ever name a null feature, looked at 12 times, where features are copies."""
    print("distinct features\truns\tever named at .1\t.2\t.5")
    for distinct in (400, 20, 1):
        named = np.zeros(3)
        for run in range(runs):
            rng = np.random.default_rng([distinct, run])
            learner = make_learner(k=400, memory="64KiB")
            ever = np.zeros(3, bool)
            for _ in range(12):
                has = rng.random((200, distinct)) < rng.uniform(0.01, 0.5, distinct)
                has = np.repeat(has, 400 // distinct, axis=1)
                rows, columns = np.nonzero(has)
                indptr = np.searchsorted(rows, np.arange(201)).astype(np.int64)
                values = np.ones(len(columns), np.float32)
                labels = rng.integers(0, 2, 200)
                learner.learn(Batch(indptr, columns.astype(np.uint64), values, labels=labels))
                fdr = learner.selected().fdr
                ever |= [(fdr <= level).any() for level in (0.1, 0.2, 0.5)]
            named += ever
        print(f"{distinct}\t{runs}\t" + "\t".join(f"{x / runs:.3f}" for x in named), flush=True)


def main():
    """Run one of the studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    study = parser.add_subparsers(dest="study", required=True)
    study.add_parser("planted").add_argument("--seeds", type=int, default=20)
    real = study.add_parser("shuffled")
    real.add_argument("--runs", type=int, default=40)
    real.add_argument("--label-column")
    real.add_argument("paths", nargs="+")
    study.add_parser("dependence").add_argument("--runs", type=int, default=300)
    given = parser.parse_args()
    if given.study == "planted":
        planted(given.seeds)
    elif given.study == "dependence":
        dependence(given.runs)
    else:
        options = {"label_column": given.label_column} if given.label_column else {}
        shuffled(given.paths, given.runs, options)


if __name__ == "__main__":
    main()
