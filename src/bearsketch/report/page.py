"""The page: sections, style and script in one file that asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources

from bearsketch.exceptions import ParameterError
from bearsketch.report import sections
from bearsketch.report.evidence import evidence
from bearsketch.report.html import text
from bearsketch.report.subject import Subject, check_comparable
from bearsketch.report.table import features, script_data
from bearsketch.sizes import format_bytes

MOST_MODELS = 6  # colours that can still be distinguished


def render(
    subjects: Sequence[Subject],
    *,
    title: str | None = None,
    lead: str | None = None,
    marks: Mapping[str, str] | None = None,
) -> str:
    """Write the page about one model, or several side by side.

    Parameters
    ----------
    subjects : sequence of Subject
        One to six.
    title, lead : str, optional
        Heading and the sentence below it, instead of ones made from the models.
    marks : mapping, optional
        Feature name to a word shown beside it.

    Returns
    -------
    str
        HTML in UTF-8. It carries its style and script and a policy that lets the browser load
        or run nothing else.

    Examples
    --------
    >>> from bearsketch import Batch, make_learner
    >>> learner = make_learner(k=2, memory="1KiB")
    >>> _ = learner.learn(Batch.from_rows([["<b>"], ["meet"]], [1, -1]))
    >>> page = render([Subject("a.bear", learner)])
    >>> "&lt;b&gt;" in page, "<b></" in page
    (True, False)
    """
    if not 1 <= len(subjects) <= MOST_MODELS:
        raise ParameterError(
            f"a report takes 1 to {MOST_MODELS} models, got {len(subjects)}",
            hint="Write several reports.",
        )
    check_comparable(subjects)
    table, data = features(subjects, marks or {})
    body = [
        sections.overview(subjects),
        evidence(subjects),
        sections.curves(subjects),
        table,
        sections.inside(subjects),
        sections.tests(subjects),
        sections.settings(subjects),
    ]
    heading = title or ", ".join(subject.name for subject in subjects)
    return _frame(heading, lead or _lead(subjects), "".join(body), script_data(data))


def _lead(subjects: Sequence[Subject]) -> str:
    if len(subjects) > 1:
        return f"{len(subjects)} models side by side."
    subject = subjects[0]
    facts = subject.facts
    examples, what = subject.learned
    told = f"{facts['config']['learner']} learned from {examples:,} {what}"
    if subject.selects:
        told += f" and kept {facts['selected']:,} features by name"
    return f"{told}, in {format_bytes(facts['model_bytes'])}."


def _frame(title: str, lead: str, body: str, data: str) -> str:
    style, script = _asset("page.css"), _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{text(title)} &ndash; bearsketch</title><style>{style}</style></head>\n<body>"
        f'<header><p class="brand">bearsketch</p><h1>{text(title)}</h1><p>{text(lead)}</p></header>'
        f"\n<main>{body}</main>\n"
        f'<script type="application/json" id="data">{data}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return (resources.files("bearsketch.report") / "assets" / name).read_text(encoding="utf-8")
