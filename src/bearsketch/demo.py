"""The main job on data it makes itself: 30 planted phrases among 10^12 possible word pairs.

Messages are bags of word pairs over a vocabulary of a million made-up words (so 10^12 pairs are
possible), drawn with the long tail of real text. Thirty phrases speak for or against the label;
everything else is noise. A learner sees each message once and must name the thirty.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.files import write_whole
from bearsketch.keys import hash_names
from bearsketch.learners import Learner, make_learner
from bearsketch.metrics import ClassScores, Scores, make_scores
from bearsketch.training.curve import Curve

SPAM = """
free_prize wire_transfer act_now double_income lottery_winner risk_free claim_reward cheap_meds
urgent_reply lowest_price miracle_cure easy_cash exclusive_offer no_fees hidden_account
""".split()
HAM = """
meeting_notes quarterly_report pull_request code_review lunch_tomorrow school_pickup draft_attached
release_plan bug_fixed thank_you project_update flight_booking team_retreat budget_review
test_results
""".split()
PLANTED: dict[str, float] = {**dict.fromkeys(SPAM, 3.0), **dict.fromkeys(HAM, -3.0)}

VOCABULARY = 10**6
POSSIBLE = VOCABULARY**2
PAIRS_PER_MESSAGE = 40
PHRASE_RATE = 0.035  # share of messages each planted phrase occurs in
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SYLLABLES = [a + b for a in CONSONANTS for b in VOWELS] + [
    a + b + c for a in "bdklmnprst" for b in "aio" for c in "nrs"
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One learner after its pass, with its scores on other messages."""

    learner: Learner
    scores: dict[str, Scores]
    seconds: float

    @property
    def accuracy(self) -> float:
        """Accuracy on the test messages with all features."""
        scores = self.scores["all"]
        return (scores.accuracy or 0.0) if isinstance(scores, ClassScores) else 0.0

    @property
    def found(self) -> dict[str, float]:
        """Planted phrases among the selected, with their weights."""
        if self.learner.config.k == 0:
            return {}
        chosen = {feature.name: feature.weight for feature in self.learner.selected()}
        return {name: chosen[name] for name in PLANTED if name in chosen}

    def proven(self, fdr: float) -> list[str]:
        """Names proven at this false discovery rate, strongest first."""
        return list(self.learner.proven(fdr=fdr).names) if self.learner.config.k else []


def best_accuracy(batches: list[Batch]) -> float:
    """Accuracy of the planted weights themselves; half of the messages without any are right."""
    keys = hash_names(PLANTED).tolist()
    weights = dict(zip(keys, PLANTED.values(), strict=True))
    shares = []
    for batch in batches:
        planted = np.array([weights.get(key, 0.0) for key in batch.keys.tolist()])
        margins = np.add.reduceat(planted, batch.indptr[:-1])
        right = (margins > 0.0) == (np.asarray(batch.labels) > 0)
        shares.append(np.mean(np.where(margins == 0.0, 0.5, right)))
    return float(np.mean(shares))


def word(number: int) -> str:
    """Made-up word of a number below a million: three syllables, each number its own."""
    base = len(SYLLABLES)
    return "".join(SYLLABLES[number // base**place % base] for place in (2, 1, 0))


def bags(
    n_batches: int, *, rows: int = 500, seed: int = 1
) -> Iterator[tuple[list[list[str]], npt.NDArray[np.int64]]]:
    """Word pairs and labels of messages; the same seed gives the same messages."""
    rng = np.random.default_rng(seed)
    phrases = np.array(list(PLANTED))
    weights = np.array(list(PLANTED.values()))
    for _ in range(n_batches):
        pairs = _zipf_words(rng, (rows, PAIRS_PER_MESSAGE, 2))
        present = rng.random((rows, len(phrases))) < PHRASE_RATE
        margin = present @ weights + rng.logistic(scale=0.6, size=rows)
        found = [
            [f"{word(a)}_{word(b)}" for a, b in pairs[i]] + phrases[present[i]].tolist()
            for i in range(rows)
        ]
        yield found, np.where(margin > 0, 1, -1)


def messages(n_batches: int, *, rows: int = 500, seed: int = 1) -> Iterator[Batch]:
    """Give the messages of :func:`bags` as batches."""
    for found, labels in bags(n_batches, rows=rows, seed=seed):
        yield Batch.from_rows(found, labels)


def shuffled(batches: list[Batch], *, seed: int = 0) -> list[Batch]:
    """Give the same messages with their labels permuted: nothing is associated with them."""
    labels = np.concatenate([np.asarray(batch.labels) for batch in batches])
    parts = np.split(
        np.random.default_rng(seed).permutation(labels),
        np.cumsum([len(batch) for batch in batches])[:-1],
    )
    return [replace(batch, labels=part) for batch, part in zip(batches, parts, strict=True)]


def write(path: Path, n_batches: int, *, seed: int = 1) -> None:
    """Write the same messages as VW text, compressed."""
    lines = [
        f"{label} | {' '.join(names)}\n"
        for found, labels in bags(n_batches, seed=seed)
        for label, names in zip(labels.tolist(), found, strict=True)
    ]
    write_whole(path, gzip.compress("".join(lines).encode(), 1, mtime=0))


def _zipf_words(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Word numbers whose frequency falls like 1 / rank."""
    return np.asarray(VOCABULARY ** rng.random(shape), dtype=np.int64) - 1


def run(
    name: str, train: list[Batch], test: list[Batch], *, memory: str, k: int, seed: int = 0
) -> Outcome:
    """Train one learner in one pass and test it on messages it has not seen."""
    start = time.perf_counter()
    learner = make_learner(name, memory=memory, k=None if name == "fh" else k, seed=seed)
    curve, right, examples = Curve(), 0.0, 0
    for batch in train:
        progress = learner.learn(batch)
        hits = float(np.sum((progress.margins[:, 0] > 0) == (np.asarray(batch.labels) > 0)))
        curve.add(progress.examples, progress.loss * progress.weight, progress.weight, hits)
        right, examples = right + hits, examples + progress.examples
    seconds = time.perf_counter() - start
    learner.run = {
        "sources": ["messages of the demo"],
        "counts": {"examples": examples},
        "progressive_accuracy": right / max(examples, 1),
        "curve": curve.points(),
    }
    return Outcome(learner, _test(learner, test), seconds)


def _test(learner: Learner, test: list[Batch]) -> dict[str, Scores]:
    ways = {"all": False, **({"selected": True} if learner.config.k else {})}
    scores = {way: make_scores("logistic", 2, confusion=True) for way in ways}
    for batch in test:
        numbers = learner.labels.encode(np.asarray(batch.labels))
        for way, only in ways.items():
            margins = learner.predict_margin(batch, selected_only=only)
            scores[way].add(numbers, learner.calibrated(margins, selected_only=only))
    return scores
