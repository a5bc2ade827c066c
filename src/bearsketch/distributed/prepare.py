"""Before the first round: what the first examples ask for, the learner, the plan and the job."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bearsketch.batch import Batch
from bearsketch.distributed.driver import Driver
from bearsketch.distributed.shards import DEFAULT_SHARDS, Plan, make_plan
from bearsketch.distributed.task import Job
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner, make_learner
from bearsketch.learners.describe import class_labels
from bearsketch.learners.labels import Label, Labels
from bearsketch.reading import Stream, open_stream
from bearsketch.reading.labels import labels_for
from bearsketch.reading.remember import read_record
from bearsketch.training.checks import last_warnings, without_features
from bearsketch.training.first_rows import FirstLabels, read_first_rows
from bearsketch.training.order import Order
from bearsketch.training.scaling import scale_values
from bearsketch.training.summary import Summary
from bearsketch.training.task import NAME_EVERY_CLASS, Task, decide, expected_labels
from bearsketch.training.warnings import RunWarning


class Prepared(NamedTuple):
    """What a driver needs, and what was detected for a reader."""

    plan: Plan
    learner: Learner
    job: Job
    task: Task
    stream: Stream
    warnings: list[RunWarning]
    named: bool = False

    def record(self, driver: Driver) -> dict[str, Any]:
        """Tell the model file what to remember: no times, no folders, so equal runs are equal."""
        tally = driver.tally
        classes = self.task.loss != "squared"
        return {
            "passes": driver.passes,
            "held_out": 0,
            "progressive_loss": tally.mean_loss,
            "progressive_accuracy": tally.accuracy if classes else None,
            "progressive_auc": tally.auc,
            "progressive_rmse": None if classes else tally.rmse,
            "progressive_r2": None,
            "holdout": None,
            **read_record(self.stream),
            "counts": dict(tally.counts),
            "skipped_by_code": dict(sorted(tally.skipped_by_code.items())),
            "curve": [list(point) for point in tally.curve[:64]],
            "shards": self.plan.shards,
            "rounds": self.plan.rounds,
            "lost": tally.lost,
        }

    def summary(self, driver: Driver) -> Summary:
        """Results under the names that ``train --json`` has."""
        from bearsketch.training.process import peak_rss_bytes

        learner, tally = driver.learner, driver.tally
        classes = self.task.loss != "squared"
        return Summary(
            learner=learner.config.learner,
            loss=learner.config.loss,
            k=learner.config.k,
            passes=driver.passes,
            examples=tally.counts["examples"],
            skipped=tally.counts["skipped"],
            unlabelled=tally.counts["unlabelled"],
            held_out=0,
            split_batches=tally.counts["split_batches"],
            classes=class_labels(learner),
            n_classes=learner.config.n_classes,
            progressive_loss=tally.mean_loss,
            progressive_accuracy=tally.accuracy if classes else None,
            progressive_auc=tally.auc,
            progressive_rmse=None if classes else tally.rmse,
            progressive_r2=None,
            holdout=None,
            model_bytes=learner.sizes.model_bytes,
            peak_rss_bytes=peak_rss_bytes(),
            seconds=round(driver.seconds, 3),
            examples_per_second=round(
                (tally.learned - driver.resumed_at) / max(driver.seconds, 1e-9), 1
            ),
            guards=learner.guards,
            warnings=[*self._late(driver)],
        )

    def _late(self, driver: Driver) -> list[RunWarning]:
        counts = driver.tally.counts
        empty = without_features(counts["empty"], counts["examples"], self.job.format)
        return [*self.warnings, *empty, *late_warnings(driver, named=self.named)]


def prepare(
    source: Any,
    *,
    shards: int = DEFAULT_SHARDS,
    rounds: int | None = None,
    format: str = "auto",
    options: dict[str, Any] | None = None,
    loss: str = "auto",
    classes: Sequence[Label] | None = None,
    passes: int = 1,
    **parts: Any,
) -> Prepared:
    """Look at the first examples of a source and plan its training.

    Parameters
    ----------
    source : path, glob, URL or a list of them
        Files that every worker can open under the same name.
    shards, rounds
        See :func:`make_plan`.
    format, options
        Of :func:`bearsketch.reading.open_stream`.
    loss, classes
        See :func:`bearsketch.training.task.decide`. All classes must be named or be there in the
        first examples: workers that each met new ones would number them differently.
    passes : int
    **parts
        Of :func:`bearsketch.make_learner`.
    """
    if (options or {}).get("max_examples") is not None:
        raise ParameterError("max_examples does not go with several workers")
    look = look_at(
        source,
        format,
        {**(options or {}), "seed": parts.get("seed", 0)},
        loss=loss,
        classes=classes,
    )
    task = decide(look.seen, loss=loss, classes=classes)
    learner = make_learner(loss=task.loss, classes=task.classes, **parts)
    plan = make_plan(source, look.job.format, shards=shards, rounds=rounds)
    assert look.stream is not None
    warnings = scale_values(learner, look.first, look.stream)
    named = classes is not None
    job = expecting(look.job, learner.labels, named=named)
    return Prepared(plan, learner, job, task, look.stream, warnings, named)


def expecting(job: Job, labels: Labels, *, named: bool) -> Job:
    """Tell a job which labels its examples may have."""
    if labels.loss == "squared":
        return job
    whose = "that were named" if named else "of the first examples"
    return replace(job, expected=expected_labels(labels.classes, whose, NAME_EVERY_CLASS))


class Look(NamedTuple):
    """What the first examples of a source tell: their labels, and how all of it is to be read."""

    seen: FirstLabels
    job: Job
    stream: Stream | None
    first: Collection[Batch]


def look_at(
    source: Any,
    format: str,
    options: dict[str, Any],
    *,
    loss: str = "auto",
    classes: Any = None,
) -> Look:
    """Read the first examples, only one batch of them where the labels are known."""
    given = {"labels": labels_for(loss, classes), **options, "include_unlabelled": False}
    known = classes is not None or loss == "squared"
    with open_stream(source, format, **given) as stream:
        seen, first = read_first_rows(iter(stream), lambda _: known)
        given |= {name: columns for name, columns in stream.columns.items() if columns}
    given["labels"] = "name" if seen.words else "number"
    return Look(seen, Job(stream.format, given), stream, first)


def late_warnings(driver: Driver, *, named: bool) -> list[RunWarning]:
    """Find what is odd once a run is over; changes between two partitions do not count."""
    order, config = None, driver.learner.config
    if driver.tally.order and config.loss != "squared":
        order = Order(config.n_classes)
        order.restore(np.array(driver.tally.order))
    tally = driver.tally
    return last_warnings(driver.learner, order, driver.passes, tally.curve, named=named)


def learner_bytes(prepared: Prepared, driver: Driver) -> bytes:
    """Bytes of the finished model, with what it remembers of its run."""
    driver.learner.run = prepared.record(driver)
    return driver.learner.to_bytes()
