"""Before the first round: what the first examples ask for, the learner, the plan and the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bearsketch.distributed.shards import DEFAULT_SHARDS, Plan, make_plan
from bearsketch.distributed.task import Job
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner, make_learner
from bearsketch.learners.labels import Label, Labels
from bearsketch.reading import Stream, open_stream
from bearsketch.reading.encoding import NOT_UTF8
from bearsketch.reading.labels import labels_for
from bearsketch.training.first_rows import FirstRows, read_first_rows
from bearsketch.training.scaling import scale_values
from bearsketch.training.task import NAME_EVERY_CLASS, Task, decide, expected_labels
from bearsketch.training.warnings import RunWarning, of_stream


class Prepared(NamedTuple):
    """What a driver needs, and what was detected on the way to it."""

    plan: Plan
    learner: Learner
    job: Job
    task: Task
    stream: Stream | None = None
    warnings: Sequence[RunWarning] = ()
    named: bool = False


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
        raise ParameterError("max_examples cannot be combined with several workers")
    look = look_at(
        source,
        format,
        {**(options or {}), "seed": parts.get("seed", 0)},
        loss=loss,
        classes=classes,
    )
    task = decide(look.first.labels, loss=loss, classes=classes)
    learner = make_learner(loss=task.loss, classes=task.classes, **parts)
    plan = make_plan(source, look.job.format, shards=shards, rounds=rounds)
    return look.prepared(plan, learner, task, named=classes is not None)


def expecting(job: Job, labels: Labels, *, named: bool) -> Job:
    """Tell a job which labels its examples may have."""
    if labels.loss == "squared":
        return job
    whose = "that were named" if named else "of the first examples"
    return replace(job, expected=expected_labels(labels.classes, whose, NAME_EVERY_CLASS))


class Look(NamedTuple):
    """What the first examples of a source tell: their labels, and how all of it is to be read."""

    first: FirstRows
    job: Job
    stream: Stream | None

    def prepared(self, plan: Plan, learner: Learner, task: Task, *, named: bool) -> Prepared:
        """Scale a new learner, and put together what a driver needs."""
        warnings = [*task.warnings, *scale_values(learner, self.first.batches, self.stream)]
        # What columns are, and the encoding, is detected here, once for all.
        found = [] if self.stream is None else self.stream.warnings
        warnings += [
            of_stream(odd) for odd in found if odd.code.startswith("TAB-") or odd.code == NOT_UTF8
        ]
        job = expecting(self.job, learner.labels, named=named)
        return Prepared(plan, learner, job, task, self.stream, warnings, named)


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
        first = read_first_rows(iter(stream), lambda _: known)
        given |= {name: columns for name, columns in stream.columns.items() if columns}
    given["labels"] = "name" if first.labels.words else "number"
    return Look(first, Job(stream.format, given), stream)
