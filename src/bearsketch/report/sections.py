"""The sections of a report, each from the models it is about."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any

from bearsketch.metrics import ClassScores, NumberScores
from bearsketch.report import charts
from bearsketch.report.html import card, facts_list, grid, number, section, swatch, text
from bearsketch.report.repeat import repeat_command
from bearsketch.report.subject import Subject
from bearsketch.sizes import format_bytes

_VERDICTS = {
    "ample": "memory ample",
    "fair": "memory fair: more would help",
    "too small": "memory too small",
}
_MOST_CLASSES = 30
_NO_FOLDERS = "A model file has the names of its data without folders: run this where the data is."
_RESULTS = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "log_loss": "log-loss",
    "brier": "Brier",
    "calibration_error": "ECE",
    "rmse": "RMSE",
    "r2": "R²",
}
_DETAILS = ("log_loss", "brier", "calibration_error")  # too much for the first line


def overview(subjects: Sequence[Subject]) -> str:
    """Tell what was trained and on what: a row a fact, a column a model."""
    columns = [_overview_of(subject) for subject in subjects]
    told = ("Selected", "Model") if len(subjects) == 1 else ()  # the headline has them
    names = [n for n in columns[0] if n not in told and any(column[n] for column in columns)]
    head = ""
    if len(subjects) > 1:
        cells = "".join(f"<th>{swatch(i, s.name)}</th>" for i, s in enumerate(subjects))
        head = f"<thead><tr><th></th>{cells}</tr></thead>"
    body = "".join(
        f"<tr><th>{name}</th>"
        + "".join(f"<td>{column[name] or '&ndash;'}</td>" for column in columns)
        + "</tr>"
        for name in names
    )
    table = f'<div class="scroll"><table class="facts">{head}<tbody>{body}</tbody></table></div>'
    top = headline(subjects[0]) if len(subjects) == 1 else ""
    return f'<section id="overview">{top}{table}</section>'


def headline(subject: Subject) -> str:
    """Give the few figures a reader looks for first."""
    facts, run = subject.facts, subject.run
    tested = subject.scores["all"].to_json() if subject.scores else {}
    known = {"test": tested, "held-out": run.get("holdout") or {}, "progressive": _progressive(run)}
    where, results = next(
        (
            (where, r)
            for where, r in known.items()
            if any(r.get(key) is not None for key in _RESULTS)
        ),
        ("", {}),
    )
    figures = [
        (f"{where} {name}", _figure(results[key], 3))
        for key, name in _RESULTS.items()
        if results.get(key) is not None and key not in _DETAILS
    ]
    if subject.selects:
        figures.append(("features by name", f"{facts['selected']:,}"))
    figures.append(("model", format_bytes(facts["model_bytes"])))
    examples, what = subject.learned
    figures.append((what, f"{examples:,}"))
    tiles = "".join(f"<div><dd>{value}</dd><dt>{text(name)}</dt></div>" for name, value in figures)
    return f'<dl class="headline">{tiles}</dl>'


def _progressive(run: dict[str, Any]) -> dict[str, Any]:
    names = (
        ("rmse", "r2") if run.get("progressive_rmse") is not None else ("accuracy", "auc", "loss")
    )
    return {name: run.get(f"progressive_{name}") for name in names}


def _overview_of(subject: Subject) -> dict[str, str]:
    facts, run, config = subject.facts, subject.run, subject.learner.config
    counts = run.get("counts", {})
    examples, what = subject.learned
    told = [f"{examples:,}{what.removeprefix('examples')}"]
    if "examples" in counts:
        told = [f"{counts['examples']:,}"]
    told += [f"{counts[n]:,} {n}" for n in ("skipped", "unlabelled") if counts.get(n)]
    told += [f"{run['held_out']:,} held out"] if run.get("held_out") else []
    noise = facts["noise"]
    verdict = noise["verdict"] if noise else ""
    tested = subject.scores["all"] if subject.scores else None
    selected = (subject.scores or {}).get("selected")
    return {
        "Data": _sources(run),
        "Examples": ", ".join(told)
        + (f", {run['passes']} passes" if run.get("passes", 1) > 1 else ""),
        "Predicts": _predicts(facts["classes"]),
        "Learner": f"{text(config.learner)}, {text(config.loss)} loss",
        "Selected": f"{facts['selected']:,} features"
        if subject.selects
        else "cannot name features",
        "Model": format_bytes(facts["model_bytes"]),
        "Health": f'<span class="chip {verdict.replace(" ", "-")}">{_VERDICTS[verdict]}</span>'
        if verdict
        else "",
        "Progressive": _results(_progressive(run)),
        "Held out": _results(run["holdout"]) if run.get("holdout") else "",
        "Test, all features": _results(tested.to_json()) if tested else "",
        "Test, selected only": _results(selected.to_json()) if selected else "",
        "Time": _time(subject),
    }


def _sources(run: dict[str, Any]) -> str:
    names = run.get("sources", [])
    more = run.get("n_sources", len(names)) - min(len(names), 3)
    told = ", ".join(text(name) for name in names[:3])
    told += f" and {more:,} more" if more > 0 else ""
    told += f" ({text(run['format'])})" if run.get("format") else ""
    return told + (f"; merged from {run['merged']} models" if run.get("merged") else "")


def _predicts(classes: list[Any] | None) -> str:
    if classes is None:
        return "numbers"
    few = ", ".join(text(label) for label in classes[:6])
    return f"{len(classes)} classes: {few}" + (", …" if len(classes) > 6 else "")


def _results(results: dict[str, Any]) -> str:
    names = {**_RESULTS, "loss": "loss"}
    shown = [(n, results.get(key)) for key, n in names.items()]
    return ", ".join(f"{n}&nbsp;{_figure(value, 4)}" for n, value in shown if value is not None)


def _figure(value: float, digits: int) -> str:
    """Share or error with some digits after the point; large errors with as many in all."""
    return f"{value:.{digits}f}" if abs(value) < 10 else f"{value:,.{digits + 2}g}"


def _time(subject: Subject) -> str:
    seconds, rate = subject.known("seconds"), subject.known("examples_per_second")
    told = [f"{seconds:.1f} s"] if seconds is not None else []
    told += [f"{rate:,.0f} examples/s"] if rate else []
    peak = subject.known("peak_rss_bytes")
    return ", ".join(told + ([f"process peak {format_bytes(peak)}"] if peak else []))


def _rmse(loss: float) -> float:
    return math.sqrt(2.0 * loss)  # the loss is half of the squared error


def curves(subjects: Sequence[Subject]) -> str:
    """Learning curves of all models: loss and accuracy, or the error of predicted numbers."""
    regression = all(subject.learner.config.loss == "squared" for subject in subjects)
    name, shown = ("RMSE", _rmse) if regression else ("loss", float)
    loss = charts.curve_chart(subjects, 1, name, shown)
    accuracy = charts.curve_chart(subjects, 2, "accuracy")
    cards = [card(f"{name}, by examples seen", loss), card("accuracy, by examples seen", accuracy)]
    lead = (
        "Each example was predicted before it was learned. Thin: each part of the stream; "
        "bold: the mean so far."
    )
    return section("curve", "Learning curve", legend(subjects) * bool(loss) + grid(cards), lead)


def legend(subjects: Sequence[Subject]) -> str:
    """Colours of the models, where there are several."""
    if len(subjects) < 2:
        return ""
    names = "".join(f"<li>{swatch(i, s.name)}</li>" for i, s in enumerate(subjects))
    return f'<ul class="legend">{names}</ul>'


def inside(subjects: Sequence[Subject]) -> str:
    """Sizes of the selected weights against the noise floor, and where the bytes are."""
    cards = []
    for place, subject in enumerate(subjects):
        of = f"{swatch(place, subject.name)}: " if len(subjects) > 1 else ""
        if subject.selects:
            chart = charts.weight_chart(subject, place)
            cards.append(
                card(f"{of}selected features by size of weight", chart, _noise_note(subject))
            )
        cards.append(_memory_card(subject, f"{of}what the model keeps"))
    lead = (
        "A weight read from the sketch errs by what other features add to its cells. Weights far "
        "right of the noise floor are there for a reason; near it, by chance."
    )
    return section("inside", "Noise and memory", grid(cards), lead)


def _noise_note(subject: Subject) -> str:
    noise = subject.facts["noise"]
    if noise is None:
        return ""
    clear = f", {noise['ratio']:.1f} times the floor" if noise["ratio"] else ""
    by_chance = noise["by_chance"]
    many = "less than one" if by_chance < 0.5 else f"about {by_chance:,.0f}"
    return (
        f"All but 5 % of the selected are worth {noise['smallest']:.4g} or more{clear}: their "
        "weights by the size of values above 1 and by how often they occurred. Of at least "
        f"{noise['features']:,} features in the cells ({noise['crowding']:.2g} a cell), {many} "
        f"would reach it by chance; {noise['selected']:,} are selected."
    )


def _memory_card(subject: Subject, title: str) -> str:
    facts, config = subject.facts, subject.learner.config
    shape = f"{config.width:,} &times; {config.depth}"
    shape = f"{config.dimension:,}" if config.dimension else shape
    shape += f" &times; {config.columns} classes" if config.columns > 1 else ""
    rows = [
        (name, f'<span class="key {style}"></span>{format_bytes(size)}')
        for style, name, size in charts.memory_parts(subject)
        if size
    ]
    rows.append(("model", f"<b>{format_bytes(facts['model_bytes'])}</b>"))
    names = sum(len(n.encode()) for n in _names(subject))
    rows += [("names, beside it", format_bytes(names))] if names else []
    if (scaling := subject.learner.scaling) is not None:
        kept = sum(array.nbytes for array in scaling.arrays().values())
        rows.append((f"means and sizes of {len(scaling.keys):,} columns", format_bytes(kept)))
    file = subject.known("file_bytes")
    rows += [("file", format_bytes(file))] if file else []
    note = f"{shape} cells of {text(config.precision)}"
    return card(title, charts.memory_bar(subject) + facts_list(rows), note)


def _names(subject: Subject) -> list[str]:
    """Names the model keeps: none where they are in the keys themselves."""
    kept = subject.selects and subject.learner.naming == "name"
    return list(subject.learner.selected().names) if kept else []


def tests(subjects: Sequence[Subject]) -> str:
    """Results on test data: ROC, confusion, or errors of numbers."""
    if not any(subject.scores for subject in subjects):
        return ""
    roc = charts.roc_chart(subjects)
    cards = [
        card(
            "ROC: true against false positive rate",
            roc,
            "Solid: all features; dashed: the selected alone.",
            "square",
        )
    ]
    for place, subject in enumerate(subjects):
        chart = charts.reliability_chart(subject, place)
        of = f"{swatch(place, subject.name)}: " if len(subjects) > 1 else ""
        cards.append(card(f"{of}reliability", chart, _reliability_note(subject), "square"))
    for place, subject in enumerate(subjects):
        scores = (subject.scores or {}).get("all")
        if isinstance(scores, ClassScores) and scores.confusion is not None:
            title = swatch(place, subject.name) if len(subjects) > 1 else "confusion"
            cards.append(card(title, _confusion(subject, scores), "Rows: true class."))
        elif isinstance(scores, NumberScores):
            rows = [("RMSE", number(scores.rmse)), ("R²", number(scores.r2))]
            cards.append(card(swatch(place, subject.name), facts_list(rows)))
    examples = max(s.scores["all"].examples for s in subjects if s.scores)
    lead = f"On {examples:,} examples that were given to test with."
    return section("test", "Test", legend(subjects) + grid(cards), lead)


def _reliability_note(subject: Subject) -> str:
    scores = (subject.scores or {}).get("all")
    if not isinstance(scores, ClassScores) or scores.reliability is None:
        return ""
    bins = scores.reliability.curve()
    if not bins:
        return ""
    labels = subject.facts["classes"]
    what = f"of {text(labels[1])}" if len(labels) == 2 else "of the predicted class"
    counts = [row.examples for row in bins]
    few, many = f"{min(counts):,.6g}", f"{max(counts):,.6g}"
    size = few if few == many else f"{few} to {many}"
    return (
        f"Share that came true against the predicted probability {what}: {len(bins)} bins of "
        f"{size} examples, with 95 % intervals. Calibration error "
        f"{scores.reliability.error:.4f}; {scores.reliability.chance:.4f} by chance."
    )


def _confusion(subject: Subject, scores: ClassScores) -> str:
    table = scores.confusion
    assert table is not None
    labels = [text(label) for label in subject.facts["classes"]]
    if len(labels) > _MOST_CLASSES:
        return _most_confused(labels, table)
    head = "".join(f'<th class="top"><span>{label}</span></th>' for label in labels)
    rows = []
    for label, row in zip(labels, table.tolist(), strict=True):
        total = sum(row) or 1.0
        cells = "".join(
            f'<td style="--share:{value / total:.3f}" class="{"strong" * (value > total / 2)}">'
            f"{value:,.6g}</td>"
            for value in row
        )
        rows.append(f"<tr><th>{label}</th>{cells}</tr>")
    dense = " dense" if len(labels) > 8 else ""
    return (
        f'<div class="scroll"><table class="confusion{dense}"><thead><tr><td></td>{head}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _most_confused(labels: list[str], table: Any) -> str:
    pairs = [
        (float(table[i, j]), labels[i], labels[j])
        for i in range(len(labels))
        for j in range(len(labels))
        if i != j and table[i, j]
    ]
    rows = "".join(
        f'<tr><td>{true}</td><td>{guess}</td><td class="num">{n:,.6g}</td></tr>'
        for n, true, guess in sorted(pairs, reverse=True)[:20]
    )
    return (
        f'<table class="facts"><thead><tr><th>true</th><th>predicted</th><th class="num">examples'
        f"</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def settings(subjects: Sequence[Subject]) -> str:
    """Give the command that repeats each run, and every setting."""
    cards = []
    for place, subject in enumerate(subjects):
        sources = subject.known("sources")
        command = repeat_command(subject.learner, subject.name, sources)
        body = f"<pre><code>{_folded(command)}</code></pre>" if command else ""
        note = _NO_FOLDERS if command and sources is None else ""
        config = {**subject.facts["config"]}
        config["step"] = " ".join(f"{k}={v}" for k, v in config["step"].items())
        config |= {f"read: {k}": v for k, v in subject.run.get("options", {}).items()}
        guards = {n: c for n, c in subject.facts["guards"].items() if c}
        config |= {f"guard: {name}": n for name, n in guards.items()}
        body += (
            "<details><summary>Every setting</summary>"
            + facts_list([(name, text(value)) for name, value in config.items()])
            + "</details>"
        )
        cards.append(card(swatch(place, subject.name) if len(subjects) > 1 else "", body, note))
    lead = "The same data, settings and build give the same model, byte for byte."
    return section("settings", "Settings to repeat it", grid(cards, "wide"), lead)


def _folded(command: str) -> str:
    """Give a shell line as several of at most 88 letters, where it has words to fold at."""
    lines = [""]
    for word in map(shlex.quote, shlex.split(command)):
        if lines[-1] and len(lines[-1]) + len(word) > 86:
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(text(line) for line in lines)
