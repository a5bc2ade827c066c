"""``python -m experiments simulate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    from experiments.simulation import Setting, Summary


def simulate(
    learner: Annotated[
        str, typer.Option(help="bear+, bear, mission, newton, sgd or olbfgs.")
    ] = "bear+",
    compression: Annotated[
        float, typer.Option(help="Possible features per cell; sgd and olbfgs ignore it.")
    ] = 3.0,
    step: Annotated[
        str, typer.Option(help="auto, auto:PHI, or a number for a constant step.")
    ] = "auto",
    query: Annotated[
        str | None,
        typer.Option(help="median or mean; default: the learner's.", show_default=False),
    ] = None,
    passes: Annotated[int, typer.Option(min=1, help="Most passes over the data.")] = 40,
    noise: Annotated[float, typer.Option(help="Standard deviation of label noise.")] = 0.0,
    trials: Annotated[int, typer.Option(min=1, help="Data sets, seeds 0, 1, ...")] = 20,
    p: Annotated[int, typer.Option(min=1, help="Possible features.")] = 1000,
    n: Annotated[int, typer.Option(min=1, help="Examples.")] = 900,
    k: Annotated[int, typer.Option("-k", min=1, help="True and selected features.")] = 8,
    depth: Annotated[int, typer.Option(min=1, max=16, help="Rows of the sketch.")] = 3,
    batch_size: Annotated[int, typer.Option(min=1, help="Examples in a minibatch.")] = 20,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Find k true features of Gaussian data, over many data sets, as in the paper.

    Labels are linear in the k; a trial succeeds when exactly those are selected. It stops when
    every gradient of a pass is below 1e-7.

    **Examples**

    `python -m experiments simulate --compression 6 --trials 50`

    `python -m experiments simulate --learner mission --query median --step 0.003 --json`
    """
    from bearsketch.learners import RECIPES
    from experiments import plans
    from experiments.progress import work_left
    from experiments.simulation import Setting

    automatic, size = _parse_step(step)
    chosen = query or (RECIPES[learner].query if learner in RECIPES else "mean")
    setting = Setting(
        learner=learner,
        compression=compression,
        step=size,
        automatic=automatic,
        query=chosen,
        passes=passes,
        noise=noise,
        p=p,
        n=n,
        k=k,
        depth=depth,
        batch_size=batch_size,
    )
    setting.check()
    with work_left("simulate") as report:
        found = plans.simulate(setting, trials, workers, report)
    if as_json:
        width = 0 if setting.dense else setting.width
        record = {**setting.to_json(), "width": width, "passes_allowed": passes, **found._asdict()}
        typer.echo(json.dumps(record))
    else:
        _show(setting, found)


def _parse_step(step: str) -> tuple[bool, float]:
    """(automatic, size) of an option such as ``auto``, ``auto:0.2`` or ``0.003``."""
    kind, _, number = step.partition(":") if step.startswith("auto") else ("", "", step)
    try:
        if kind not in ("", "auto"):
            raise ValueError
        return kind == "auto", float(number or 0.5)
    except ValueError:
        raise ParameterError(
            f"--step must be auto, auto:PHI or a number, got {step!r}", code="SIM-STEP"
        ) from None


def _show(setting: Setting, found: Summary) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{setting.learner}, {found.trials} trials")
    for column in ("compression", "all found", "l2 error", "passes", "converged", "diverged"):
        table.add_column(column, justify="right")
    table.add_row(
        "1 (dense)" if setting.dense else f"{setting.compression:g}",
        f"{found.success:.2f} ± {found.success_se:.2f}",
        "-" if found.l2_error is None else f"{found.l2_error:.3g}",
        f"{found.passes:.1f}",
        f"{found.converged:.2f}",
        f"{found.diverged:.2f}",
    )
    Console().print(table)
