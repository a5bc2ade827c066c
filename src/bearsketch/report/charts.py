"""The charts of a report: learning curves, weights against the noise floor, ROC, memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from bearsketch.learners.noise import size_by_class
from bearsketch.metrics import ClassScores
from bearsketch.report.subject import Subject
from bearsketch.report.svg import Chart, Point, count_axis, even_axis, log_axis, short_count
from bearsketch.sizes import format_bytes

_BINS = 36


def curve_chart(
    subjects: Sequence[Subject], column: int, title: str, shown: Callable[[float], float] = float
) -> str:
    """Draw loss (column 1) or accuracy (2): each part of the stream, and the mean so far.

    ``shown`` turns a mean loss into what is drawn.
    """
    curves = [
        [(p[0], p[column]) for p in s.run.get("curve", []) if p[column] is not None]
        for s in subjects
    ]
    drawn = [(place, points) for place, points in enumerate(curves) if points]
    if not drawn:
        return ""
    values = [shown(y) for _, points in drawn for _, y in _without_rest(points)]
    x = count_axis(max(points[-1][0] for _, points in drawn))
    low, high = _reach(values, column)
    chart = Chart(x, even_axis(low, high), f"{title} against examples")
    for place, points in drawn:
        chart.line([(x, shown(y)) for x, y in _without_rest(points)], f"part s{place}")
    for place, points in drawn:
        mean = [(x, shown(m)) for x, m in _so_far(points)]
        chart.line(mean, f"mean s{place}")
        told = [
            (x, y, f"{subjects[place].name}: {x:,} examples, {title} {y:.4g}, so far {m:.4g}")
            for (x, y), (_, m) in zip([(x, shown(y)) for x, y in points], mean, strict=True)
        ]
        chart.spots(told, f"s{place}")
    return chart.render()


def _without_rest(points: list[Point]) -> list[Point]:
    """Points but a last one that stands for few examples, and so for chance."""
    if len(points) < 3 or points[-1][0] - points[-2][0] >= 0.5 * (points[-2][0] - points[-3][0]):
        return points
    return points[:-1]


def _reach(values: list[float], column: int) -> tuple[float, float]:
    """Range of the axis: losses from 0; one odd part does not flatten the rest."""
    if column == 2:
        return min(values), max(values)
    ordered = sorted(values)
    usual = ordered[int(0.98 * (len(ordered) - 1))]
    return 0.0, min(ordered[-1], 1.6 * usual)


def _so_far(points: Sequence[Point]) -> list[Point]:
    sums, seen, mean = 0.0, 0.0, []
    for x, y in points:
        sums += y * (x - seen)
        seen = x
        mean.append((x, sums / max(x, 1)))
    return mean


def weight_chart(subject: Subject, place: int = 0) -> str:
    """Histogram of the sizes of the selected weights, and the noise floor of the sketch."""
    learner = subject.learner
    chosen = learner.selected()
    sizes = size_by_class(learner.config.update, chosen.all_weights)
    sizes = sizes * learner.column_sizes(chosen.keys)
    sizes = sizes[sizes > 0]
    noise = subject.facts["noise"]
    if len(sizes) == 0:
        return ""
    floor = noise["floor"] if noise else 0.0
    low, high = float(sizes.min()), float(sizes.max())
    low = min(low, floor) * 0.7 if floor > high * 1e-6 else low * 0.8
    edges = np.geomspace(low, max(high * 1.05, low * 1.5), _BINS + 1)
    counts, _ = np.histogram(sizes, edges)
    x = log_axis(float(edges[0]), float(edges[-1]))
    chart = Chart(x, even_axis(0, counts.max(), short_count), "selected weights")
    if floor > low:
        chart.band(float(edges[0]), floor, "noise")
    for n, a, b in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        if n:
            chart.bar(
                float(a), float(b), n, f"{n:,} features of {a:.3g} to {b:.3g}", f"hist s{place}"
            )
    if floor > low:
        chart.rule(floor, f"noise floor {floor:.3g}")
    return chart.render()


def roc_chart(subjects: Sequence[Subject]) -> str:
    """ROC curves on the test data, with all features and (dashed) the selected alone."""
    chart = Chart(even_axis(0.0, 1.0), even_axis(0.0, 1.0), "ROC curves", square=True)
    chart.line([(0.0, 0.0), (1.0, 1.0)], "chance")
    drawn = False
    for place, subject in enumerate(subjects):
        for way, style in (("selected", "dashed"), ("all", "mean")):
            scores = (subject.scores or {}).get(way)
            points = scores.ranking.roc() if isinstance(scores, ClassScores) else []
            if points:
                chart.line(points, f"{style} s{place}")
                drawn = True
    return chart.render() if drawn else ""


def reliability_chart(subject: Subject, place: int = 0) -> str:
    """Draw how often predictions come true against their probability, on the test data.

    The band is where the true share lies, 95 times of 100; the diagonal is that of probabilities
    that hold. A dot tells how many examples it stands for.
    """
    scores = (subject.scores or {}).get("all")
    if not isinstance(scores, ClassScores) or scores.reliability is None:
        return ""
    bins = scores.reliability.curve()
    if not bins:
        return ""
    reach = max(max(row.probability, row.high) for row in bins)
    least = min(min(row.probability, row.low) for row in bins)
    axis = even_axis(0.0 if least < 0.5 * reach else least, reach)
    chart = Chart(axis, axis, "share that came true against probability", square=True)
    chart.line([(axis.low, axis.low), (axis.high, axis.high)], "chance")
    chart.area([(row.probability, row.low, row.high) for row in bins], f"interval s{place}")
    chart.line([(row.probability, row.share) for row in bins], f"mean s{place}")
    told = [
        (
            row.probability,
            row.share,
            f"{row.examples:,.6g} examples: predicted {row.probability:.4f}, "
            f"came true {row.share:.4f} ({row.low:.4f} to {row.high:.4f})",
        )
        for row in bins
    ]
    chart.dots(told, f"s{place}")
    return chart.render()


def memory_bar(subject: Subject) -> str:
    """One bar of what the model keeps: cells in use, empty cells, keys and weights."""
    parts = memory_parts(subject)
    total = sum(size for _, _, size in parts) or 1
    pieces, left = [], 0.0
    for style, name, size in parts:
        share = 100 * size / total
        pieces.append(
            f'<rect class="{style}" x="{left:.2f}%" y="0" width="{share:.2f}%" height="100%">'
            f"<title>{escape(name)}: {format_bytes(size)}</title></rect>"
        )
        left += share
    return (
        '<svg class="memory" width="100%" height="18" role="img" '
        f'aria-label="memory">{"".join(pieces)}</svg>'
    )


def memory_parts(subject: Subject) -> list[tuple[str, str, int]]:
    """Style, name and bytes of each part of the model."""
    facts: dict[str, Any] = subject.facts
    fill, cells = facts["fill"], int(facts["cell_bytes"])
    used = round(cells * fill["used"] / max(fill["cells"], 1))
    keys = (
        facts["config"]["k"]
        * 8
        * (facts["config"]["n_classes"] if facts["config"]["per_class"] else 1)
    )
    return [
        ("m0", "cells in use", used),
        ("m1", "empty cells", cells - used),
        ("m2", "keys of the selected", keys),
        ("m3", "weights of the selected", int(facts["selected_bytes"]) - keys),
    ]
