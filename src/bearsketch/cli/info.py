"""``bearsketch info``."""

from __future__ import annotations

import json
from typing import Any

from bearsketch.cli.model import load_model
from bearsketch.cli.notes import progressive_text, results_text
from bearsketch.cli.options import Json, Model
from bearsketch.escape import visible
from bearsketch.sizes import format_bytes


def info(model: Model, as_json: Json = False) -> None:
    """Show what a model is, how large, from what data, and how noisy its sketch is.

    **Examples**

    `bearsketch info spam.bear`

    `bearsketch info spam.bear --json | jq .noise.verdict`
    """
    from bearsketch.cli.evidence import evidence_json, warning_lines
    from bearsketch.learners.describe import describe
    from bearsketch.learners.proof import proven_text

    learner = load_model(model)
    facts = describe(learner)
    if as_json:
        facts |= {"file_bytes": model.stat().st_size, "evidence": evidence_json(learner)}
        print(json.dumps(facts, allow_nan=False))
        return
    rows = [("file", f"{model}, {format_bytes(model.stat().st_size)}")]
    proven = [proven_text(learner), *warning_lines(learner)] if learner.config.k else []
    rows += [("" if i else "names", text) for i, text in enumerate(proven)]
    rows += _rows(facts)
    print("\n".join(f"{name:14}{visible(text)}".rstrip() for name, text in rows))


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    return [*_what(facts), *_data(facts["run"]), *_health(facts)]


def _what(facts: dict[str, Any]) -> list[tuple[str, str]]:
    config = facts["config"]
    classes = "numbers"
    if facts["classes"] is not None:
        few = ", ".join(map(str, facts["classes"][:8]))
        classes = f"{len(facts['classes'])} classes: {few}"
        classes += ", ..." if len(facts["classes"]) > 8 else ""
    shape = f"{config['width']:,} x {config['depth']} cells"
    if config["dimension"]:
        shape = f"{config['dimension']:,} weights"
    columns = config["n_classes"] if config["loss"] == "softmax" else 1
    shape += f" x {columns} classes" if columns > 1 else ""
    scaled = "column of numbers is" if facts["scaled"] == 1 else "columns of numbers are"
    rows = [
        ("learner", f"{config['learner']}, loss {config['loss']}, seed {config['seed']}"),
        ("predicts", classes),
        (
            "model",
            f"{format_bytes(facts['model_bytes'])}: {shape} of {config['precision']} "
            f"({format_bytes(facts['cell_bytes'])}), {facts['selected']:,} selected of "
            f"{config['k']:,}{' a class' if config['per_class'] else ''} "
            f"({format_bytes(facts['selected_bytes'])})",
        ),
        (
            "scaled",
            f"{facts['scaled']:,} {scaled} learned at size 1; weights are of the values as they "
            "are",
        ),
    ]
    if not facts["scaled"]:
        del rows[-1]
    if facts["classes"] is not None:
        rows.append(("probabilities", _calibration(facts["calibration"]["all"])))
    return rows


def _calibration(fit: dict[str, Any] | None) -> str:
    if fit is None:
        return "not calibrated: fewer than 200 predictions to learn from"
    return f"calibrated by {fit['examples']:,} predictions: {fit['slope']:.3g} times the margin" + (
        f" {fit['offset']:+.3g}" if fit["offset"] else ""
    )


def _data(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows about each run, the earliest first."""
    runs = [*run.get("before", []), run]
    found = [row for one in runs for row in _run_rows(one)]
    return found or [("data", "not remembered")]


def _run_rows(run: dict[str, Any]) -> list[tuple[str, str]]:
    if not run.keys() - {"selected_only", "n_columns"}:
        return []
    names = run.get("sources", [])
    shown = ", ".join(names[:5]) + (", ..." if run.get("n_sources", 0) > 5 else "")
    rows = [
        ("data", f"{shown} ({run['format']})" if run.get("format") else "not remembered"),
        ("", _counted(run)),
        (
            "read with",
            " ".join(f"{name}={value}" for name, value in run.get("options", {}).items()),
        ),
        ("progressive", progressive_text(run)),
        ("held out", results_text(run["holdout"]) if run.get("holdout") else ""),
        ("merged", f"from {run['merged']} models" if run.get("merged") else ""),
    ]
    return [(name, told) for name, told in rows if told]


def _counted(run: dict[str, Any]) -> str:
    """Count examples and passes; nothing where a run, as that of an estimator, did not."""
    counts = run.get("counts", {})
    told = [f"{counts['examples']:,} examples"] if "examples" in counts else []
    told += [f"{counts[name]:,} {name}" for name in ("skipped", "unlabelled") if counts.get(name)]
    return ", ".join(told + ([f"{run['passes']} passes"] if run.get("passes", 1) > 1 else []))


def _health(facts: dict[str, Any]) -> list[tuple[str, str]]:
    from bearsketch.learners.noise import Noise

    guards = dict(facts["guards"])
    collisions = guards.pop("name_collisions")
    fired = ", ".join(f"{name} {n:,}" for name, n in guards.items() if n and name != "stored_pairs")
    cells = facts["fill"]
    rows = [
        ("guards", fired or "none acted"),
        ("collisions", f"{collisions:,} keys seen under two names"),
        ("sketch", f"{cells['used'] / max(cells['cells'], 1):.1%} of the cells in use"),
    ]
    noise = facts["noise"]
    if noise is None:
        return rows
    rows[-1] = (
        "sketch",
        f"{rows[-1][1]}: at least {noise['features']:,} features, {noise['crowding']:.1f} a cell",
    )
    clear = "" if noise["ratio"] is None else f", {noise['ratio']:.1f} times the floor"
    depth = facts["config"]["depth"]
    return [
        *rows,
        (
            "noise floor",
            f"{noise['floor']:.4g}: expected error of a weight by hash collisions "
            "(sampling noise not included): root mean square of the cells"
            f"{f' over the root of depth {depth}' if depth > 1 else ''}",
        ),
        ("smallest", f"{noise['smallest']:.4g}: what all but 5 % of the selected are worth{clear}"),
        (
            "by chance",
            f"{_about(noise['by_chance'])} of them would reach that by collisions in the sketch "
            f"alone; {noise['selected']:,} are selected",
        ),
        ("verdict", Noise(**noise).words),
    ]


def _about(n: float) -> str:
    return "less than one" if n < 0.5 else f"about {n:,.0f}"
