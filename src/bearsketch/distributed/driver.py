"""The driver: rounds of tasks, each merged in the order of the partitions, once each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bearsketch.distributed.pool import Lost, refuse_lost
from bearsketch.distributed.prepare import Prepared
from bearsketch.distributed.shards import Plan
from bearsketch.distributed.task import Result, Round
from bearsketch.exceptions import (
    DataError,
    DistributedError,
    IncompatibleError,
    ModelFileError,
)
from bearsketch.learners import Learner
from bearsketch.learners.average import average
from bearsketch.learners.labels import both_negative
from bearsketch.reading.account import Account, unit_of
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.remember import read_record
from bearsketch.reading.stream import FIELD_MISSING
from bearsketch.training.checkpoint import Checkpoints, load
from bearsketch.training.labelling import ModelLabels
from bearsketch.training.session import LINE_COUNTS, Session, Sink
from bearsketch.training.warnings import RunWarning

Watch = Callable[["Driver"], None]
MOST_ERRORS_SHOWN = 10

Held = Callable[[], AbstractContextManager[None]]


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
    prepared : Prepared
    plan : Plan, optional
        Another plan for the same data than the prepared one.
    passes : int
    checkpoint : Checkpoints, optional
        Entered; written to after each round.
    sinks : sequence of Sink
        Hear of the session.

    Attributes
    ----------
    session : Session
        What the partitions so far come to; its learner is the model after the last round.
    done : int
        Rounds done, over all passes.
    errors, lost : list of str
        The first lines that were skipped, and the partitions that no worker could finish.
    """

    def __init__(
        self,
        prepared: Prepared,
        plan: Plan | None = None,
        *,
        passes: int = 1,
        checkpoint: Checkpoints | None = None,
        sinks: Sequence[Sink] = (),
    ) -> None:
        self.prepared, self.passes = prepared, passes
        self.plan: Plan = plan or prepared.plan
        self.job = replace(prepared.job, alone=len(self.plan.partitions) == 1)
        self._labels = ModelLabels(prepared.learner, every_class=not prepared.named)
        self.session = Session([], self._labels, passes=passes, sinks=sinks, threads=1)
        self.session.data_format = self.job.format
        self.session.begin_pass(1)
        self.session.learner = prepared.learner
        self.done = self.workers = 0
        self.errors: list[str] = []
        self.lost: list[str] = []
        self._missing: list[str] | None = None  # fields that no partition has
        self.running: dict[int, int] = {}  # examples so far by partition, of the present round
        self.finished: set[int] = set()
        self._checkpoint = checkpoint

    @property
    def learner(self) -> Learner:
        """The model after the last round that is done."""
        return self.session.learner

    @property
    def learned(self) -> int:
        """Examples learned in all rounds that are done."""
        return self.session.done + self.session.examples

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
        session, record = self.session, saved.record
        session.learner = self._labels.learner = saved.learner
        session.begin()
        session.n_pass, session.examples, session.done = record["session"]
        session.resumed, session.resumed_at = saved.path, self.learned
        first, now = (session.progressive.from_bytes(data) for data in saved.progressive)
        session.first, session.progressive = first, now if session.n_pass > 1 else first
        session.counts.add(record["counts"])
        session.counts.skipped_by_code.update(record["skipped_by_code"])
        session.warnings = [RunWarning(*warning) for warning in record["warnings"]]
        self.done, self._missing = record["done"], record["missing"]
        self.errors, self.lost = record["errors"], record["lost"]
        return True

    def run(self, runner: Any, watch: Watch | None = None, held: Held = nullcontext) -> Learner:
        """Train to the end, or from where a checkpoint ended; returns the model.

        Checkpoints are written within ``held()``, which may put off signals.
        """
        start, session = time.perf_counter(), self.session
        self.workers = runner.workers
        if not session.begun:
            session.begin()
            for warning in self.prepared.warnings:
                session.warn(warning)
        while self.done < self.rounds:
            self._round(runner, watch)
            with held():
                self._save()
        self._check(final=True)
        for text in self._missing or ():
            session.warn(RunWarning(FIELD_MISSING, {"message": text}))
        if self.lost:
            session.warn(RunWarning("DIST-PARTITION", {"partitions": len(self.lost)}))
        session.conclude()
        session.seconds += time.perf_counter() - start
        self.learner.run = self.record()
        return self.learner

    def record(self) -> dict[str, Any]:
        """Tell the model file what to remember."""
        stream, plan = self.prepared.stream, self.plan
        read = {} if stream is None else read_record(stream)
        own = {"shards": plan.shards, "rounds": plan.rounds, "lost": self.lost}
        return {**self.session.record(), **read, **own}

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
        session, results = self.session, [one.result for one in taken]
        learned = [one.learner for one in taken if one.result.examples]
        if learned:
            _check_negatives(learned)
            start = None if self.job.alone else session.learner
            session.learner = self._labels.learner = average(learned, start)
        parts = [session.progressive.from_bytes(result.progressive) for result in results]
        session.progressive.join(parts)
        session.examples += sum(result.examples for result in results)
        for result in results if n_pass == 0 else ():
            session.counts.add(result.counts)
            session.counts.skipped_by_code.update(result.skipped_by_code)
            self.errors = [*self.errors, *result.errors][:MOST_ERRORS_SHOWN]
            self._warn(result)
        self.done += 1
        if self.done % self.plan.rounds == 0:
            self._check(final=self.done == self.rounds)
            session.finish_pass()
            if self.done < self.rounds:
                session.begin_pass(session.n_pass + 1)
        self._check(final=False)

    def _warn(self, result: Result) -> None:
        """Enter warnings; that a field is missing is for all partitions together to say."""
        missing = [text for code, _, text in result.warnings if code == FIELD_MISSING]
        if result.counts["lines"]:
            before = missing if self._missing is None else self._missing
            self._missing = [text for text in before if text in missing]
        for code, source, text in result.warnings:
            warning = RunWarning(code, {"message": text}, source)
            if code != FIELD_MISSING and warning not in self.session.warnings:
                self.session.warn(warning)

    def _lose(self, lost: Lost) -> None:
        if self.job.options.get("on_error") != "skip":
            raise refuse_lost(lost)
        self.lost.append(f"{lost.partition.place}: {lost.reason}")

    def _check(self, *, final: bool) -> None:
        """Refuse too many broken lines, and a run without a single example."""
        options = ReadOptions(**self.job.options)
        unit = unit_of(self.job.format, options)
        counts = self.session.counts
        if final and not self.learned and not options.allow_empty:
            raise DataError(f"no labelled example in {counts.read} {unit}", code="SRC-EMPTY")
        if options.fails or (not final and counts.lines < 1000):
            return
        account = Account(options, unit)
        account.counts = counts
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
        session = self.session
        arrays = {
            "model": self.learner.to_bytes(),
            "first": session.first.to_bytes(),
            "now": session.progressive.to_bytes(),
        }
        record = {
            **self._identity(),
            "done": self.done,
            "session": [session.n_pass, session.examples, session.done],
            "counts": {
                **{name: getattr(session.counts, name) for name in LINE_COUNTS},
                **session.counts.other,
            },
            "skipped_by_code": dict(session.counts.skipped_by_code),
            "errors": self.errors,
            "lost": self.lost,
            "missing": self._missing,
            "warnings": session.warnings,
        }
        self._checkpoint.write(
            {name: np.frombuffer(data, dtype=np.uint8) for name, data in arrays.items()}, record
        )


class _Round(NamedTuple):
    """A checkpoint that was read."""

    path: Path
    learner: Learner
    progressive: tuple[bytes, bytes]
    record: dict[str, Any]


def _read_round(path: Path) -> _Round:
    arrays, record = load(path)
    if record.get("kind") != "rounds" or not {"model", "first", "now"} <= set(arrays):
        raise ModelFileError(f"{path} is no checkpoint of rounds", code="CKPT-MODEL")
    model, first, now = (arrays[name].tobytes() for name in ("model", "first", "now"))
    return _Round(path, Learner.from_bytes(model), (first, now), record)


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
