"""The golden table: what each case comes to, to the last bit, and why it last changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bearsketch import Learner

FILE = Path(__file__).with_name("table.tsv")
PARTS = ("cells", "selected", "intercept", "predictions")
Found = dict[str, str]


class Entry(NamedTuple):
    """Digests of a case by part, and the reason they were last recorded for."""

    digests: Found
    reason: str


def digest(*arrays: object) -> str:
    """Digest of arrays: shape, type and little-endian bytes; of zeros with their sign."""
    found = hashlib.sha256()
    for array in arrays:
        one = np.asarray(array)
        little = np.ascontiguousarray(one, dtype=one.dtype.newbyteorder("<"))
        found.update(f"{little.dtype.str}{little.shape}".encode())
        found.update(little.tobytes())
    return found.hexdigest()[:16]


def digests_of(learner: Learner, keys: np.ndarray, batches: list) -> Found:
    """Digests of what a learner holds and predicts, apart from how it is stored.

    Weights of all keys are what the cells decode to; there are more keys than cells.
    """
    ways = (False, True) if learner.config.k else (False,)
    predictions = [
        way(batch, selected_only=only)
        for batch in batches
        for only in ways
        for way in (learner.predict_margin, learner.predict_proba)
        if way == learner.predict_margin or learner.config.loss != "squared"
    ]
    found = {
        "cells": digest(learner.weights_of(keys)),
        "intercept": digest(learner.intercept, learner.selected_intercept),
        "predictions": digest(*predictions),
    }
    if learner.config.k:
        selected = learner.selected()
        names = np.array([str(name).encode() for name in selected.names])
        found["selected"] = digest(selected.keys, learner.selected_weights(), names)
    return found


def read() -> dict[str, Entry]:
    """Give the table as it is recorded."""
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines()[1:]:
        name, *digests, reason = line.split("\t")
        parts = dict(zip(PARTS, digests, strict=True))
        found[name] = Entry({part: d for part, d in parts.items() if d != "-"}, reason)
    return found


def write(entries: dict[str, Entry]) -> None:
    """Record the table."""
    lines = ["\t".join(("case", *PARTS, "reason"))]
    for name, (digests, reason) in sorted(entries.items()):
        lines.append("\t".join((name, *(digests.get(part, "-") for part in PARTS), reason)))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
