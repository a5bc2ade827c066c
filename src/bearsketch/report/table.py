"""The ranked features as a table that a reader can search, sort and switch by class."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bearsketch.learners.selected import classes_of
from bearsketch.report.html import section, swatch, text
from bearsketch.report.rows import Row, feature_rows, plain_rows, shared_counts, strongest
from bearsketch.report.subject import Subject

_TOP = 100


def features(subjects: Sequence[Subject], marks: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Give the section, and what the page's script has to know."""
    naming = [s for s in subjects if s.selects]
    if not naming:
        return "", {}
    rows, total = feature_rows(naming, marks)
    places = [subjects.index(s) for s in naming]
    scales = _scales(rows, len(naming))
    labels = naming[0].facts["classes"]
    kind = (
        "number" if labels is None else "two" if naming[0].learner.config.columns == 1 else "many"
    )
    body = "".join(_row(row, scales, kind, labels) for row in rows)
    several = " several" if len(naming) > 1 else ""
    table = (
        f"{_controls(kind, labels, len(rows))}"
        f'<div class="scroll"><table id="features" class="{kind}{several}">'
        f"<thead><tr>{_head(naming, places, kind)}</tr></thead><tbody>{body}</tbody></table></div>"
        '<p class="more"><span id="shown" aria-live="polite"></span> '
        '<button id="all" type="button" hidden>Show all</button></p>'
    )
    data = {
        "kind": kind,
        "labels": [str(label) for label in labels or ()],
        "scales": scales,
        "weights": plain_rows(rows),
    }
    if any(row.size != 1.0 for row in rows):
        data["sizes"] = [row.size for row in rows]
    return section("selected", "Selected features", table, _lead(naming, rows, total, kind)), data


def _scales(rows: Sequence[Row], n_models: int) -> list[float]:
    """Largest weight of each model, by the size of its column: full length of a bar."""
    found = []
    for m in range(n_models):
        known = [(row.size, w) for row in rows if (w := row.weights[m]) is not None]
        found.append(max((size * abs(strongest(w)[1]) for size, w in known), default=1.0) or 1.0)
    return found


def _lead(naming: Sequence[Subject], rows: Sequence[Row], total: int, kind: str) -> str:
    told = []
    if len(naming) > 1:
        shared = shared_counts(rows, len(naming), _TOP)
        told += [
            f"{text(naming[0].name)} and {text(other.name)} share {shared[0][i]} of their "
            f"first {_TOP}."
            for i, other in enumerate(naming[1:], start=1)
        ]
    if total > len(rows):
        told.append(
            f"The first {len(rows):,} of {total:,}; <code>bearsketch features</code> has all."
        )
    if kind == "two":
        no, yes = naming[0].facts["classes"]
        told.append(f"A positive weight speaks for {text(yes)}, a negative one for {text(no)}.")
    if any(row.size != 1.0 for row in rows):
        told.append("Weights are per unit; bars are weights by the spread of their column.")
    return " ".join(told)


def _controls(kind: str, labels: list[Any] | None, n: int) -> str:
    options = "".join(f'<option value="{i}">{text(x)}</option>' for i, x in enumerate(labels or ()))
    chooser = (
        f'<label>Class <select id="class"><option value="">strongest</option>{options}</select>'
        "</label>"
        if kind != "number"
        else ""
    )
    return (
        '<div class="controls"><label class="search">Search '
        f'<input id="search" type="search" placeholder="among {n:,} names" autocomplete="off" '
        f'spellcheck="false"></label>{chooser}</div>'
    )


def _head(naming: Sequence[Subject], places: Sequence[int], kind: str) -> str:
    heads = [_sorter("rank", "#", "num", "ascending"), _sorter("name", "Feature", "", "none")]
    if kind != "number":
        heads.append(_sorter("label", "Speaks for" if kind == "two" else "Class", "label", "none"))
    for m, (subject, place) in enumerate(zip(naming, places, strict=True)):
        name = "Weight" if len(naming) == 1 else swatch(place, subject.name)
        heads.append(_sorter(f"w{m}", name, "weight", "none"))
    return "".join(heads)


def _sorter(key: str, name: str, style: str, order: str) -> str:
    return (
        f'<th class="{style}" data-key="{key}" aria-sort="{order}" scope="col">'
        f'<button type="button">{name}</button></th>'
    )


def _row(row: Row, scales: Sequence[float], kind: str, labels: list[Any] | None) -> str:
    found = [(m, *strongest(w)) for m, w in enumerate(row.weights) if w is not None]
    mark = f' <span class="mark">{text(row.mark)}</span>' if row.mark else ""
    cells = [f'<td class="num">{row.rank}</td><td class="name">{text(row.name)}{mark}</td>']
    if labels is not None:
        _, number, weight = found[0]
        (shown,) = classes_of(np.array([weight]), np.array([number]), two=kind == "two")
        label = labels[shown]
        cells.append(f'<td class="label">{text(label)}</td>')
    by_model = {m: weight for m, _, weight in found}
    cells += [_weight_cell(by_model.get(m), scale, row.size) for m, scale in enumerate(scales)]
    return f"<tr>{''.join(cells)}</tr>"


def _weight_cell(weight: float | None, scale: float, size: float) -> str:
    share = 0.0 if weight is None else 50 * min(size * abs(weight) / scale, 1.0)
    shown = "&ndash;" if weight is None else _shown_weight(weight, 3 if scale >= 1 else 5)
    side = "neg" if (weight or 0.0) < 0 else "pos"
    return (
        f'<td class="weight"><span class="value">{shown}</span><span class="track">'
        f'<span class="fill {side}" style="width:{share:.1f}%"></span></span></td>'
    )


def _shown_weight(weight: float, digits: int) -> str:
    small = 0.0 < abs(weight) < 0.5 * 10.0**-digits
    return (f"{weight:+.1e}" if small else f"{weight:+.{digits}f}").replace("-", "&minus;")


def script_data(data: dict[str, Any]) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
