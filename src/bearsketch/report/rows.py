"""The table of features of one or several models: a row a name, a column a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bearsketch.escape import shown_name
from bearsketch.report.subject import Subject

MOST_ROWS = 2000
MOST_NUMBERS = 200_000  # weights in the page: about 2 MB of it


@dataclass(slots=True)
class Row:
    """A feature: for each model its rank and its weights by class, or None where not selected.

    ``size`` is that of the column it is, 1 of any other feature.
    """

    name: str
    rank: int
    size: float = 1.0
    ranks: list[int | None] = field(default_factory=list)
    weights: list[list[float | None] | None] = field(default_factory=list)
    mark: str = ""


def feature_rows(subjects: Sequence[Subject], marks: Mapping[str, str]) -> tuple[list[Row], int]:
    """Rows in the order of the best rank in any model, and how many there are in all."""
    rows: dict[str, Row] = {}
    for place, subject in enumerate(subjects):
        for name, weights in _weights_by_name(subject).items():
            row = rows.setdefault(name, Row(name, 0, weights[2], mark=marks.get(name, "")))
            row.ranks += [None] * (place - len(row.ranks))
            row.weights += [None] * (place - len(row.weights))
            row.ranks.append(weights[0])
            row.weights.append(weights[1])
    n = len(subjects)
    for row in rows.values():
        row.ranks += [None] * (n - len(row.ranks))
        row.weights += [None] * (n - len(row.weights))
    ordered = sorted(rows.values(), key=_order)
    for rank, row in enumerate(ordered, start=1):
        row.rank = rank
    columns = subjects[0].learner.config.columns if subjects else 1
    most = max(min(MOST_ROWS, MOST_NUMBERS // max(columns * n, 1)), 1)
    return ordered[:most], len(ordered)


def _order(row: Row) -> tuple[int, int]:
    ranks = [rank for rank in row.ranks if rank is not None]
    return min(ranks), sum(ranks)


def _weights_by_name(subject: Subject) -> dict[str, tuple[int, list[float | None], float]]:
    """Rank, a weight per class, and size of each name; heaps per class have None for others."""
    config, chosen = subject.learner.config, subject.learner.selected()
    sizes = subject.learner.column_sizes(chosen.keys).tolist()
    found: dict[str, tuple[int, list[float | None], float]] = {}
    numbers = {label: i for i, label in enumerate(subject.facts["classes"] or ())}
    for i, name in enumerate(map(shown_name, chosen.names)):
        if config.per_class:
            empty: list[float | None] = [None] * config.columns
            rank, weights, _ = found.get(name, (len(found) + 1, empty, 1.0))
            weights[numbers[chosen.labels[i]]] = float(chosen.weights[i])
        else:
            rank, weights = len(found) + 1, chosen.all_weights[i].tolist()
        found.setdefault(name, (rank, weights, sizes[i]))
    return found


def strongest(weights: list[float | None]) -> tuple[int, float]:
    """Class number and weight of largest magnitude."""
    known = [(abs(w), -i, w) for i, w in enumerate(weights) if w is not None]
    _, place, weight = max(known)
    return -place, weight


def plain_rows(rows: Sequence[Row]) -> list[list[Any]]:
    """Weights for the page's script: a list a row, of a list a model, to five digits."""
    return [[None if w is None else [_short(x) for x in w] for w in row.weights] for row in rows]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def shared_counts(rows: Sequence[Row], n_models: int, top: int) -> list[list[int]]:
    """How many of the first ``top`` features of one model are among those of another."""
    sets = [
        {row.name for row in rows if row.ranks[m] is not None and (row.ranks[m] or 0) <= top}
        for m in range(n_models)
    ]
    return [[len(a & b) for b in sets] for a in sets]
