"""Table 2 in spirit: the words a reader sees first, and where selected k-mers occur."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import __version__
from bearsketch.learners import make_learner
from bearsketch.reading import open_stream
from bearsketch.training.session import Session
from experiments.datasets import DATASETS, genomes, prepared_path, text
from experiments.datasets.prepared import Prepared
from experiments.grid import Done, Experiment, Job

SHOWN = 20
WORD_MEMORY, WORD_K = "64KiB", 200
KMER_MEMORY, KMER_K = "8MiB", 3000

LINES: Mapping[str, Callable[[Path], list[text.Line]]] = {
    "20news": lambda data: text.news_lines(data, "train", binary=True),
    "spam": text.spam_lines,
    "imdb": lambda data: text.imdb_lines(data, "train"),
}


@dataclass(frozen=True, slots=True)
class Words:
    """The selected words of a corpus, learned as ``bearsketch train`` learns lines of text."""

    dataset: str
    data: Path = field(repr=False)
    seed: int = 0

    @property
    def key(self) -> str:
        """Data set, settings and version as JSON."""
        settings = [self.dataset, WORD_MEMORY, WORD_K, self.seed]
        return json.dumps({"words": settings, "version": __version__})

    @property
    def cost(self) -> float:
        """Like a run on the same data set."""
        return DATASETS[self.dataset].work

    def run(self) -> list[list[Any]]:
        """(word, weight) of the heaviest, heaviest first."""
        lines = LINES[self.dataset](self.data)
        source = io.BytesIO(b"".join(a.encode() + b"\t" + words + b"\n" for a, words in lines))
        options = {"include_unlabelled": False, "seed": self.seed}
        with open_stream(source, "text", **options) as stream:
            training = Session(stream, memory=WORD_MEMORY, k=WORD_K, seed=self.seed)
            training.run()
        found = training.learner.selected()
        return [[feature.name, feature.weight] for feature in list(found)[:SHOWN]]


@dataclass(frozen=True, slots=True)
class Kmers:
    """How often the k-mers selected for a species occur in its genome, and in the others."""

    data: Path = field(repr=False)
    folder: Path = field(repr=False)
    seed: int = 0

    @property
    def key(self) -> str:
        """Settings and version as JSON."""
        settings = [KMER_MEMORY, KMER_K, self.seed]
        return json.dumps({"kmers": settings, "version": __version__})

    @property
    def cost(self) -> float:
        """Like a run on the same data set."""
        return DATASETS["dna"].work

    def run(self) -> list[list[Any]]:
        """(species, k-mers, occurrences per million bases at home, elsewhere) of each species."""
        prepared = Prepared.load(prepared_path("dna", self.folder))
        learner = make_learner(
            memory=KMER_MEMORY,
            k=KMER_K,
            loss="softmax",
            classes=list(range(prepared.classes)),
            seed=self.seed,
        )
        learner.learn(prepared.train)
        selected = learner.selected()
        species = np.argmax(selected.all_weights, axis=1)
        paths = genomes.genome_paths(self.data)
        rates = np.array([_rates(path, selected.keys) for path in paths])
        found: list[list[Any]] = []
        for i, path in enumerate(paths):
            own = rates[:, species == i]
            if own.shape[1]:
                home, others = own[i].mean(), np.delete(own, i, axis=0).mean()
                found.append([_species(path), own.shape[1], float(home), float(others)])
        return found


def _species(path: Path) -> str:
    return path.name.split(".")[0].replace("_", " ").capitalize()


def _rates(path: Path, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Occurrences of k-mers per million bases of a genome."""
    bases = genomes.read_genome(path)
    codes = genomes.kmer_codes(bases)
    unknown = np.concatenate([[0], np.cumsum(bases < 0)])
    codes = codes[unknown[genomes.KMER :] == unknown[: -genomes.KMER]]
    counts = np.bincount(codes, minlength=4**genomes.KMER)
    return np.asarray(counts[keys.astype(np.int64)] * (1e6 / len(codes)))


def table2(names: Sequence[str], data: Path, folder: Path) -> Experiment:
    """Words of each corpus, and k-mers of each species."""

    def jobs(seeds: int, done: Done) -> list[Job]:
        words: list[Job] = [Words(name, data) for name in names if name in LINES]
        return words + ([Kmers(data, folder)] if "dna" in names else [])

    def rows(seeds: int, done: Done) -> Iterator[dict[str, Any]]:
        blank = dict.fromkeys(("feature", "weight", "kmers", "per_million", "elsewhere"))
        for job in jobs(seeds, done):
            for result in done.get(job.key, ()):
                if isinstance(job, Words):
                    row = {"feature": result[0], "weight": result[1]}
                    yield {"dataset": job.dataset, **blank, **row, "version": __version__}
                else:
                    row = dict(zip(("feature", *list(blank)[2:]), result, strict=True))
                    yield {"dataset": "dna", **blank, **row, "version": __version__}

    return Experiment("Selected words and k-mers", jobs, rows)
