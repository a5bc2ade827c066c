"""``bearsketch train`` with several workers: local processes, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bearsketch.cli.display import Display, View, best_features, make_display, say_best
from bearsketch.cli.notes import progressive_text, result_number, wrote_text
from bearsketch.cli.options import read_options
from bearsketch.exceptions import ParameterError
from bearsketch.sizes import format_bytes
from bearsketch.training.interrupt import Interrupted, Interrupts
from bearsketch.training.warnings import RunWarning
from bearsketch.wording import for_command

if TYPE_CHECKING:
    from bearsketch.distributed import Driver
    from bearsketch.distributed.prepare import Prepared
    from bearsketch.training.checkpoint import Checkpoints
    from bearsketch.training.summary import Summary


class Crew(NamedTuple):
    """Who works, and in how many parts and rounds."""

    workers: int | None
    cluster: str | None
    shards: int | None
    rounds: int | None
    patience: float
    checkpoint: Path | None
    resume: bool

    def check(self, wanted: dict[str, Any]) -> None:
        """Refuse what does not go together."""
        if self.workers is not None and self.cluster is not None:
            raise ParameterError("give --workers or --cluster, not both")
        if self.workers is not None and not 1 <= self.workers <= 1024:
            raise ParameterError(f"--workers must be 1 to 1024, got {self.workers}")
        if not self.patience >= 1.0:
            raise ParameterError(f"--patience must be at least 1 second, got {self.patience:g}")
        if self.resume and self.checkpoint is None:
            raise ParameterError("--resume needs --checkpoint DIR, the folder of the checkpoints")
        for name, flag in (("holdout", "--holdout"), ("max_classes", "--max-classes")):
            if wanted[name]:
                raise ParameterError(
                    f"{flag} cannot be combined with several workers",
                    hint="Keep examples in a file of their own to test with, and name all classes "
                    "(--classes a,b,c).",
                )

    def checkpoints(self) -> Checkpoints | None:
        """Give the folder that keeps the model after each round."""
        from bearsketch.training.checkpoint import ROUNDS, Checkpoints

        if self.checkpoint is None:
            return None
        return Checkpoints(self.checkpoint, resume=self.resume, name=ROUNDS)

    def runner(self) -> Any:
        """Make the runner: this process alone, a pool, or a cluster."""
        from bearsketch.distributed import Pool, Serial

        if self.cluster is not None:
            from bearsketch.distributed.dask import Cluster

            return Cluster.connect(self.cluster, patience=self.patience)
        if self.workers == 1:
            return Serial()
        return Pool(self.workers or 1, patience=self.patience, forks=True)


def run_sharded(
    crew: Crew,
    named: list[str],
    output: Path,
    wanted: dict[str, Any],
    parts: dict[str, Any],
    reading: dict[str, Any],
    quiet: bool,
) -> Summary:
    """Train with several workers and write the model."""
    from bearsketch.cli.terminal import Terminal
    from bearsketch.distributed import Driver

    crew.check(wanted)
    given = read_options(reading)
    kept = crew.checkpoints()
    # The folder is locked after the workers began: copies of this process would hold its lock.
    with make_display(quiet) as display, crew.runner() as runner, kept or nullcontext():
        prepared = _prepare(crew, runner.workers, named, wanted, parts, given)
        how = {"passes": wanted["passes"], "checkpoint": kept}
        driver = Driver(prepared, sinks=[Terminal(display)], **how)
        _begin(display, prepared, runner.workers)
        if crew.resume and driver.resume():
            display.note(f"resumed after round {driver.done} of {driver.rounds}")
            display.begin(driver.session.resumed_at)
        with _interrupts_named(kept), Interrupts() as interrupts:
            driver.run(runner, Watching(display, prepared), interrupts.held)
    driver.learner.save(output)
    if kept is not None:
        kept.forget()
    summary = driver.session.summary()
    if not quiet:
        _report(display, driver, summary, output)
    return summary


@contextmanager
def _interrupts_named(kept: Checkpoints | None) -> Iterator[None]:
    """Say with an interrupt where the run can continue from."""
    try:
        yield
    except Interrupted as stopped:
        path = None if kept is None else kept.written
        way = "" if path is None else f"; continue from {path} with {{resume=True}}"
        stopped.args = (f"interrupted; no model was written{way}",)
        raise


def _prepare(
    crew: Crew,
    workers: int,
    named: list[str],
    wanted: dict[str, Any],
    parts: dict[str, Any],
    given: dict[str, Any],
) -> Prepared:
    from bearsketch.cli.checks import rows_of_batch
    from bearsketch.distributed import DEFAULT_SHARDS
    from bearsketch.distributed.prepare import prepare

    return prepare(
        named,
        shards=crew.shards or max(DEFAULT_SHARDS, workers),
        rounds=crew.rounds,
        format=given.pop("format", "auto"),
        options={**given, "rows": rows_of_batch(parts["learner"], parts["batch_size"])},
        **{name: wanted[name] for name in ("loss", "classes", "passes")},
        **parts,
    )


def _begin(display: Display, prepared: Prepared, workers: int) -> None:
    plan, config, task = prepared.plan, prepared.learner.config, prepared.task
    display.note(
        f"{prepared.job.format} data; {task.reason}: loss {task.loss}; "
        f"{config.learner} in {format_bytes(config.sizes.model_bytes)}, k {config.k:,}"
    )
    display.note(
        f"{_counted(len(plan.partitions), 'partition')}: {_counted(plan.rounds, 'round')} of "
        f"{_counted(plan.shards, 'shard')}; "
        f"{_counted(workers, 'worker')}"
    )
    busy = max(len(plan.of_round(number)) for number in range(plan.rounds))
    if busy < min(workers, plan.shards):
        display.warn(RunWarning("DIST-WHOLE", {"busy": busy, "workers": workers}))


class Watching:
    """Shows all workers on one display."""

    def __init__(self, display: Display, prepared: Prepared) -> None:
        self._display = display
        self._sizes = {part.id: part.size for part in prepared.plan.partitions}
        self._round_of = {part.id: part.round for part in prepared.plan.partitions}
        self._errors = self._lost = 0

    def __call__(self, driver: Driver) -> None:
        """Show what is new, and how far all of it is when it is time to."""
        for error in driver.errors[self._errors :]:
            self._display.note(f"skipped{for_command(error)}")
        for place in driver.lost[self._lost :]:
            self._display.note(f"lost[DIST-PARTITION] {place}")
        self._errors, self._lost = len(driver.errors), len(driver.lost)
        examples = driver.learned + sum(driver.running.values())
        if self._display.due(examples):
            self._display.show(self._view(driver, examples))

    def _view(self, driver: Driver, examples: int) -> View:
        n_pass, number = divmod(min(driver.done, driver.rounds - 1), driver.plan.rounds)
        done = sum(
            size
            for part, size in self._sizes.items()
            if self._round_of[part] < number or part in driver.finished
        )
        at_work = len(driver.running) - len(driver.finished)
        facts = [
            f"round {number + 1} of {driver.plan.rounds}",
            f"{_counted(at_work, 'worker')} busy",
        ]
        results = driver.session.progressive.results()
        shown = {name: results[f"progressive_{name}"] for name in ("loss", "accuracy", "rmse")}
        if shown["rmse"] is not None:
            facts.append(f"RMSE {result_number('rmse', shown['rmse'])}")
        elif shown["accuracy"] is not None:
            facts += [f"loss {shown['loss']:.4f}", f"accuracy {shown['accuracy']:.4f}"]
        best = best_features(driver.learner)
        total = sum(self._sizes.values())
        return View(examples, done, total, n_pass + 1, driver.passes, facts, best)


def _report(display: Display, driver: Driver, summary: Summary, output: Path) -> None:
    say = display.note
    say(
        f"{summary.examples:,} examples in {summary.seconds:.1f} s "
        f"({summary.examples_per_second:,.0f}/s), {summary.skipped:,} skipped, "
        f"{summary.unlabelled:,} without a label; {_counted(driver.workers, 'worker')}, "
        f"{_counted(driver.rounds, 'round')}"
    )
    say(f"progressive {progressive_text(summary.to_json())}")
    say_best(display, driver.learner)
    say(wrote_text(output, driver.learner))


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
