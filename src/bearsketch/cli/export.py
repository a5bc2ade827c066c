"""``bearsketch export``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bearsketch.cli.guard import say
from bearsketch.cli.model import load_model
from bearsketch.cli.options import Model, Quiet
from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    from bearsketch.export import LinearModel

FORMS = ("json", "tsv", "onnx")


def export(
    model: Model,
    to: Annotated[str, typer.Option(metavar="json|tsv|onnx", help="Form of the output.")] = "json",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write. [standard output]"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the selected features as a linear model that predicts without bearsketch.

    The model is that of predict --selected-only: an intercept, and a weight per class for each
    name. If examples were held out, its accuracy is shown beside that of the whole model. ONNX
    inputs are the values of the features in the order of the names in the metadata; ONNX needs
    the package onnx.

    **Examples**

    `bearsketch export spam.bear --to json -o spam.json`

    `bearsketch export spam.bear --to onnx -o spam.onnx`
    """
    from bearsketch import export as job
    from bearsketch.cli.checks import STANDARD, check_output

    if to not in FORMS:
        raise ParameterError(f"--to must be one of {', '.join(FORMS)}, got {to!r}")
    output = None if output == STANDARD else output
    if to == "onnx" and output is None and sys.stdout.isatty():
        raise ParameterError("onnx is binary: name a file with --output")
    learner = load_model(model)
    if learner.config.k == 0:
        raise ParameterError("export needs selected features, and this model has none")
    linear = job.linear_model(learner)
    if to == "onnx":
        data = job.to_onnx(linear)
    else:
        text = job.to_json(linear) if to == "json" else job.to_tsv(linear)
        data = text.encode("utf-8", "backslashreplace")
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        if not quiet:
            say(_measured(linear))
        return
    from bearsketch.files import write_whole

    check_output(output, [str(model)])
    write_whole(output, data)
    if not quiet:
        say(f"wrote {len(linear.names):,} features to {output}")
        say(_measured(linear))


def _measured(linear: LinearModel) -> str:
    """Say how good the exported features are alone, beside the model they come from."""
    figure = "R2" if linear.classes is None else "accuracy"
    if not linear.measured:
        return (
            f"the {figure} of the exported features alone is not known: train with --holdout, or "
            "see the column 'selected' of bearsketch evaluate"
        )
    return (
        f"held-out {figure}: {linear.measured['selected_only']:.4f} with the exported features, "
        f"{linear.measured['all']:.4f} with the whole model"
    )
