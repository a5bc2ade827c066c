"""``bearsketch train``."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.display import Display, best_features, make_display, watch_training
from bearsketch.cli.options import (
    Data,
    Json,
    Quiet,
    parse_limits,
    read_options,
    sources,
    takes_reading,
)
from bearsketch.cli.told import Told, results_text
from bearsketch.exceptions import ParameterError, SourceError
from bearsketch.sizes import format_bytes, parse_bytes

if TYPE_CHECKING:
    from bearsketch.io.limits import Limits
    from bearsketch.learners.config import Config
    from bearsketch.training.checkpoint import Checkpoints
    from bearsketch.training.loop import Training
    from bearsketch.training.summary import Summary

_SIZE, _LEARN, _KEEP = "Size of the model", "Learning", "Checkpoints"


def _size(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_SIZE, show_default=False, **rest)


def _learn(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_LEARN, **rest)


def _keep(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_KEEP, show_default=False, **rest)


@takes_reading
def train(
    data: Data = None,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="MODEL", help="The model file to write."),
    ],
    k: Annotated[
        int | None,
        _size("-k", metavar="N", help="Features to select. \\[a quarter of the memory, <= 1000]"),
    ] = None,
    memory: Annotated[
        str | None, _size(metavar="SIZE", help="Bytes the model keeps, such as 64KiB. \\[256KiB]")
    ] = None,
    width: Annotated[
        int | None, _size(metavar="N", help="Columns of the sketch, instead of --memory.")
    ] = None,
    depth: Annotated[int | None, _size(metavar="N", help="Rows of the sketch.")] = None,
    dimension: Annotated[
        int | None, _size(metavar="N", help="Number of possible features, for --compression.")
    ] = None,
    compression: Annotated[
        float | None,
        _size(metavar="X", help="Model X times smaller than a weight per possible feature."),
    ] = None,
    max_memory: Annotated[
        str | None,
        _size(
            metavar="SIZE",
            help="Most memory of the whole process: refused before it starts, or kept to.",
        ),
    ] = None,
    learner: Annotated[
        str,
        _learn(
            metavar="NAME",
            help="One of bear+, bear, mission, newton, awm, sgd, olbfgs, fh.",
        ),
    ] = "bear+",
    loss: Annotated[
        str,
        _learn(metavar="NAME", help="One of auto, logistic, softmax, squared."),
    ] = "auto",
    classes: Annotated[
        str | None,
        _learn(
            metavar="A,B,...", help="All labels, when the first examples may not have them all."
        ),
    ] = None,
    max_classes: Annotated[
        int | None,
        _learn(
            metavar="N",
            help="Keep room for N classes, as some may turn up late; each takes its share of "
            "the memory.",
        ),
    ] = None,
    per_class: Annotated[
        bool, _learn("--per-class/--shared", help="Select k features for each class, or for all.")
    ] = False,
    passes: Annotated[int, _learn(metavar="N", help="Trips over the data.")] = 1,
    batch_size: Annotated[int, _learn(metavar="N", help="Examples of a minibatch.")] = 20,
    step_size: Annotated[str, _learn(metavar="auto|X", help="Nothing to tune, or a number.")] = (
        "auto"
    ),
    history: Annotated[int, _learn(metavar="N", help="Pairs of L-BFGS.")] = 5,
    query: Annotated[
        str | None,
        _learn(metavar="mean|median", help="Of the rows of the sketch.", show_default=False),
    ] = None,
    l2: Annotated[float, _learn("--l2", metavar="X", help="Strength of L2 decay.")] = 0.0,
    intercept: Annotated[
        bool, _learn("--intercept/--no-intercept", help="Learn a constant per class.")
    ] = True,
    seed: Annotated[
        int, _learn(metavar="N", help="Changes every hash; models merge with equal seeds.")
    ] = 0,
    threads: Annotated[
        int,
        _learn(metavar="N", help="2 reads ahead while learning, 1 does not; same model."),
    ] = 2,
    holdout: Annotated[
        float,
        _learn(
            metavar="SHARE",
            help="Do not learn this share of the examples; read them again to test the model.",
        ),
    ] = 0.0,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="PAGE",
            help="Also write an HTML page about the run.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        _keep(metavar="DIR", help="Folder for checkpoints, to go on from if the run is stopped."),
    ] = None,
    checkpoint_every: Annotated[
        str | None,
        _keep(metavar="60s|N", help="Time such as 60s, 5m, 1h, or examples between two. [60s]"),
    ] = None,
    resume: Annotated[
        bool,
        _keep("--resume", help="Go on from the newest checkpoint in DIR, if there is one."),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: dict[str, Any],
) -> None:
    r"""Learn a model, and the k most predictive features by name, from a stream of examples.

    Format, labels, loss and number of classes are found out. Each batch is predicted before it
    is learned, so the loss and accuracy shown are those of unseen examples.

    **Examples**

    `bearsketch train clicks.vw.gz -o clicks.bear --memory 64KiB -k 500`

    `bearsketch train huge.vw.gz -o huge.bear --checkpoint huge.ckpt --resume`

    `zcat reads.fq.gz | bearsketch train - -o reads.bear --kmer 21 --label-regex 'taxon=(\w+)'`
    """
    named = sources(data)
    check_output(output, named)
    if page is not None:
        check_output(page, [*named, str(output)])
    parts = {
        "learner": learner,
        "k": k,
        "memory": memory,
        "width": width,
        "depth": depth,
        "dimension": dimension,
        "compression": compression,
        "step_size": parse_step(step_size),
        "history": history,
        "query": query,
        "per_class": per_class,
        "l2": l2,
        "intercept": intercept,
        "batch_size": batch_size,
        "seed": seed,
    }
    wanted = {
        "loss": loss,
        "classes": None if classes is None else parse_classes(classes),
        "max_classes": max_classes,
        "passes": passes,
        "holdout": holdout,
        "threads": threads,
        "checkpoint": make_checkpoints(checkpoint, checkpoint_every, resume),
    }
    config = check_parts(wanted, parts)
    options = read_options(reading)
    if max_memory is not None:
        wanted["max_memory"] = parse_bytes(max_memory)
        given = parse_limits(reading.get("limits", []))
        options["limits"] = replace(limits_under(wanted, config, named), **given)
    summary = _run(named, output, wanted, parts, options, quiet, page)
    if as_json:
        print(json.dumps(summary.to_json(), allow_nan=False))


def _run(
    named: list[str],
    output: Path,
    wanted: dict[str, Any],
    parts: dict[str, Any],
    reading: dict[str, Any],
    quiet: bool,
    page: Path | None,
) -> Summary:
    from bearsketch.io import open_stream
    from bearsketch.training.loop import Training

    options = {
        **reading,
        "include_unlabelled": False,
        "seed": parts["seed"],
        "rows": rows_of_batch(parts["batch_size"]),
    }
    with open_stream(named, **options) as stream, make_display(quiet) as display:
        training = Training(stream, **wanted, **parts)
        watch, told = watch_training(display), Told(display, stream)

        def watch_all(training: Training) -> None:
            told(training)
            watch(training)

        summary = training.run(watch_all)
        told(training)
    training.learner.save(output)
    if page is not None:
        from bearsketch.cli.report import write_training_report

        write_training_report(page, training, summary, output)
    if wanted["checkpoint"] is not None:
        wanted["checkpoint"].forget()
    if not quiet:
        _report(display, training, summary, output)
        if page is not None:
            display.note(f"wrote {page}")
    return summary


def make_checkpoints(folder: Path | None, every: str | None, resume: bool) -> Checkpoints | None:
    """Checkpoints as the options ask for them."""
    from bearsketch.training.checkpoint import Checkpoints

    if folder is None:
        if every is not None or resume:
            given = "--resume" if resume else "--checkpoint-every"
            raise ParameterError(f"{given} needs --checkpoint DIR, the folder of the checkpoints")
        return None
    return Checkpoints(folder, every or "60s", resume=resume)


def rows_of_batch(batch_size: int) -> int:
    """Examples to read at once: a few minibatches, always whole ones."""
    return batch_size * max(240 // batch_size, 1)


def _report(display: Display, training: Training, summary: Summary, output: Path) -> None:
    say = display.note
    learned = summary.examples - summary.held_out
    counts = f"{summary.examples:,} examples"
    if summary.passes > 1:
        counts += f", {summary.passes} passes"
    left_out = f"{summary.skipped:,} skipped, {summary.unlabelled:,} without a label"
    say(
        f"{counts} in {summary.seconds:.1f} s ({summary.examples_per_second:,.0f}/s), {left_out}; "
        f"peak memory {format_bytes(summary.peak_rss_bytes)}"
    )
    progressive = {
        "loss": summary.progressive_loss,
        "accuracy": summary.progressive_accuracy,
        "auc": summary.progressive_auc,
    }
    say(f"progressive {results_text(progressive)}")
    if summary.holdout is not None:
        say(f"held out {summary.held_out:,}, learned {learned:,}")
        for title, results in (
            ("all features", summary.holdout),
            ("selected only", summary.holdout.get("selected_only")),
        ):
            if results:
                say(f"held-out, {title}: {results_text(results)}")
    best = best_features(training, 10)
    if best:
        say(f"best of {len(training.learner.selected()):,} selected features:")
        for weight, name in best:
            say(f"  {weight:+9.3f}  {name}")
    say(f"wrote {output} ({format_bytes(output.stat().st_size)})")


def parse_step(text: str) -> str | float:
    """``auto`` or a number."""
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise ParameterError(f"--step-size must be auto or a number, got {text!r}") from None


def parse_classes(text: str) -> list[str]:
    """Labels between commas."""
    labels = [part.strip() for part in text.split(",")]
    if len(labels) < 2 or not all(labels):
        raise ParameterError(f"--classes must be labels between commas, got {text!r}")
    return labels


def limits_under(wanted: dict[str, Any], config: Config, named: list[str]) -> Limits:
    """Limits of reading that keep the process under ``--max-memory``."""
    from bearsketch.training.memory import fit_limits, program_bytes

    windowed = any(name.endswith((".zst", ".xz")) for name in named)
    return fit_limits(
        config,
        wanted["max_memory"],
        program=program_bytes(),
        threads=wanted["threads"],
        windowed=windowed,
    )


def check_parts(wanted: dict[str, Any], parts: dict[str, Any]) -> Config:
    """Refuse what no data could make good, before any is read; the learner as far as known."""
    from bearsketch.learners.config import resolve
    from bearsketch.training.task import LOSSES

    if wanted["loss"] not in LOSSES:
        raise ParameterError(f"--loss must be one of {', '.join(LOSSES)}, got {wanted['loss']!r}")
    if wanted["threads"] < 1:
        raise ParameterError(f"--threads must be at least 1, got {wanted['threads']}")
    with warnings.catch_warnings(action="ignore"):  # they come when the learner is made
        named = len(wanted["classes"] or ()) or wanted["max_classes"] or 2
        likely = "softmax" if named > 2 else "logistic"
        loss = likely if wanted["loss"] == "auto" else wanted["loss"]
        rest = {"passes": wanted["passes"], "reads": None, "precision": None}
        n_classes = {"squared": 1, "logistic": 2}.get(loss, named)
        return resolve(loss=loss, n_classes=n_classes, **parts, **rest)


def check_output(output: Path, named: list[str]) -> None:
    """Refuse an output that could not be written, or that is one of the inputs."""
    if output.is_dir():
        raise SourceError(f"{output}: this is a directory, not a file", code="IO-WRITE")
    folder = output.parent
    if not folder.is_dir():
        raise SourceError(f"{folder}: there is no such folder", code="IO-WRITE")
    if not os.access(output if output.exists() else folder, os.W_OK):
        raise SourceError(f"{output}: writing is not permitted", code="IO-WRITE")
    for source in named:
        if output.exists() and Path(source).exists() and output.samefile(source):
            raise ParameterError(f"the output {output} is one of the inputs")
