"""``bearsketch train``."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.display import Display, best_features, make_display, watch_training
from bearsketch.cli.options import Data, Json, Quiet, read_options, sources, takes_reading
from bearsketch.cli.told import Told, results_text
from bearsketch.exceptions import ParameterError, SourceError
from bearsketch.sizes import format_bytes

if TYPE_CHECKING:
    from bearsketch.training.loop import Training
    from bearsketch.training.summary import Summary

_SIZE, _LEARN, _MANY = "Size of the model", "Learning", "Several workers"


def _size(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_SIZE, show_default=False, **rest)


def _learn(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_LEARN, **rest)


def _many(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_MANY, show_default=False, **rest)


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
    workers: Annotated[
        int | None, _many(metavar="N", help="Train with N processes of this machine.")
    ] = None,
    cluster: Annotated[
        str | None,
        _many(metavar="ADDRESS", help="Train on a Dask cluster, such as tcp://scheduler:8786."),
    ] = None,
    shards: Annotated[
        int | None,
        _many(metavar="N", help="Parts learned at a time. \\[4, or the workers if more]"),
    ] = None,
    rounds: Annotated[
        int | None, _many(metavar="N", help="Merges in a pass. \\[16, fewer on small data]")
    ] = None,
    patience: Annotated[
        float,
        _many(metavar="SECONDS", help="Silence after which a worker counts as lost. \\[60]"),
    ] = 60.0,
    checkpoint: Annotated[
        Path | None,
        _many(metavar="DIR", help="Folder for checkpoints, to go on from if the run is stopped."),
    ] = None,
    resume: Annotated[
        bool,
        _many("--resume", help="Go on from the newest checkpoint in DIR, if there is one."),
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

    `bearsketch train day-*.vw -o week.bear --workers 8`

    `zcat reads.fq.gz | bearsketch train - -o reads.bear --kmer 21 --label-regex 'taxon=(\w+)'`
    """
    named = sources(data)
    check_output(output, named)
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
    }
    check_parts(wanted, parts)
    if workers is None and cluster is None:
        if any(given is not None for given in (shards, rounds, checkpoint)):
            raise ParameterError("--shards, --rounds and --checkpoint need --workers or --cluster")
        summary = _run(named, output, wanted, parts, reading, quiet)
    else:
        from bearsketch.cli.sharded import Crew, run_sharded

        crew = Crew(workers, cluster, shards, rounds, patience, checkpoint, resume)
        summary = run_sharded(crew, named, output, wanted, parts, reading, quiet)
    if as_json:
        print(json.dumps(summary.to_json(), allow_nan=False))


def _run(
    named: list[str],
    output: Path,
    wanted: dict[str, Any],
    parts: dict[str, Any],
    reading: dict[str, Any],
    quiet: bool,
) -> Summary:
    from bearsketch.io import open_stream
    from bearsketch.training.loop import Training

    options = {
        **read_options(reading),
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
    if not quiet:
        _report(display, training, summary, output)
    return summary


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


def check_parts(wanted: dict[str, Any], parts: dict[str, Any]) -> None:
    """Refuse what no data could make good, before any is read."""
    from bearsketch.learners.config import resolve
    from bearsketch.training.task import LOSSES

    if wanted["loss"] not in LOSSES:
        raise ParameterError(f"--loss must be one of {', '.join(LOSSES)}, got {wanted['loss']!r}")
    if wanted["threads"] < 1:
        raise ParameterError(f"--threads must be at least 1, got {wanted['threads']}")
    with warnings.catch_warnings(action="ignore"):  # they come when the learner is made
        loss = "logistic" if wanted["loss"] == "auto" else wanted["loss"]
        rest = {"passes": wanted["passes"], "reads": None, "precision": None}
        resolve(loss=loss, n_classes=1 if loss == "squared" else 2, **parts, **rest)


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
