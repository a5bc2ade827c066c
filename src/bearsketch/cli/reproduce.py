"""``bearsketch reproduce``."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bearsketch.cli.guard import say

if TYPE_CHECKING:
    from bearsketch.experiments.reproduce import Outcome


def reproduce(
    figure: Annotated[
        str,
        typer.Argument(help="fig1a, fig1b, fig1c, noise, checks, theorem1, theorem2 or all."),
    ],
    trials: Annotated[int, typer.Option(min=2, help="Data sets per result.")] = 200,
    out: Annotated[Path, typer.Option(help="Folder for tables and figures.")] = Path("reproduced"),
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Redo a figure of the paper: run it, write its table as CSV, draw it as PNG and SVG.

    Finished parts are kept in the folder: a stopped run continues where it was, and more trials
    add to those already there. Every constant step is searched on one ladder for all methods.

    **Examples**

    `bearsketch reproduce fig1a --trials 100 --out reproduced`

    `bearsketch reproduce all --workers 2 --json`
    """
    from bearsketch.experiments import reproduce as job

    outcomes = []
    for name in job.names_of(figure):
        outcomes.append(_run(name, trials, out, workers))
        if not as_json:
            _say_what_was_written(outcomes[-1], out)
    if as_json:
        plain = {
            outcome.name: {
                "rows": outcome.rows,
                "table": str(outcome.table),
                "figures": [str(path) for path in outcome.figures],
            }
            for outcome in outcomes
        }
        typer.echo(json.dumps({"trials": trials, "out": str(out), "figures": plain}))


def _run(name: str, trials: int, out: Path, workers: int) -> Outcome:
    from bearsketch.cli.progress import work_left
    from bearsketch.experiments import reproduce as job

    try:
        with work_left(name) as report:
            return job.reproduce(name, trials=trials, out=out, workers=workers, report=report)
    except KeyboardInterrupt:
        say(f"stopped; what is finished stays in {out}: run the same command to continue")
        raise typer.Exit(128 + signal.SIGINT) from None


def _say_what_was_written(outcome: Outcome, out: Path) -> None:
    files = ", ".join(path.name for path in (outcome.table, *outcome.figures))
    typer.echo(f"{outcome.name}: {outcome.rows} rows; wrote {files} to {out}")
