"""``bearsketch train``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.checks import (
    check_output,
    check_parts,
    continue_from,
    limits_under,
    make_checkpoints,
    note_plain_size,
    parse_classes,
    parse_share,
    parse_step,
    refuse_alone_only,
    rows_of_batch,
    was_typed,
)
from bearsketch.cli.display import (
    Display,
    make_display,
    say_best,
)
from bearsketch.cli.help import brief
from bearsketch.cli.notes import progressive_text, results_text, wrote_text
from bearsketch.cli.options import (
    Data,
    Json,
    Quiet,
    parse_limits,
    read_options,
    sources,
    takes_reading,
)
from bearsketch.exceptions import ParameterError
from bearsketch.sizes import format_bytes, parse_bytes
from bearsketch.wording import for_command

if TYPE_CHECKING:
    from bearsketch.training.labelling import ModelLabels
    from bearsketch.training.session import Session
    from bearsketch.training.summary import Summary

_SIZE, _LEARN = "Size of the model", "Learning"
_KEEP, _MANY = "Checkpoints", "Several workers"


def _size(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_SIZE, show_default=False, **rest)


def _learn(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_LEARN, **rest)


def _keep(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_KEEP, show_default=False, **rest)


def _many(*names: str, **rest: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_MANY, show_default=False, **rest)


@brief(
    "data",
    "output",
    "memory",
    "k",
    "format",
    "label_column",
    "loss",
    "passes",
    "holdout",
    "init",
    "checkpoint",
    "resume",
    "workers",
    "page",
    "quiet",
    "as_json",
)
@takes_reading
def train(
    context: typer.Context,
    data: Data = None,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="MODEL", help="Model file to write."),
    ],
    k: Annotated[
        int | None,
        _size(
            "-k",
            metavar="N",
            help="Features to select. \\[default: a quarter of the memory, at most 1000]",
        ),
    ] = None,
    memory: Annotated[
        str | None, _size(metavar="SIZE", help="Model size, e.g. 64KiB. \\[default: 256KiB]")
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
        _size(metavar="X", help="Shrink to 1/X of one float32 weight per possible feature."),
    ] = None,
    max_memory: Annotated[
        str | None,
        _size(
            metavar="SIZE",
            help="Limit on the memory of the whole process, e.g. 1GiB.",
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
        list[str] | None,
        _learn(
            metavar="A,B,...",
            help="All labels, where the first examples may lack some. May be repeated.",
        ),
    ] = None,
    max_classes: Annotated[
        int | None,
        _learn(
            metavar="N",
            help="Keep room for N classes, as some may occur late; each takes a share of the "
            "memory.",
        ),
    ] = None,
    per_class: Annotated[
        bool, _learn("--per-class/--shared", help="Select k features for each class, or for all.")
    ] = False,
    passes: Annotated[int, _learn(metavar="N", help="Passes over the data.")] = 1,
    batch_size: Annotated[
        int | None,
        _learn(metavar="N", help="Examples in a minibatch: 100 with bear+, else 20."),
    ] = None,
    step_size: Annotated[str, _learn(metavar="auto|X", help="`auto`, or a constant step size.")] = (
        "auto"
    ),
    history: Annotated[int, _learn(metavar="N", help="Pairs that L-BFGS keeps.")] = 5,
    query: Annotated[
        str | None,
        _learn(
            metavar="mean|median",
            help="How estimates from the sketch's rows are combined.",
            show_default=False,
        ),
    ] = None,
    l2: Annotated[float, _learn("--l2", metavar="X", help="Strength of the L2 penalty.")] = 0.0,
    intercept: Annotated[
        bool, _learn("--intercept/--no-intercept", help="Whether to learn a constant per class.")
    ] = True,
    evidence: Annotated[
        bool,
        _learn(
            "--evidence/--no-evidence",
            help="Test the selected names, so that features --fdr can list the proven ones.",
        ),
    ] = True,
    adjust: Annotated[
        list[str] | None,
        _learn(
            metavar="COLUMN",
            help="Compare rows of one value of COLUMN only, such as a site; not a feature then. "
            "A column, field or namespace; repeatable.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, _learn(metavar="N", help="Seed of all hashes; only models with equal seeds merge.")
    ] = 0,
    threads: Annotated[
        int,
        _learn(
            metavar="N",
            help="Threads: one learns, the rest read. Results do not depend on it.",
        ),
    ] = 2,
    holdout: Annotated[
        str,
        _learn(
            metavar="SHARE",
            help="Share of examples to hold out and test the model on at the end, e.g. 10%.",
        ),
    ] = "0",
    init: Annotated[
        Path | None,
        _keep(metavar="MODEL", help="Model to continue from: labels, scaling, options stand."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        _keep(metavar="DIR", help="Folder for checkpoints, to resume a stopped run from."),
    ] = None,
    checkpoint_every: Annotated[
        str | None,
        _keep(
            metavar="60s|N",
            help="Time between checkpoints, e.g. 5m, or a number of examples. \\[default: 60s]",
        ),
    ] = None,
    resume: Annotated[
        bool,
        _keep("--resume", help="Resume from the newest checkpoint in DIR, if there is one."),
    ] = False,
    workers: Annotated[
        int | None, _many(metavar="N", help="Train with N processes on this machine.")
    ] = None,
    cluster: Annotated[
        str | None,
        _many(metavar="ADDRESS", help="Train on a Dask cluster, e.g. tcp://scheduler:8786."),
    ] = None,
    shards: Annotated[
        int | None,
        _many(metavar="N", help="Shards learned at a time. \\[default: 4, or the workers if more]"),
    ] = None,
    rounds: Annotated[
        int | None,
        _many(metavar="N", help="Merges in a pass. \\[default: 16, fewer for small data]"),
    ] = None,
    patience: Annotated[
        float,
        _many(
            metavar="SECONDS", help="Silence after which a worker counts as lost. \\[default: 60]"
        ),
    ] = 60.0,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="PAGE",
            help="Also write an HTML report about the run.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: dict[str, Any],
) -> None:
    r"""Learn a model, and the k most predictive features by name, from a stream of examples.

    train detects the format, the labels, the loss and the number of classes. It predicts each
    batch before it learns it, so the loss and accuracy shown are those of unseen examples.

    **Examples**

    `bearsketch train clicks.vw.gz -o clicks.bear --memory 64KiB -k 500`

    `bearsketch train huge.vw.gz -o huge.bear --checkpoint huge.ckpt --resume`

    `bearsketch train --init yesterday.bear today.vw -o today.bear`

    `bearsketch train day-*.vw -o week.bear --workers 8`

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
        "evidence": evidence,
        "adjust": tuple(adjust or ()),
    }
    wanted: dict[str, Any] = {
        "loss": loss,
        "classes": parse_classes(classes) if classes else None,
        "max_classes": max_classes,
        "passes": passes,
        "holdout": parse_share(holdout),
        "threads": threads,
    }
    if not quiet:
        note_plain_size(memory)
    config = check_parts(wanted, parts)
    if workers is not None or cluster is not None:
        from bearsketch.cli.sharded import Crew, run_sharded

        refuse_alone_only(
            init=init, page=page, max_memory=max_memory, checkpoint_every=checkpoint_every
        )
        crew = Crew(workers, cluster, shards, rounds, patience, checkpoint, resume)
        summary = run_sharded(crew, named, output, wanted, parts, reading, quiet)
    else:
        if shards is not None or rounds is not None:
            raise ParameterError("--shards and --rounds need --workers or --cluster")
        wanted["checkpoint"] = make_checkpoints(checkpoint, checkpoint_every, resume)
        options = read_options(reading)
        if max_memory is not None:
            wanted["max_memory"] = parse_bytes(max_memory)
            given = parse_limits(reading.get("limits", []))
            options["limits"] = replace(limits_under(wanted, config, named), **given)
        start = None
        if init is not None:
            typed = {n: v for n, v in parts.items() if was_typed(context, n) and v is not None}
            start = continue_from(init, typed, wanted)
        summary = _run(named, output, wanted, parts, options, quiet, page, start)
    if as_json:
        print(json.dumps(summary.to_json(for_command), allow_nan=False))


def _run(
    named: list[str],
    output: Path,
    wanted: dict[str, Any],
    parts: dict[str, Any],
    reading: dict[str, Any],
    quiet: bool,
    page: Path | None,
    start: ModelLabels | None,
) -> Summary:
    from bearsketch.cli.terminal import Terminal
    from bearsketch.reading import open_stream
    from bearsketch.reading.labels import labels_for
    from bearsketch.reading.remember import reopen
    from bearsketch.training.session import Session

    threads = {"threads": max(wanted["threads"] - 1, 1)}
    if start is None:
        options = {
            **reading,
            **threads,
            "include_unlabelled": False,
            "seed": parts["seed"],
            "rows": rows_of_batch(parts["learner"], parts["batch_size"]),
            "labels": labels_for(wanted["loss"], wanted["classes"]),
        }
        opened, decided = open_stream(named, **options), {**wanted, **parts}
    else:
        config = start.learner.config
        rows = rows_of_batch(config.learner, config.batch_size)
        opened = reopen(start.learner, named, labelled=True, **{**reading, **threads, "rows": rows})
        kept = ("passes", "holdout", "threads", "checkpoint", "max_memory")
        decided = {name: wanted[name] for name in kept if name in wanted}
    with opened as stream, make_display(quiet) as display:
        session = Session(stream, start, sinks=[Terminal(display, stream)], **decided)
        summary = session.run()
    session.learner.save(output)
    if page is not None:
        from bearsketch.cli.report import write_training_report

        write_training_report(page, session, summary, output)
    if wanted["checkpoint"] is not None:
        wanted["checkpoint"].forget()
    if not quiet:
        _report(display, session, summary, output)
        if page is not None:
            display.note(f"wrote {page}")
    return summary


def _report(display: Display, session: Session, summary: Summary, output: Path) -> None:
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
    say(f"progressive {progressive_text(summary.to_json())}")
    if summary.holdout is not None:
        few = "" if summary.held_out else ": too few examples for the share to keep one"
        say(f"held out {summary.held_out:,}, learned {learned:,}{few}")
        for title, results in (
            ("all features", summary.holdout),
            ("selected only", summary.holdout.get("selected_only")),
        ):
            if results and summary.held_out:
                say(f"held-out, {title}: {results_text(results)}")
    say_best(display, session.learner, session)
    say(wrote_text(output, session.learner))
