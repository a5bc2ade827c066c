"""One self-contained page about a training run; no network, names escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1b1f24; --soft: #6a737d; --line: #d8dee4;
  --page: #fff; --up: #1a7f37; --down: #cf222e; --curve: #0969da; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e6edf3; --soft: #8d96a0;
  --line: #30363d; --page: #0d1117; --up: #3fb950; --down: #f85149; --curve: #58a6ff; }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; margin: 1rem 0; }}
th, td {{ text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }}
td.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
td.bar {{ width: 40%; }} p.soft {{ color: var(--soft); }}
.b {{ height: .8rem; border-radius: 2px; }}
.up {{ background: var(--up); }} .down {{ background: var(--down); }}
svg {{ width: 100%; height: auto; }} polyline {{ fill: none; stroke: var(--curve); }}
text {{ fill: var(--soft); font-size: 12px; }}
</style></head><body>
<h1>{title}</h1>
<p>{lead}</p>
<h2>Selected features</h2>
{features}
<h2>Learning curve</h2>
<p class="soft">Loss of each batch, predicted before it was learned.</p>
{curve}
<h2>Run</h2>
{facts}
</body></html>
"""


def render(
    title: str,
    lead: str,
    features: Sequence[tuple[str, float, str]],
    curve: Sequence[tuple[int, float]],
    facts: Sequence[tuple[str, str]],
) -> str:
    """Put the page together.

    Parameters
    ----------
    title, lead : str
    features : sequence of (name, weight, note)
        Best first.
    curve : sequence of (examples, loss)
    facts : sequence of (what, value)
    """
    return PAGE.format(
        title=escape(title),
        lead=escape(lead),
        features=_feature_table(features),
        curve=_curve(curve),
        facts=_table([], [(escape(a), escape(b)) for a, b in facts]),
    )


def _feature_table(features: Sequence[tuple[str, float, str]]) -> str:
    largest = max((abs(weight) for _, weight, _ in features), default=1.0) or 1.0
    rows = []
    for rank, (name, weight, note) in enumerate(features, start=1):
        side = "up" if weight > 0 else "down"
        bar = f'<div class="b {side}" style="width:{100 * abs(weight) / largest:.1f}%"></div>'
        rows.append((str(rank), escape(name), f"{weight:+.3f}", bar, escape(note)))
    return _table(["", "name", "weight", "", ""], rows, kinds=("n", "", "n", "bar", ""))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], kinds: Sequence[str] = ()) -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{kinds[i] if kinds else ""}">{cell}</td>' for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table>{f'<tr>{top}</tr>' if head else ''}{body}</table>"


def _curve(points: Sequence[tuple[int, float]]) -> str:
    if not points:
        return "<p>No data.</p>"
    most, high = max(x for x, _ in points), max(y for _, y in points) or 1.0
    path = " ".join(f"{50 + 540 * x / most:.1f},{20 + 160 * (1 - y / high):.1f}" for x, y in points)
    return (
        f'<svg viewBox="0 0 620 210" role="img" aria-label="loss against examples">'
        f'<polyline points="{path}" stroke-width="2"/>'
        f'<text x="0" y="26">{high:.2f}</text><text x="0" y="184">0</text>'
        f'<text x="50" y="204">0</text><text x="500" y="204">{most:,} examples</text></svg>'
    )
