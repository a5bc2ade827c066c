"""What is proven about the names of a model: a sentence, a curve, a picture and a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bearsketch.escape import visible
from bearsketch.learners.proof import DEFAULT_FDR, contig_of, has_kmers, judge, sentence
from bearsketch.learners.selected import Selected
from bearsketch.report.html import card, grid, section, swatch, text
from bearsketch.report.subject import Subject
from bearsketch.report.svg import Chart, count_axis, even_axis
from bearsketch.wording import for_command

LEVELS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
MOST_LINES = 200  # of the table
_MEANING = (
    "At most 10 % of these names are expected to have nothing to do with the label, whatever the "
    "data look like, if rows are independent of each other: one row per user, patient or genome. "
    "A proven name is present more or less often with the label, by itself or through other "
    "features; it need not be a cause. A name that is not proven is not shown to be noise."
)


def evidence(subjects: Sequence[Subject]) -> str:
    """Say how many names are proven, model after model."""
    parts = [_of(subject, place, len(subjects) > 1) for place, subject in enumerate(subjects)]
    return section("evidence", "Proven names", "".join(parts))


def _of(subject: Subject, place: int, several: bool) -> str:
    learner = subject.learner
    if not subject.selects:
        return ""
    name = f"<h3>{swatch(place, subject.name)}</h3>" if several else ""
    state = learner.evidence
    if state is None:
        return f"{name}<p>The names are not tested: the model has no evidence about them.</p>"
    warnings = "".join(
        f"<p><strong>Warning.</strong> {text(for_command(told))}</p>"
        for _, told in state.warnings()
    )
    selected = learner.selected()
    proven = int((selected.fdr <= DEFAULT_FDR).sum())
    told = sentence(proven, len(selected), DEFAULT_FDR)
    meaning = f"<p>{_MEANING}</p>" if proven else ""
    charts = [
        card("Names against the level", _curve(selected, place)),
        card("Effect against evidence", _picture(subject, selected, place), _axes(subject)),
    ]
    return (
        f"{name}{warnings}<p><strong>{text(told[0].upper() + told[1:])}.</strong></p>{meaning}"
        f"{grid(charts)}<br>{_table(subject)}"
    )


def _axes(subject: Subject) -> str:
    effect = "shift of the target's ranks" if _numbers(subject) else "log10 odds ratio"
    return f"Across: {effect}; up: log10 e. Names that are not proven are grey."


def _numbers(subject: Subject) -> bool:
    return subject.learner.config.loss == "squared"


def _curve(selected: Selected, place: int) -> str:
    counts = [int((selected.fdr <= level).sum()) for level in LEVELS]
    if not counts[-1]:
        return ""
    chart = Chart(
        even_axis(0.0, LEVELS[-1], lambda x: f"{100 * x:g} %"),
        count_axis(max(counts)),
        "proven names against the level",
    )
    chart.line(list(zip(LEVELS, counts, strict=True)), f"mean s{place}")
    told = [(x, n, f"{n:,} names at {100 * x:g} %") for x, n in zip(LEVELS, counts, strict=True)]
    chart.dots(told, f"s{place}")
    return chart.render()


def _picture(subject: Subject, selected: Selected, place: int) -> str:
    known = np.isfinite(selected.log10_e) & np.isfinite(selected.odds_ratio)
    if not known.any():
        return ""
    effects = selected.odds_ratio
    if not _numbers(subject):
        effects = np.log10(np.clip(effects, 1e-6, 1e6))
    x, y = effects[known], selected.log10_e[known]
    reach = float(np.abs(x).max()) or 1.0
    chart = Chart(even_axis(-reach, reach), even_axis(0.0, max(float(y.max()), 1.0)), "evidence")
    proven = selected.fdr[known] <= DEFAULT_FDR
    names = np.flatnonzero(known).tolist()
    for style, chosen in (("unproven", ~proven), (f"s{place}", proven)):
        points = [
            (float(x[i]), float(y[i]), f"{visible(selected.names[names[i]])}: log10 e {y[i]:.1f}")
            for i in np.flatnonzero(chosen).tolist()
        ]
        chart.dots(points, style)
    return chart.render()


def _table(subject: Subject) -> str:
    """Proven lines by their evidence, each to be opened for its members and rows."""
    from bearsketch.learners.proof import examples_of

    learner = subject.learner
    lines = judge(learner, lines=True)
    lines = lines.take(np.flatnonzero(lines.fdr <= DEFAULT_FDR)[:MOST_LINES])
    if not len(lines):
        return ""
    effect = "shift" if _numbers(subject) else "odds ratio"
    head = "".join(f"<th>{name}</th>" for name in ("line", "fdr", "log10 e", effect, "rows"))
    rows = []
    for i, places in enumerate(examples_of(learner, lines, 3)):
        more = [text(name) for name in lines.members[i][1:]]
        inside = f"<p>Also {', '.join(more)}.</p>" if more else ""
        if more and has_kmers(learner):
            inside += f"<p>Sequence {text(contig_of(lines.members[i]))}</p>"
        inside += f"<p>In {', '.join(map(text, places))}.</p>" if places else ""
        count = f" and {len(more)} more" if more else ""
        name = f"<summary>{text(lines.names[i])}{count}</summary>"
        rows.append(
            f"<tr><td><details>{name}{inside}</details></td><td>{lines.fdr[i]:.2g}</td>"
            f"<td>{lines.log10_e[i]:.1f}</td><td>{lines.odds_ratio[i]:.3g}</td>"
            f"<td>{lines.rows[i]:,}</td></tr>"
        )
    table = (
        f'<div class="scroll"><table class="facts"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    return card("Proven at 10 %, one line per finding", table)
