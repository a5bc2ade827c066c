"""``bearsketch features``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.display import shown_weights
from bearsketch.cli.model import load_model
from bearsketch.cli.options import Model
from bearsketch.escape import cell, shown_name, visible
from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    from bearsketch.learners import Learner, Selected


@dataclass(frozen=True, slots=True)
class Row:
    """One feature, or one line of them, as it is listed.

    ``fdr``, ``log10_e`` and ``odds_ratio`` are None where they are not known.
    """

    rank: int
    name: str
    label: Any
    weight: float
    fdr: float | None = None
    log10_e: float | None = None
    odds_ratio: float | None = None
    rows: int = 0
    tested: Any = None
    members: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)


def features(
    model: Model,
    n: Annotated[
        int | None, typer.Option("-n", min=0, metavar="N", help="Only the first N. [all]")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--class", metavar="LABEL", help="What speaks for this class, best first."),
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Only proven names; at most this share is false, e.g. 0.1."
        ),
    ] = None,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only names that match, proven among themselves."),
    ] = None,
    lines: Annotated[
        bool,
        typer.Option("--lines", help="One line per finding: copies, synonyms, overlapping k-mers."),
    ] = False,
    examples: Annotated[
        int,
        typer.Option(min=0, max=4, metavar="N", help="Show where up to N rows of each stand."),
    ] = 0,
    form: Annotated[
        str, typer.Option("--format", metavar="table|tsv|json|fasta", help="Form of the output.")
    ] = "table",
) -> None:
    """List the selected features by name, and which of them are proven.

    Without --fdr, --match or --lines, those come first that move predictions most. With bear+ that
    is the weight (of several classes the largest), times the size of the values where above 1, and
    by how often the feature occurred: the fourth root of it, the eighth with more than two classes.
    So weights need not fall from line to line. With other learners it is the root of the sum of
    squares over the classes, times the size of the values.

    With two classes a positive weight speaks for the second and a negative one for the first; the
    class beside a weight is the one it speaks for. With more classes it is the one whose weight is
    shown, the largest. --class shows the weights for one class: negative ones speak against it.
    fasta is for k-mers; with --lines it has the assembled sequence of each line.

    --fdr 0.1 lists proven names, strongest evidence first: on average at most 10 % of them have
    nothing to do with the label, whatever the data look like, if rows are independent of each other
    (one row per user, patient or genome). fdr is the smallest share at which a name is listed, and
    "-" where its test found nothing or has not started. odds_ratio is that of the tested class (the
    second of two) where the feature is present; for regression it is the shift of the target's
    ranks, in standard deviations. Being proven does not mean being a cause, and a name that is not
    listed is not shown to be noise.

    **Examples**

    `bearsketch features spam.bear -n 20`

    `bearsketch features spam.bear --fdr 0.1 --match 'subject^*' --examples 2`

    `bearsketch features genomes.bear --class e_coli --fdr 0.1 --lines --format fasta > e_coli.fa`
    """
    from bearsketch.cli.evidence import above_list, say_warnings
    from bearsketch.learners.proof import check_fdr

    if form not in _FORMS:
        raise ParameterError(f"--format must be one of {', '.join(_FORMS)}, got {form!r}")
    if fdr is not None:
        check_fdr(fdr)
    learner = load_model(model)
    rows = ranked(learner, label, fdr=fdr, match=match, lines=lines, examples=examples)
    if form == "fasta" and label is not None:  # for other tools: only what speaks for the class
        rows = [row for row in rows if row.weight > 0]
    shown = rows if n is None else rows[:n]
    text = _FORMS[form](learner, shown)
    if form == "table":
        print(above_list(learner, rows, fdr, match=match, lines=lines), end="")
    else:
        say_warnings(learner)
    print(text, end="")


def ranked(
    learner: Learner,
    label: str | None = None,
    *,
    fdr: float | None = None,
    match: str | None = None,
    lines: bool = False,
    examples: int = 0,
) -> list[Row]:
    """Give selected features in order, or those that are asked for by their evidence."""
    import numpy as np

    from bearsketch.learners import proof

    judged = lines or fdr is not None or match is not None
    selected = proof.judge(learner, match, lines=lines) if judged else learner.selected()
    if fdr is not None:
        selected = selected.take(np.flatnonzero(selected.fdr <= fdr))
    weights, labels = selected.weights, selected.labels
    if label is not None:
        number = _class_number(learner, label)
        places, weights = _of_class(learner, selected, number, by_weight=not judged)
        selected, weights = selected.take(places), weights[places]
        labels = [learner.labels.label(number)] * len(places)
    stand = proof.examples_of(learner, selected, examples) if examples else None
    return [
        Row(
            i + 1,
            selected.names[i],
            labels[i],
            float(weights[i]),
            fdr=_known(selected.fdr[i]),
            log10_e=_known(selected.log10_e[i]),
            odds_ratio=_known(selected.odds_ratio[i]),
            rows=int(selected.rows[i]),
            tested=selected.tested[i],
            members=selected.members[i] if selected.members else [],
            examples=stand[i] if stand else [],
        )
        for i in range(len(selected))
    ]


def _known(number: float) -> float | None:
    """Give a number as JSON takes it."""
    return None if math.isnan(number) else float(min(max(number, -1e300), 1e300))


def _class_number(learner: Learner, label: str) -> int:
    if learner.config.loss == "squared":
        raise ParameterError("--class needs classes, and this model predicts numbers")
    labels = [learner.labels.label(number) for number in range(learner.config.n_classes)]
    shown = [str(known) for known in labels]
    if label not in shown:
        few = ", ".join(shown[:10]) + (", ..." if len(shown) > 10 else "")
        raise ParameterError(f"--class must be one of {few}, got {label!r}")
    return shown.index(label)


def _of_class(
    learner: Learner, selected: Selected, number: int, *, by_weight: bool
) -> tuple[Any, Any]:
    """Give the features that have a weight for a class, by it or as they are, and all weights."""
    import numpy as np

    if learner.config.per_class:
        mine = [label == learner.labels.label(number) for label in selected.labels]
        weights, places = selected.weights, np.flatnonzero(mine)
    else:
        places = np.arange(len(selected))
        if learner.config.loss == "logistic":
            weights = selected.weights if number == 1 else -selected.weights
        else:
            weights = selected.all_weights[:, number]
    if by_weight:
        places = places[np.argsort(-(weights * selected.worths)[places], kind="stable")]
    return places, weights


def _table(learner: Learner, rows: list[Row]) -> str:
    classified = learner.config.loss != "squared"
    weights = shown_weights([0.0, *(row.weight for row in rows)], 4)[1:]
    effect = "odds ratio" if classified else "shift"
    columns: list[tuple[str, Sequence[str]]] = [
        ("fdr", [_short(row.fdr, ".2g") for row in rows]),
        ("log10 e", [_short(row.log10_e, ".1f") for row in rows]),
        (effect, [_short(row.odds_ratio, ".3g") for row in rows]),
        ("rows", [f"{row.rows:,}" for row in rows]),
    ]
    title = "weight".rjust(max(map(len, weights), default=10))
    wide = max([5, *(len(visible(str(row.label))) for row in rows)]) + 2
    head = f"{'rank':>6} {title}  " + (f"{'class':{wide}}" if classified else "")
    widths = [max(len(name), *map(len, [*texts, ""])) for name, texts in columns]
    head += "".join(f"{name:>{w}}  " for (name, _), w in zip(columns, widths, strict=True))
    found = [head + "name\n"]
    for i, row in enumerate(rows):
        text = f"{row.rank:>6} {weights[i]}  "
        text += f"{visible(str(row.label)):{wide}}" if classified else ""
        text += "".join(f"{texts[i]:>{w}}  " for (_, texts), w in zip(columns, widths, strict=True))
        found.append(f"{text}{shown_name(row.name)}\n")
        indent = " " * (len(head) + 2)
        if len(row.members) > 1:
            if _has_kmers(learner):
                found.append(f"{indent}contig {_contig(row)}\n")
            found += [f"{indent}{shown_name(name)}\n" for name in row.members[1:]]
        found += [f"{indent}in {visible(place)}\n" for place in row.examples]
    return "".join(found)


def _short(number: float | None, form: str) -> str:
    return "-" if number is None else f"{number:{form}}"


def _tsv(learner: Learner, rows: list[Row]) -> str:
    more = [name for name in ("members", "examples") if any(getattr(row, name) for row in rows)]
    names = ["rank", "name", "class", "weight", "fdr", "log10_e", "odds_ratio", "rows", *more]
    lines = ["\t".join(names) + "\n"]
    for row in rows:
        found = [str(row.rank), cell(row.name), _label(row.label), f"{row.weight:.9g}"]
        found += [_short(x, ".6g") for x in (row.fdr, row.log10_e, row.odds_ratio)]
        found += [str(row.rows), *(cell(" ".join(getattr(row, name))) for name in more)]
        lines.append("\t".join(found) + "\n")
    return "".join(lines)


def _label(label: Any) -> str:
    return "" if label is None else cell(label) if isinstance(label, str) else str(label)


def _json(learner: Learner, rows: list[Row]) -> str:
    listed = []
    for row in rows:
        found = {"rank": row.rank, "name": row.name, "class": row.label, "weight": row.weight}
        found |= {name: getattr(row, name) for name in ("fdr", "log10_e", "odds_ratio", "rows")}
        found["tested_class"] = row.tested
        found |= {
            name: getattr(row, name) for name in ("members", "examples") if getattr(row, name)
        }
        listed.append(found)
    return json.dumps(listed, indent=1, allow_nan=False) + "\n"


def _has_kmers(learner: Learner) -> bool:
    return (learner.naming or "").startswith(("kmer", "iupac"))


def _contig(row: Row) -> str:
    from bearsketch.learners.proof import contig_of

    return contig_of(row.members)


def _fasta(learner: Learner, rows: list[Row]) -> str:
    if not _has_kmers(learner):
        raise ParameterError(
            "--format fasta needs k-mers, and the features of this model are "
            f"{'integer ids' if learner.naming == 'id' else 'names'}"
        )
    found = []
    for row in rows:
        text = f">{row.rank} weight={row.weight:.6g}"
        text += f" class={visible(str(row.label))}" if row.label is not None else ""
        text += f" fdr={row.fdr:.3g}" if row.fdr is not None else ""
        text += f" kmers={len(row.members)}" if row.members else ""
        found.append(f"{text}\n{_contig(row) if row.members else row.name}\n")
    return "".join(found)


_FORMS: dict[str, Callable[[Any, list[Row]], str]] = {
    "table": _table,
    "tsv": _tsv,
    "json": _json,
    "fasta": _fasta,
}
