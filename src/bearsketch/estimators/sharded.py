"""Fitting an estimator with the workers of a cluster, or local ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from bearsketch.distributed import DEFAULT_SHARDS, Driver, Serial, make_plan
from bearsketch.distributed.blocks import block_batches, is_collection, plan_blocks, promises
from bearsketch.distributed.prepare import Look, look_at
from bearsketch.distributed.task import Job
from bearsketch.estimators.rows import plain
from bearsketch.estimators.targets import ClassMap, first_classes
from bearsketch.estimators.user_warnings import UserWarnings
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner, state
from bearsketch.learners.labels import Labels
from bearsketch.training.first_rows import read_first_rows
from bearsketch.training.task import Task


def as_runner(client: Any) -> Any:
    """Runner of a Dask client; a pool of this package is one already."""
    if isinstance(client, Serial):
        return client
    if type(client).__module__.startswith("distributed"):
        from bearsketch.distributed.dask import Cluster

        return Cluster(client)
    raise ParameterError(
        "client must be a distributed.Client or a bearsketch.distributed.Pool, "
        f"got {type(client).__name__}"
    )


def fit_sharded(
    estimator: Any, source: Any, client: Any, options: dict[str, Any], classes: Any, seed: int
) -> None:
    """Fit an estimator to files or to a Dask collection, in rounds of shards."""
    runner = as_runner(client)
    given = dict(options)
    shards = given.pop("shards", None) or max(DEFAULT_SHARDS, runner.workers)
    rounds, form = given.pop("rounds", None), given.pop("format", "auto")
    given |= {"seed": seed, "include_unlabelled": False}
    loss = "auto" if estimator._classifies() else "squared"
    blocks = promises(source) if is_collection(source) else None
    if blocks is None:
        look = look_at(source, form, given, loss=loss, classes=classes)
        plan: Any = make_plan(source, look.job.format, shards=shards, rounds=rounds)
    else:
        look = _look_at_block(blocks[0], form, given)
        plan = plan_blocks(blocks, shards=shards, rounds=rounds)
    known = _classes(estimator, look, classes)
    estimator._forget_columns()
    estimator._start(known, None, seed)
    config = estimator.learner_.config
    labels = Labels(config.loss, None if known is None else known.classes.tolist())
    task = Task(config.loss, labels.classes, 0, "")
    prepared = look.prepared(plan, Learner(config, labels), task, named=classes is not None)
    driver = Driver(prepared, passes=plain(estimator.passes), sinks=[UserWarnings()])
    driver.run(runner)
    arrays, record = state.dump(driver.learner)
    state.restore(estimator.learner_, arrays, record)


def _look_at_block(promise: Any, form: str, options: dict[str, Any]) -> Look:
    """Compute the first block for its labels, in this process."""
    block = promise.compute(scheduler="sync")
    first = read_first_rows(block_batches(block, options["seed"], form, options))
    kind = "name" if first.labels.words else "number"
    return Look(first, Job(form, {**options, "labels": kind}), None)


def _classes(estimator: Any, look: Look, classes: Any) -> ClassMap | None:
    """Classes as declared, or those of the first examples; workers cannot add any."""
    if not estimator._classifies() or classes is not None:
        declared: ClassMap | None = estimator._class_map(classes)
        return declared
    values = np.array(look.first.labels.values)
    found = first_classes(values)
    return ClassMap.fixed(values if found is None else found.settled().classes)
