"""Write the numbers of the README from the measured tables in docs/figures.

python tools/fill_numbers.py

The tables: accuracy-per-byte.json (``python -m experiments.studies.accuracy_per_byte``), speed.json
(``python -m benchmarks.run --out docs/figures/speed.json``) and, once measured, proven.json
(``python -m experiments.studies.proven``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures"
OURS, WABBIT, SCIKIT = "bear+, untuned", "Vowpal Wabbit, tuned", "scikit-learn, tuned"
EVIDENCE = "docs/explanation/evidence.md"
REAL, SPEED = "docs/explanation/accuracy-per-byte.md", "docs/explanation/speed.md"


def read(name):
    return json.loads((FIGURES / name).read_text())


def two(value):
    return f"{value:.3f}".removeprefix("0")


def accuracy(rows, name, kib, method):
    return next(r for r in rows if (r["set"], r["kib"], r["method"]) == (name, kib, method))


def smallest(rows, name, method, score):
    """The first size, in KiB, at which a method has a score."""
    good = [r for r in rows if r["set"] == name and r["method"] == method and r["score"] >= score]
    return min(good, key=lambda row: row["kib"], default=None)


def lines():
    """Rows of the table: what, ours, the rival with version and settings, where it is measured."""
    table = read("accuracy-per-byte.json")
    rows, versions = table["rows"], table["versions"]
    scikit = f"scikit-learn {versions['scikit-learn']} `FeatureHasher` + `SGDClassifier`"
    wabbit = f"Vowpal Wabbit {versions['vowpalwabbit']}"
    ours, rival = (accuracy(rows, "rcv1", 4, method) for method in (OURS, SCIKIT))
    said = f"{two(rival['score'])}: {scikit}, tuned (`{short(rival['settings'])}`)"
    yield "RCV1 in 4 KiB, accuracy", f"**{two(ours['score'])}**", said, REAL
    as_good = smallest(rows, "rcv1", WABBIT, ours["score"] - 0.001)
    if as_good is None:
        largest = max(row["kib"] for row in rows if row["set"] == "rcv1")
        said = f"more than {largest} KiB: {wabbit}, tuned"
    else:
        said = f"{as_good['kib']} KiB: {wabbit}, tuned (`{short(as_good['settings'])}`)"
    yield f"Memory for RCV1 at {two(ours['score'])}", "**4 KiB**", said, REAL
    ours, rival = (accuracy(rows, "avazu", 16, method) for method in (OURS, WABBIT))
    said = f"{two(rival['score'])}: {wabbit}, tuned (`{short(rival['settings'])}`)"
    yield "Avazu clicks in 16 KiB, AUC", f"**{two(ours['score'])}**", said, REAL
    speed = read("speed.json")
    seconds = {name: row["wall"] for name, row in speed["medians"].items()}
    named = seconds["bearsketch train bear+ clicks"], seconds["vw --invert_hash clicks"]
    said = f"{named[1]:.0f} s: Vowpal Wabbit {speed['versions']['vowpalwabbit']} `--invert_hash`"
    rows = speed["medians"]["bearsketch train bear+ clicks"]["rows"]
    what = f"{rows:,} clicks learned, with names"
    yield what, f"**{named[0]:.1f} s**", said, SPEED
    if (FIGURES / "proven.json").exists():
        table = read("proven.json")
        found = table["sets"]["rcv1"]
        what = f"RCV1 names proven at a false discovery rate of {table['fdr']:.0%}"
        mine = f"**{found['named']} of {found['selected']}**"
        noise = found["shuffled_named"]
        said = f"none states a rate. Labels shuffled: {sum(noise)} in {len(noise)} runs"
        yield what, mine, said, EVIDENCE


def short(settings):
    """Settings without what every row has, or its size gives."""
    kept = [part for part in settings.split(", ") if not part.startswith("n_features")]
    shown = ", ".join(kept).replace("--loss_function logistic ", "")
    return shown.replace("learning_rate=", "")


def table():
    yield "| one pass, nothing tuned but the rivals | bearsketch | rival | |"
    yield "|---|---|---|---|"
    for what, ours, rival, page in lines():
        yield f"| {what} | {ours} | {rival} | [repeat]({page}) |"


def fill(text, name, new):
    """Replace what stands between two markers."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    found, n = re.subn(pattern, lambda _: f"{begin}\n{new}\n{end}", text, flags=re.S)
    if n != 1:
        raise SystemExit(f"markers of {name} stand {n} times, not once")
    return found


def accuracy_table():
    """Every measured score, for the page."""
    measured = read("accuracy-per-byte.json")
    methods = (OURS, SCIKIT, WABBIT)
    yield "| data, KiB | " + " | ".join(methods) + " |"
    yield "|---|" + "---|" * len(methods)
    for name, about in measured["sets"].items():
        for kib in sorted({r["kib"] for r in measured["rows"] if r["set"] == name}):
            cells = []
            for method in methods:
                row = accuracy(measured["rows"], name, kib, method)
                settings = "" if method == OURS else f" (`{short(row['settings'])}`)"
                cells.append(f"{two(row['score'])} ± {two(row['sd'])}{settings}")
            yield f"| {about['title']} {kib} | " + " | ".join(cells) + " |"


def main():
    readme = ROOT / "README.md"
    readme.write_text(fill(readme.read_text(), "numbers", "\n".join(table())))
    page = ROOT / REAL
    page.write_text(fill(page.read_text(), "table", "\n".join(accuracy_table())))


if __name__ == "__main__":
    main()
