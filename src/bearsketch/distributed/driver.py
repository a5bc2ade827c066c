"""The driver: rounds of tasks, each merged in the order of the partitions, once each."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bearsketch.distributed.pool import Lost, refuse_lost
from bearsketch.distributed.shards import Plan
from bearsketch.distributed.task import COUNTED, Job, Result, Round
from bearsketch.exceptions import (
    DataError,
    DistributedError,
    IncompatibleError,
    ModelFileError,
)
from bearsketch.learners import Learner
from bearsketch.learners.average import average
from bearsketch.learners.labels import both_negative
from bearsketch.metrics import Ranking
from bearsketch.reading.account import Account, unit_of
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.stream import FIELD_MISSING
from bearsketch.training.checkpoint import Checkpoints, load
from bearsketch.training.checks import check_weighed

Watch = Callable[["Driver"], None]
Held = Callable[[], AbstractContextManager[None]]


@dataclass
class Tally:
    """Sums over the partitions so far, those of the first pass for what describes the data."""

    examples: int = 0
    learned: int = 0
    loss: float = 0.0
    weight: float = 0.0
    right: float = 0.0
    order: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    skipped_by_code: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    warnings: list[tuple[str, str, str]] = field(default_factory=list)
    missing: list[str] | None = None  # what every partition says about fields it has not
    lost: list[str] = field(default_factory=list)
    curve: list[tuple[int, float, float | None]] = field(default_factory=list)
    ranking: Ranking = field(default_factory=Ranking)

    def add(self, results: list[Result], *, first_pass: bool, classes: bool) -> None:
        """Enter the results of one round, in the order of the partitions."""
        self.learned += sum(result.examples for result in results)
        if not first_pass:
            return
        before = (self.loss, self.weight, self.right)
        for result in results:
            self.examples += result.examples
            self.loss += result.loss
            self.weight += result.weight
            self.right += result.right
            self.ranking.join(result.ranking)
            before_it = self.order or [0.0] * len(result.order)
            self.order = [a + b for a, b in zip(before_it, result.order, strict=True)]
            self.counts.update(result.counts)
            self.skipped_by_code.update(result.skipped_by_code)
            self.errors = [*self.errors, *result.errors][:10]
            self._warn(result)
        loss, weight, right = (
            now - then
            for now, then in zip((self.loss, self.weight, self.right), before, strict=True)
        )
        if weight > 0.0:
            share = round(right / weight, 4) if classes else None
            self.curve.append((self.examples, float(f"{loss / weight:.6g}"), share))

    def _warn(self, result: Result) -> None:
        """Enter warnings; that a field is missing is for all partitions together to say."""
        missing = [text for code, _, text in result.warnings if code == FIELD_MISSING]
        if result.counts["lines"]:
            before = missing if self.missing is None else self.missing
            self.missing = [text for text in before if text in missing]
        others = [odd for odd in result.warnings if odd[0] != FIELD_MISSING]
        self.warnings += [odd for odd in others if odd not in self.warnings]

    @property
    def mean_loss(self) -> float | None:
        """Mean loss, each example predicted before it was learned."""
        return self.loss / self.weight if self.weight else None

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared error, for regression: the loss is half of that error."""
        return math.sqrt(2.0 * self.loss / self.weight) if self.weight else None

    @property
    def accuracy(self) -> float | None:
        """Share predicted right, each example before it was learned."""
        return self.right / self.weight if self.weight else None

    @property
    def auc(self) -> float | None:
        """Area under the ROC curve, likewise; None for all but two classes."""
        return self.ranking.auc

    def to_json(self) -> dict[str, Any]:
        """Plain values: all but the ranking."""
        return {name: getattr(self, name) for name in self._plain()}

    @classmethod
    def _plain(cls) -> list[str]:
        return [spec.name for spec in fields(cls) if spec.name != "ranking"]

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], ranking: Ranking) -> Tally:
        """Inverse of :meth:`to_json`."""
        tally = cls(**{name: plain[name] for name in cls._plain()}, ranking=ranking)
        tally.counts, tally.skipped_by_code = Counter(tally.counts), Counter(tally.skipped_by_code)
        tally.warnings = [(odd[0], odd[1], odd[2]) for odd in tally.warnings]
        return tally


class Taken(NamedTuple):
    """A result, and its model as a learner."""

    result: Result
    learner: Learner


class Driver:
    """Trains on a plan, round by round, with any runner.

    A round hands the present model and a partition each to the runner's workers. What comes back,
    in any order, is taken once for each partition, and merged in the order of the partitions. So
    the model depends on the plan alone: the number of workers, their speed, their deaths and the
    engine leave no trace in it.

    Parameters
    ----------
    plan : Plan
    learner : Learner
        Where to begin: new, or trained before.
    job : Job
    passes : int
    checkpoint : Checkpoints, optional
        Entered; written to after each round.

    Attributes
    ----------
    learner : Learner
        The model after the last round that is done.
    done : int
        Rounds done, over all passes.
    tally : Tally
    resumed_at : int
        Examples learned before a checkpoint that this driver continued from.
    """

    def __init__(
        self,
        plan: Plan,
        learner: Learner,
        job: Job,
        *,
        passes: int = 1,
        checkpoint: Checkpoints | None = None,
    ) -> None:
        self.plan, self.learner, self.passes = plan, learner, passes
        self.job = replace(job, alone=len(plan.partitions) == 1)
        self.done, self.tally, self.seconds = 0, Tally(), 0.0
        self.resumed_at = 0
        self.workers = 0
        self.running: dict[int, int] = {}  # examples so far by partition, of the present round
        self.finished: set[int] = set()
        self._checkpoint = checkpoint

    @property
    def rounds(self) -> int:
        """Rounds of all passes."""
        return self.plan.rounds * self.passes

    @property
    def _more(self) -> bool:
        """Whether there is a round after the present one."""
        return self.done + 1 < self.rounds

    def resume(self) -> bool:
        """Continue from the newest checkpoint if there is one; returns whether there was."""
        saved = None if self._checkpoint is None else self._checkpoint.newest(_read_round)
        if saved is None:
            return False
        for name, value in self._identity().items():
            if saved.record.get(name) != value:
                what = _difference(name, saved.record.get(name), value)
                raise IncompatibleError(
                    f"{saved.path} is of another run: {what}",
                    code="CKPT-OTHER",
                    hint="Give the same data, options, shards and rounds, or another checkpoint.",
                )
        self.learner = saved.learner
        self.done = saved.record["done"]
        self.tally = Tally.from_json(saved.record["tally"], saved.ranking)
        self.resumed_at = self.tally.learned
        return True

    def run(self, runner: Any, watch: Watch | None = None, held: Held = nullcontext) -> Learner:
        """Train to the end, or from where a checkpoint ended; returns the model.

        Checkpoints are written within ``held()``, which may put off signals.
        """
        start = time.perf_counter()
        self.workers = runner.workers
        while self.done < self.rounds:
            self._round(runner, watch)
            with held():
                self._save()
        self._check(final=True)
        self.seconds += time.perf_counter() - start
        return self.learner

    def _round(self, runner: Any, watch: Watch | None) -> None:
        n_pass, number = divmod(self.done, self.plan.rounds)
        parts = self.plan.of_round(number)
        self.running, self.finished = {}, set()

        def beat(partition: int, examples: int) -> None:
            if partition not in self.finished:  # words of a task may come after its result
                self.running[partition] = examples
            if watch is not None:
                watch(self)

        taken: dict[int, Taken] = {}
        digests: dict[int, str] = {}
        coming = self.plan.of_round((number + 1) % self.plan.rounds) if self._more else []
        asked = Round(self.learner.to_bytes(), parts, self.job, beat, coming)
        for answer in runner.run(asked):
            if isinstance(answer, Lost):
                self._lose(answer)
                continue
            # A result may arrive twice where an engine runs a task again.
            digest = answer.digest
            if digests.setdefault(answer.partition, digest) != digest:
                raise _disagreeing(parts, answer.partition)
            if answer.partition not in taken:  # read now, while others are still at work
                taken[answer.partition] = Taken(answer, Learner.from_bytes(answer.model))
            beat(answer.partition, answer.examples)
            self.finished.add(answer.partition)
        self._merge([taken[part.id] for part in parts if part.id in taken], n_pass)
        self.running, self.finished = {}, set()
        if watch is not None:
            watch(self)

    def _merge(self, taken: list[Taken], n_pass: int) -> None:
        classes = self.learner.config.loss != "squared"
        learned = [one.learner for one in taken if one.result.examples]
        if learned:
            _check_negatives(learned)
            self.learner = average(learned, None if self.job.alone else self.learner)
        results = [one.result for one in taken]
        self.tally.add(results, first_pass=n_pass == 0, classes=classes)
        self.done += 1
        if self.done % self.plan.rounds == 0:
            self.learner.finish_pass()
        self._check(final=False)

    def _lose(self, lost: Lost) -> None:
        if self.job.options.get("on_error") != "skip":
            raise refuse_lost(lost)
        self.tally.lost.append(f"{lost.partition.place}: {lost.reason}")

    def _check(self, *, final: bool) -> None:
        """Refuse too many broken lines, and a run without a single example."""
        options = ReadOptions(**self.job.options)
        unit = unit_of(self.job.format, options)
        if final and not self.tally.learned and not options.allow_empty:
            n = self.tally.counts["lines"] - self.tally.counts["header"]
            raise DataError(f"there is no example in {n} {unit}", code="SRC-EMPTY")
        if final:
            check_weighed(self.learner, self.tally.learned)
        if options.fails or (not final and self.tally.counts["lines"] < 1000):
            return
        account = Account(options, unit)
        account.counts.add({name: self.tally.counts[name] for name in COUNTED})
        account.counts.skipped_by_code.update(self.tally.skipped_by_code)
        account.finish()

    def _identity(self) -> dict[str, Any]:
        """Tell what a checkpoint must agree in."""
        options = json.loads(json.dumps(dict(self.job.options), default=repr, sort_keys=True))
        return {
            "kind": "rounds",
            "plan": self.plan.digest,
            "config": json.loads(json.dumps(self.learner.config.to_json())),
            "classes": json.loads(json.dumps(self.learner.labels.classes)),
            "passes": self.passes,
            "reads": self.job.format,
            "options": options,
            "version": self.job.version,
        }

    def _save(self) -> None:
        if self._checkpoint is None:
            return
        arrays = {"model": self.learner.to_bytes(), "ranking": self.tally.ranking.to_bytes()}
        record = {**self._identity(), "done": self.done, "tally": self.tally.to_json()}
        self._checkpoint.write(
            {name: np.frombuffer(data, dtype=np.uint8) for name, data in arrays.items()}, record
        )


class _Round(NamedTuple):
    """A checkpoint that was read."""

    path: Path
    learner: Learner
    ranking: Ranking
    record: dict[str, Any]


def _read_round(path: Path) -> _Round:
    arrays, record = load(path)
    if record.get("kind") != "rounds" or not {"model", "ranking"} <= set(arrays):
        raise ModelFileError(f"{path} is no checkpoint of rounds", code="CKPT-MODEL")
    ranking = Ranking()
    try:
        ranking.join(arrays["ranking"].tobytes())
    except ValueError as error:
        raise ModelFileError(f"{path} is damaged: {error}", code="CKPT-DAMAGED") from None
    return _Round(path, Learner.from_bytes(arrays["model"].tobytes()), ranking, record)


def _check_negatives(parts: list[Learner]) -> None:
    """Refuse parts of which some met -1 and others 0 for the negative class."""
    met = [part.labels.negative for part in parts if part.labels.negative is not None]
    if len(set(met)) > 1:
        raise both_negative(met[0])


def _difference(name: str, then: Any, now: Any) -> str:
    """Say in what a run differs from the one a checkpoint is of, with both values."""
    if name == "plan":  # a digest
        return "files, shards or rounds differ"
    found = f"{name} differs: "
    if isinstance(then, dict) and isinstance(now, dict):
        names = sorted({*then, *now})
        sides = [{n: side.get(n, _default(n)) for n in names} for side in (then, now)]
        name = next((n for n in names if sides[0][n] != sides[1][n]), name)
        then, now = sides[0].get(name), sides[1].get(name)
    else:
        name = "it"
    return f"{found}{name} was {then!r} when it was written, and is {now!r} now"


def _default(option: str) -> Any:
    """Give what an option of reading is that was not given, as a checkpoint would have it."""
    known = {spec.name: spec.default for spec in fields(ReadOptions) if spec.name != "limits"}
    return json.loads(json.dumps(known.get(option)))


def _disagreeing(parts: list[Any], number: int) -> DistributedError:
    place = next(part.place for part in parts if part.id == number)
    return DistributedError(
        f"{place} gave two results that differ: the task is not deterministic",
        code="DIST-DIFFERS",
        hint="Workers must have the same build of bearsketch and the same kind of processor.",
    )
