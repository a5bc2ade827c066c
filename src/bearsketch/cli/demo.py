"""``bearsketch demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bearsketch.files import write_whole
from bearsketch.sizes import format_bytes

if TYPE_CHECKING:
    from rich.table import Table

    from bearsketch.demo import Outcome

MEMORY, K = "4KiB", 60  # twice as many as are planted
LEARNERS = ("bear+", "mission", "bear", "fh")
TEST_BATCHES = 8
SHOWN = 10  # planted phrases in the table


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the report, the model and the messages as VW text.", show_default=False
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=500, help="Training messages.")] = 18_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the messages and the hashes.")] = 0,
) -> None:
    """Find 30 planted phrases among 10^12 possible features, in one pass and 4 KiB.

    **Examples**

    `bearsketch demo`

    `bearsketch demo --out demo --examples 50000`
    """
    from rich.console import Console

    from bearsketch import demo as job

    console = Console()
    console.print(
        f"Making {examples:,} messages over {job.POSSIBLE:.0e} possible word pairs, "
        f"{len(job.PLANTED)} of them planted ..."
    )
    n_batches = max(examples // 500, 1)
    train = list(job.messages(n_batches, seed=seed + 1))
    test = list(job.messages(TEST_BATCHES, seed=seed + 1_000_001))
    outcomes = {name: job.run(name, train, test, memory=MEMORY, k=K, seed=0) for name in LEARNERS}
    best = outcomes["bear+"]
    console.print(_planted_table(job.PLANTED, best))
    console.print(_comparison(outcomes, job.best_accuracy(test)))
    if out is not None:
        _write_report(out, outcomes)
        job.write(out / "train.vw.gz", n_batches, seed=seed + 1)
        job.write(out / "test.vw.gz", TEST_BATCHES, seed=seed + 1_000_001)
        names = "report.html model.bear train.vw.gz test.vw.gz".split()
        console.print(f"Wrote {', '.join(str(out / name) for name in names)}.", soft_wrap=True)


def _planted_table(planted: dict[str, float], outcome: Outcome) -> Table:
    from rich.table import Table

    table = Table(
        title=f"Planted and found: {len(outcome.found)} of {len(planted)}",
        caption=f"the first {SHOWN}",
    )
    for column in ("planted phrase", "speaks for", "rank", "weight"):
        table.add_column(column, justify="right" if column in ("rank", "weight") else "left")
    ranks = {name: rank for rank, name in enumerate(outcome.learner.selected().names, start=1)}
    for name in sorted(planted, key=lambda name: ranks.get(name, len(ranks) + 1))[:SHOWN]:
        weight, found = planted[name], outcome.found.get(name)
        table.add_row(
            name,
            "spam" if weight > 0 else "ham",
            str(ranks.get(name, "")),
            "not found" if found is None else f"{found:+.3f}",
        )
    return table


def _comparison(outcomes: dict[str, Outcome], best: float) -> Table:
    from rich.table import Table

    from bearsketch.demo import PLANTED

    table = Table(title=f"The same messages, {MEMORY.replace('KiB', ' KiB')}, one pass")
    for column in ("learner", "model", "planted found", "test accuracy"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    for name, outcome in outcomes.items():
        learner = outcome.learner
        k = learner.config.k
        named = f"{len(outcome.found)} of {len(PLANTED)}" if k else "cannot name"
        size = format_bytes(learner.sizes.model_bytes)
        table.add_row(name, size, named, f"{outcome.accuracy:.3f}")
    table.add_row("(best possible)", "", "", f"{best:.3f}")
    return table


def _write_report(out: Path, outcomes: dict[str, Outcome]) -> None:
    from bearsketch import demo as job
    from bearsketch.report import Subject, render

    out.mkdir(parents=True, exist_ok=True)
    best = outcomes["bear+"]
    lead = (
        f"bear+ selected {len(best.found)} of the {len(job.PLANTED)} phrases planted among "
        f"{job.POSSIBLE:.0e} possible ones, in {MEMORY} and one pass."
    )
    subjects = [
        Subject(name, outcome.learner, outcome.scores, {"seconds": outcome.seconds})
        for name, outcome in outcomes.items()
    ]
    marks = dict.fromkeys(job.PLANTED, "planted")
    page = render(subjects, title="The demo", lead=lead, marks=marks)
    write_whole(out / "report.html", page.encode())
    best.learner.save(out / "model.bear")
