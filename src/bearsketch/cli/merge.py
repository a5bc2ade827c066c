"""``bearsketch merge``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.checks import check_output
from bearsketch.cli.guard import say
from bearsketch.cli.model import load_model
from bearsketch.cli.notes import family
from bearsketch.cli.options import Json, Quiet
from bearsketch.escape import shown_name
from bearsketch.exceptions import IncompatibleError, ParameterError
from bearsketch.training.warnings import RunWarning

if TYPE_CHECKING:
    from bearsketch.learners import Learner


def merge(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="Two or more .bear files.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")
    ],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Average models that were trained alike on parts of the data, weighted by their examples.

    Seed, shape, learner, loss and labels must agree. Cells, exact weights and intercepts are
    averaged; the selection is made anew from all that were selected; counts add up. The pairs
    of L-BFGS and the learning curves are dropped.

    **Examples**

    `bearsketch merge monday.bear tuesday.bear -o week.bear`

    `bearsketch merge shard-*.bear -o all.bear --json`
    """
    from bearsketch.learners.average import average

    parts = _load(models, output)
    learner = average(parts)
    records = [part.run for part in parts]
    dropped = {entry for part in parts for entry in _selected_entries(part)}
    kept = set(_selected_entries(learner))
    learner.run = _joined(records)
    learner.save(output)
    results = {
        "models": len(models),
        "examples": learner.counters["examples"],
        "selected": len(kept),
        "selected_dropped": len(dropped - kept),
        "model_bytes": learner.sizes.model_bytes,
    }
    if not quiet:
        _tell_missing(parts)
        _report(results, output)
    if as_json:
        print(json.dumps(results))


def _tell_missing(parts: list[Learner]) -> None:
    """Say which columns count otherwise where a number is missing; the first model decides."""
    rules = [
        dict(zip(part.scaling.shown(), part.scaling.missing.tolist(), strict=True))
        for part in parts
        if part.scaling is not None
    ]
    for name, missing in rules[0].items() if rules else ():
        if any(other.get(name, missing) != missing for other in rules):
            facts = {"column": shown_name(name), "mean": bool(missing)}
            say(f"warning[MERGE-MISSING] {RunWarning('MERGE-MISSING', facts)}")


def _load(models: list[Path], output: Path) -> list[Learner]:
    """Read the models, and refuse those that do not go together."""
    if len(models) < 2:
        raise ParameterError(f"merge needs two models at least, got {len(models)}")
    for i, path in enumerate(models):
        if path in models[:i]:
            raise ParameterError(f"{path} is named twice; each model counts once")
    from bearsketch.learners.average import check_mergeable

    check_output(output, [*map(str, models)])
    parts = [load_model(path) for path in models]
    for path, part in zip(models[1:], parts[1:], strict=True):
        try:
            check_mergeable(parts[0], part)
            _check_read_alike(parts[0].run, part.run)
        except IncompatibleError as error:
            raise IncompatibleError(
                f"{models[0]} and {path}: {error.message}",
                code=error.code or "MERGE-STRANGERS",
                hint=error.hint or "Train all parts with the same options, seed included.",
            ) from None
    return parts


def _check_read_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse models whose features were made of their data in different ways."""
    columns = [run["n_columns"] for run in (one, other) if "n_columns" in run]
    if len(set(columns)) > 1:
        raise IncompatibleError(
            f"their matrices had {columns[0]} and {columns[1]} columns",
            hint="Fit all parts to the same columns in the same order.",
        )
    if "options" not in one or "options" not in other:
        return  # made in memory: nobody knows
    forms = [run["format"] for run in (one, other) if "format" in run]
    if len({*map(family, forms)}) > 1:
        raise IncompatibleError(
            f"their data was {forms[0]} and {forms[1]}, whose features have different names"
        )
    for name in sorted({*one["options"], *other["options"]}):
        if one["options"].get(name) != other["options"].get(name):
            raise IncompatibleError(f"their data was read with different {name}")


def _selected_entries(learner: Learner) -> list[tuple[int, int]]:
    """Each selected key with its selection: one for all classes, or one a class."""
    core = learner._core
    return [(g, key) for g in range(core.groups) for key in core.selected(g)["keys"].tolist()]


def _joined(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Tell what the merged model remembers: all data, counts added, options of the first."""
    from bearsketch.reading.remember import MOST_SOURCES

    first = records[0]
    counts: dict[str, int] = {}
    for record in records:
        for name, n in record.get("counts", {}).items():
            counts[name] = counts.get(name, 0) + n
    sources = [name for record in records for name in record.get("sources", [])]
    kept = ("format", "options", "passes", "n_columns")
    return {
        **{name: first[name] for name in kept if name in first},
        "counts": counts,
        "sources": sources[:MOST_SOURCES],
        "n_sources": sum(record.get("n_sources", 0) for record in records),
        "merged": sum(record.get("merged", 1) for record in records),
    }


def _report(results: dict[str, Any], output: Path) -> None:
    say(
        f"merged {results['models']} models of {results['examples']:,} examples in all: cells, "
        "exact weights and intercepts averaged by examples"
    )
    say(
        f"kept {results['selected']:,} selected features; {results['selected_dropped']:,} others, "
        "the pairs of L-BFGS and the learning curves were dropped"
    )
    say(f"wrote {output}")
