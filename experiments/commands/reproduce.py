"""``python -m experiments reproduce``."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bearsketch.cli.guard import say

if TYPE_CHECKING:
    from experiments.reproduce import Outcome


def reproduce(
    figure: Annotated[
        str,
        typer.Argument(
            help="fig1a, fig1b, fig1c, noise, checks, theorem1, theorem2, or all of these; "
            "on real data fig2, fig3, table2, table3, equal-bytes, verdict or acceptance."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the real data sets: text, clicks and genomes."),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="Only this real data set; may be given several times."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Hash seeds per result on real data.")] = 3,
    trials: Annotated[int, typer.Option(min=2, help="Simulated data sets per result.")] = 200,
    out: Annotated[Path, typer.Option(help="Folder for tables and figures.")] = Path("reproduced"),
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Redo a figure of the paper: run it, write its table as CSV, draw it as PNG and SVG.

    Finished parts are kept in the folder: a stopped run continues where it was, and more trials
    add to those already there. Every constant step is searched on one ladder for all methods,
    on real data with rows set aside from those that are learned.

    **Examples**

    `python -m experiments reproduce fig1a --trials 100 --out reproduced`

    `python -m experiments reproduce all --workers 2 --json`

    `python -m experiments reproduce equal-bytes --data data --dataset rcv1 --seeds 3`
    """
    from experiments import reproduce as job
    from experiments.progress import work_left

    outcomes = []
    for name in job.names_of(figure):
        amount = trials if name in job.EXPERIMENTS else seeds
        with _stopped_runs_continue(out), work_left(name) as report:
            outcome = job.reproduce(
                name,
                trials=amount,
                out=out,
                workers=workers,
                data=data,
                datasets=dataset or (),
                report=report,
            )
        outcomes.append(outcome)
        if not as_json:
            _say_what_was_written(outcomes[-1], out)
    if as_json:
        plain = {
            outcome.name: {
                "rows": outcome.rows,
                **({} if outcome.met is None else {"met": outcome.met}),
                "table": str(outcome.table),
                "figures": [str(path) for path in outcome.figures],
            }
            for outcome in outcomes
        }
        typer.echo(
            json.dumps({"trials": trials, "seeds": seeds, "out": str(out), "figures": plain})
        )


@contextlib.contextmanager
def _stopped_runs_continue(out: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped; what is finished stays in {out}: run the same command to continue")
        raise typer.Exit(128 + signal.SIGINT) from None


def _say_what_was_written(outcome: Outcome, out: Path) -> None:
    files = ", ".join(path.name for path in (outcome.table, *outcome.figures))
    typer.echo(
        f"{outcome.name}: {outcome.rows} rows{_how_many_met(outcome)}; wrote {files} to {out}"
    )


def _how_many_met(outcome: Outcome) -> str:
    """Say whether all rows are as required, where something is."""
    if outcome.met is None:
        return ""
    if outcome.met == outcome.rows:
        return ", all as required"
    return f", {outcome.met} as required and {outcome.rows - outcome.met} not (column met)"
