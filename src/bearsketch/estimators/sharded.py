"""Fitting an estimator with the workers of a cluster, or local ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from bearsketch.distributed import DEFAULT_SHARDS, Driver, Serial, make_plan
from bearsketch.distributed.blocks import block_batches, is_collection, plan_blocks, promises
from bearsketch.distributed.prepare import Look, expecting, late_warnings, look_at
from bearsketch.distributed.task import Job
from bearsketch.estimators.doubts import warn
from bearsketch.estimators.targets import ClassMap, first_classes
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner, state
from bearsketch.learners.labels import Labels
from bearsketch.reading.remember import read_record
from bearsketch.training.first_rows import read_first_rows
from bearsketch.training.scaling import scale_values
from bearsketch.training.warnings import RunWarning


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
    job = expecting(look.job, labels, named=classes is not None)
    learner = Learner(config, labels)
    odd = scale_values(learner, look.first, look.stream)
    driver = Driver(plan, learner, job, passes=estimator.passes)
    driver.run(runner)
    _take_over(estimator.learner_, driver, look)
    _warn(odd, driver, look, named=classes is not None)


def _look_at_block(promise: Any, form: str, options: dict[str, Any]) -> Look:
    """Compute the first block for its labels, in this process."""
    block = promise.compute(scheduler="sync")
    seen, first = read_first_rows(block_batches(block, options["seed"], form, options))
    kind = "name" if seen.words else "number"
    return Look(seen, Job(form, {**options, "labels": kind}), None, first)


def _classes(estimator: Any, look: Look, classes: Any) -> ClassMap | None:
    """Classes as declared, or those of the first examples; workers cannot add any."""
    if not estimator._classifies() or classes is not None:
        declared: ClassMap | None = estimator._class_map(classes)
        return declared
    values = np.array(look.seen.values)
    found = first_classes(values)
    return ClassMap.fixed(values if found is None else found.settled().classes)


def _warn(first: list[RunWarning], driver: Driver, look: Look, *, named: bool) -> None:
    """Say what one process would, as far as the rounds tell it."""
    odd = [] if look.stream is None else look.stream.warnings
    found = {(odd.code, odd.source, odd.message) for odd in odd}
    for code, source, message in sorted(found | set(driver.tally.warnings)):
        warn(RunWarning(code, {"message": message}, source))
    for warning in [*first, *late_warnings(driver, named=named)]:
        warn(warning)


def _take_over(learner: Learner, driver: Driver, look: Look) -> None:
    """Fill the learner of the estimator, which knows classes by number, from the driver's."""
    arrays, record = state.dump(driver.learner)
    if look.stream is not None:
        record["run"] = read_record(look.stream)
    state.restore(learner, arrays, record)
