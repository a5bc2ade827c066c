"""Data of the golden table: made by integer arithmetic, so that it is the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bearsketch import Batch
from bearsketch.batch import pack_names

ROWS, POOL, CLASSES = 400, 600, 5
_MASK = (1 << 64) - 1


def numbers(seed: int) -> Iterator[int]:
    """Endless 64-bit numbers: splitmix64."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        yield z ^ (z >> 31)


class Row(NamedTuple):
    """Features as (number, value in quarters), and what the planted ones add up to."""

    features: list[tuple[int, int]]
    score: int


def rows(seed: int = 1, n: int = ROWS) -> list[Row]:
    """Rows of 3 to 14 of POOL features, small numbers far more often; 24 of them are planted."""
    draw = numbers(seed)
    made = []
    for _ in range(n):
        found: dict[int, int] = {}
        for _ in range(3 + next(draw) % 12):
            feature = (next(draw) % POOL) * (next(draw) % POOL) // POOL
            found[feature] = 1 + next(draw) % 7
        score = sum(
            (quarters if feature % 2 else -quarters) * (1 + feature % 3)
            for feature, quarters in found.items()
            if feature % 25 == 3 or feature < 6
        )
        made.append(Row(sorted(found.items()), score + next(draw) % 5 - 2))
    return made


def name(feature: int) -> str:
    """Name of a feature; some are not ASCII."""
    return f"wört{feature}" if feature % 7 == 0 else f"w{feature}"


def label(row: Row, loss: str) -> float:
    """Label of a row for a loss."""
    if loss == "squared":
        return row.score / 8
    if loss == "softmax":
        return float(abs(row.score) % CLASSES)
    return float(row.score > 0)


def batches(loss: str, *, weighted: bool = False, size: int = 100) -> list[Batch]:
    """Give the rows as batches of keys with names; keys are feature numbers."""
    made = rows()
    parts = [made[start : start + size] for start in range(0, len(made), size)]
    return [_batch(part, loss, weighted) for part in parts]


def _batch(part: list[Row], loss: str, weighted: bool) -> Batch:
    entries = [entry for row in part for entry in row.features]
    return Batch(
        np.cumsum([0, *(len(row.features) for row in part)]),
        np.array([feature for feature, _ in entries], dtype=np.uint64),
        np.array([quarters / 4 for _, quarters in entries], dtype=np.float32),
        labels=np.array([label(row, loss) for row in part]),
        weights=np.array([1.0 + abs(row.score) % 4 for row in part]) if weighted else None,
        names=pack_names([name(feature).encode() for feature, _ in entries]),
    )


def vw(loss: str = "logistic") -> str:
    """Give the rows as lines of VW."""
    return "".join(
        f"{label(row, loss):g} |w "
        + " ".join(f"{name(f)}:{q / 4:g}" if q != 4 else name(f) for f, q in row.features)
        + "\n"
        for row in rows()
    )


def svmlight() -> str:
    """Give the rows as lines of svmlight."""
    return "".join(
        f"{label(row, 'logistic'):g} "
        + " ".join(f"{f + 1}:{q / 4:g}" for f, q in row.features)
        + "\n"
        for row in rows()
    )


def csv(delimiter: str = ",") -> str:
    """Give a table of a category, two numbers with gaps and a text."""
    lines = [delimiter.join(("label", "city", "price", "size", "note"))]
    for i, row in enumerate(rows()):
        first, second = row.features[0], row.features[-1]
        price = "" if i % 11 == 5 else f"{row.score * 100 + first[0]}.{second[1]}"
        size = f"{second[0]}e-{first[1]}"
        note = f'"{name(first[0])} ""{name(second[0])}"" x"'
        side = "yes" if row.score > 0 else "no"
        lines.append(delimiter.join((side, f"c{first[0] % 9}", price, size, note)))
    return "\n".join(lines) + "\n"


def jsonl() -> str:
    """Give objects with nested values, lists and booleans."""
    return "".join(
        f'{{"label": "{"yes" if row.score > 0 else "no"}", "tags": ['
        + ", ".join(f'"{name(f)}"' for f, _ in row.features)
        + f'], "user": {{"age": {20 + row.features[0][0] % 50}, "new": '
        + ("true" if row.features[0][1] % 2 else "false")
        + "}}\n"
        for row in rows()
    )


def text() -> str:
    """Give lines of words after a label and a tab."""
    return "".join(
        f"{'ham' if row.score > 0 else 'spam'}\t"
        + " ".join(name(f) for f, _ in row.features)
        + "\n"
        for row in rows()
    )


def _bases(row: Row) -> str:
    return "".join("ACGT"[(f >> shift) & 3] for f, _ in row.features for shift in (0, 2, 4, 6, 8))


def fasta() -> str:
    """Give sequences with their class in the header."""
    return "".join(
        f">r{i} taxon={'a' if row.score > 0 else 'b'}\n{_bases(row)}N{_bases(row)[::-1]}\n"
        for i, row in enumerate(rows(n=120))
    )


def fastq() -> str:
    """Give reads with qualities."""
    return "".join(
        f"@r{i} taxon={'a' if row.score > 0 else 'b'}\n{_bases(row)}\n+\n{'I' * len(_bases(row))}\n"
        for i, row in enumerate(rows(n=120))
    )
