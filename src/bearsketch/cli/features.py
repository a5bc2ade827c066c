"""``bearsketch features``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bearsketch.cli.display import shown_weights
from bearsketch.cli.model import load_model
from bearsketch.cli.options import Model
from bearsketch.escape import cell, shown_name, visible
from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    from bearsketch.learners import Learner, Selected


class Row(NamedTuple):
    """One feature as it is listed; the names are the keys of the JSON."""

    rank: int
    name: str
    label: Any
    weight: float


def features(
    model: Model,
    n: Annotated[
        int | None, typer.Option("-n", min=0, metavar="N", help="Only the first N. [all]")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--class", metavar="LABEL", help="What speaks for this class, best first."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="table|tsv|json|fasta", help="Form of the output.")
    ] = "table",
) -> None:
    """List the selected features by name, best first: those that move predictions most.

    With bear+ that is the weight (of several classes the largest), times the size of the values
    where above 1, and by how often the feature occurred: the fourth root of it, the eighth with
    more than two classes. So weights need not fall from line to line. With other learners it is
    the root of the sum of squares over the classes, times the size of the values.

    With two classes a positive weight speaks for the second and a negative one for the first; the
    class beside a weight is the one it speaks for. With more classes it is the one whose weight is
    shown, the largest. --class shows the weights for one class: negative ones speak against it.
    fasta is for k-mers.

    **Examples**

    `bearsketch features spam.bear -n 20`

    `bearsketch features genomes.bear --class e_coli --format fasta > e_coli.fa`
    """
    if form not in _FORMS:
        raise ParameterError(f"--format must be one of {', '.join(_FORMS)}, got {form!r}")
    learner = load_model(model)
    rows = ranked(learner, label)
    if form == "fasta" and label is not None:  # for other tools: only what speaks for the class
        rows = [row for row in rows if row.weight > 0]
    print(_FORMS[form](learner, rows if n is None else rows[:n]), end="")


def ranked(learner: Learner, label: str | None = None) -> list[Row]:
    """All selected features in order, or by their weight for one class."""
    selected = learner.selected()
    if label is None:
        return [Row(i, f.name, f.label, f.weight) for i, f in enumerate(selected, start=1)]
    weighed = _of_class(learner, selected, _class_number(learner, label))
    shown = learner.labels.label(_class_number(learner, label))
    return [Row(i, name, shown, weight) for i, (name, weight) in enumerate(weighed, start=1)]


def _class_number(learner: Learner, label: str) -> int:
    if learner.config.loss == "squared":
        raise ParameterError("--class needs classes, and this model predicts numbers")
    labels = [learner.labels.label(number) for number in range(learner.config.n_classes)]
    shown = [str(known) for known in labels]
    if label not in shown:
        few = ", ".join(shown[:10]) + (", ..." if len(shown) > 10 else "")
        raise ParameterError(f"--class must be one of {few}, got {label!r}")
    return shown.index(label)


def _of_class(learner: Learner, selected: Selected, number: int) -> list[tuple[str, float]]:
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
    order = places[np.argsort(-(weights * selected.worths)[places], kind="stable")]
    return [(selected.names[i], float(weights[i])) for i in order]


def _table(learner: Learner, rows: list[Row]) -> str:
    classified = learner.config.loss != "squared"
    classes = [visible(str(row.label)) for row in rows] if classified else []
    wide = max([5, *map(len, classes)]) + 2
    weights = shown_weights([0.0, *(row.weight for row in rows)], 4)[1:]
    title = "weight".rjust(max(map(len, weights), default=10))
    lines = [f"{'rank':>6} {title}  " + (f"{'class':{wide}}" if classes else "") + "name\n"]
    for i, row in enumerate(rows):
        label = f"{classes[i]:{wide}}" if classes else ""
        lines.append(f"{row.rank:>6} {weights[i]}  {label}{shown_name(row.name)}\n")
    return "".join(lines)


def _tsv(learner: Learner, rows: list[Row]) -> str:
    lines = ["rank\tname\tclass\tweight\n"]
    lines += [
        f"{row.rank}\t{cell(row.name)}\t{_label(row.label)}\t{row.weight:.9g}\n" for row in rows
    ]
    return "".join(lines)


def _label(label: Any) -> str:
    return "" if label is None else cell(label) if isinstance(label, str) else str(label)


def _json(learner: Learner, rows: list[Row]) -> str:
    listed = [
        {"rank": row.rank, "name": row.name, "class": row.label, "weight": row.weight}
        for row in rows
    ]
    return json.dumps(listed, indent=1, allow_nan=False) + "\n"


def _fasta(learner: Learner, rows: list[Row]) -> str:
    if not (learner.naming or "").startswith(("kmer", "iupac")):
        raise ParameterError(
            "--format fasta needs k-mers, and the features of this model are "
            f"{'integer ids' if learner.naming == 'id' else 'names'}"
        )
    return "".join(
        f">{row.rank} weight={row.weight:.6g}"
        + (f" class={visible(str(row.label))}" if row.label is not None else "")
        + f"\n{row.name}\n"
        for row in rows
    )


_FORMS: dict[str, Callable[[Any, list[Row]], str]] = {
    "table": _table,
    "tsv": _tsv,
    "json": _json,
    "fasta": _fasta,
}
