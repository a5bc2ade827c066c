"""``bearsketch demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bearsketch.files import write_whole

if TYPE_CHECKING:
    from rich.table import Table

    from bearsketch.demo import Outcome

MEMORY, K = "4KiB", 60  # twice as many as are planted
LEARNERS = ("bear+", "mission", "bear", "fh")
TEST_BATCHES = 8
FDR = 0.1
SHOWN = 10  # names in the table


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the report, the model and the messages as VW text.", show_default=False
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=500, help="Training messages.")] = 18_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the messages.")] = 0,
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
    noise = job.run("bear+", job.shuffled(train, seed=seed), test, memory=MEMORY, k=K, seed=0)
    outcomes_of_noise = {"bear+, labels shuffled": noise}
    console.print(_proven_table(outcomes["bear+"]))
    console.print(_comparison(outcomes | outcomes_of_noise, job.best_accuracy(test)))
    if out is not None:
        _write_report(out, outcomes)
        job.write(out / "train.vw.gz", n_batches, seed=seed + 1)
        job.write(out / "test.vw.gz", TEST_BATCHES, seed=seed + 1_000_001)
        names = "report.html model.bear train.vw.gz test.vw.gz".split()
        console.print(f"Wrote {', '.join(str(out / name) for name in names)}.", soft_wrap=True)


def _proven_table(outcome: Outcome) -> Table:
    from rich.table import Table

    from bearsketch.demo import PLANTED

    proven = outcome.proven(FDR)
    planted = sum(name in PLANTED for name in proven)
    table = Table(
        title=f"{len(proven)} names proven at {FDR:.0%}, {planted} of them planted",
        caption=f"the first {min(SHOWN, len(proven))}",
    )
    for column in ("name", "weight", "speaks for", ""):
        table.add_column(column, justify="right" if column == "weight" else "left")
    weights = {feature.name: feature.weight for feature in outcome.learner.selected()}
    for name in proven[:SHOWN]:
        weight = weights[name]
        label = "spam" if weight > 0 else "ham"
        table.add_row(name, f"{weight:+.3f}", label, "planted" if name in PLANTED else "")
    return table


def _comparison(outcomes: dict[str, Outcome], best: float) -> Table:
    from rich.table import Table

    from bearsketch.demo import PLANTED

    table = Table(title=f"The same messages, {MEMORY.replace('KiB', ' KiB')}, one pass")
    for column in ("learner", "planted found", f"proven at {FDR:.0%}", "test accuracy"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    for name, outcome in outcomes.items():
        selects = outcome.learner.config.k > 0
        named = f"{len(outcome.found)} of {len(PLANTED)}" if selects else "cannot name"
        proven = str(len(outcome.proven(FDR))) if selects else ""
        table.add_row(name, named, proven, f"{outcome.accuracy:.3f}")
    table.add_row("(best possible)", "", "", f"{best:.3f}")
    return table


def _write_report(out: Path, outcomes: dict[str, Outcome]) -> None:
    from bearsketch import demo as job
    from bearsketch.report import Subject, render

    out.mkdir(parents=True, exist_ok=True)
    best = outcomes["bear+"]
    proven = best.proven(FDR)
    planted = sum(name in job.PLANTED for name in proven)
    lead = (
        f"bear+ proved {len(proven)} names at {FDR:.0%}, {planted} of them among the "
        f"{len(job.PLANTED)} phrases planted among {job.POSSIBLE:.0e} possible ones, in "
        f"{MEMORY.replace('KiB', ' KiB')} and one pass."
    )
    subjects = [
        Subject(name, outcome.learner, outcome.scores, {"seconds": outcome.seconds})
        for name, outcome in outcomes.items()
    ]
    marks = dict.fromkeys(job.PLANTED, "planted")
    page = render(subjects, title="The demo", lead=lead, marks=marks)
    write_whole(out / "report.html", page.encode())
    best.learner.save(out / "model.bear")
