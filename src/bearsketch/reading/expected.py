"""Labels that examples may have: one with another label is a broken line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.reading.pieces import Piece, Trouble

CODE = "LABEL-UNKNOWN"
_SHOWN = 10  # classes that a message shows


@dataclass(frozen=True, slots=True)
class Expected:
    """Classes of labels, whose they are, and what to do about others.

    Classes may be given as text, as commands do: for labels that are numbers they are numbers.
    Of ``one_of``, which are among the classes, a stream may have whichever comes first, and
    ``one_hint`` is what to do about another.
    """

    classes: tuple[Any, ...]
    whose: str
    hint: str
    one_of: tuple[Any, ...] = ()
    one_hint: str = ""

    def after(self, piece: Piece) -> Expected:
        """Labels that are expected once those of a piece are known."""
        known = len(set(self.one_of) & set(self.classes)) < 2
        if known or piece.labels is None:
            return self
        met = piece.labels[np.isin(piece.labels, self.one_of)]
        if not len(met):
            return self
        kept = tuple(c for c in self.classes if c not in self.one_of or c == met[0])
        return replace(self, classes=kept, whose="so far")

    def among(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
        """Which labels are classes; None where they are of another kind than these."""
        known = _of_kind(self.classes, words=labels.dtype.kind == "U")
        return None if known is None else np.isin(labels, known)

    def refusal(self, label: Any) -> str:
        """Say that a label is no class."""
        few = ", ".join(map(str, self.classes[:_SHOWN]))
        more = ", ..." if len(self.classes) > _SHOWN else ""
        return f"unknown label {shown_label(label)}; the classes {self.whose} are {few}{more}"

    def keep(self, piece: Piece) -> Piece:
        """Keep examples with a label that is expected, or with none; the others are errors."""
        known = None if piece.labels is None else self.among(piece.labels)
        if known is None or known.all():
            return piece
        known |= ~piece.labelled()
        kept = piece.keep(known)
        return kept if kept is piece else self._settle(piece, kept, np.flatnonzero(~known))

    def _settle(self, piece: Piece, kept: Piece, wrong: npt.NDArray[np.intp]) -> Piece:
        """Carry over what occurred on the way to a piece, and that some examples are broken."""
        assert piece.labels is not None
        lines = np.zeros(len(piece), dtype=np.int64) if piece.lines is None else piece.lines
        errors = []
        for row in wrong:
            label = piece.labels[row].item()
            hint = self.one_hint if label in self.one_of else self.hint
            errors.append(Trouble(int(lines[row]), 0, CODE, self.refusal(label), b"", hint))
        kept.errors = sorted([*piece.errors, *errors], key=lambda error: error.line)
        kept.fatal, kept.warnings, kept.counts = piece.fatal, piece.warnings, dict(piece.counts)
        empty = int(np.count_nonzero(np.diff(piece.indptr)[wrong] == 0))
        changes = {"examples": -len(wrong), "skipped": len(wrong), "empty": -empty}
        for name, change in changes.items():
            kept.counts[name] = kept.counts.get(name, 0) + change
        return kept


def shown_label(label: Any) -> str:
    """Label for a message: words in quotes, whole numbers without a point."""
    return repr(label) if isinstance(label, str) else f"{label:g}"


@lru_cache(maxsize=4)
def _of_kind(classes: tuple[Any, ...], *, words: bool) -> npt.NDArray[Any] | None:
    """Classes as labels of words or of numbers are; None where one cannot be."""
    if words:
        return np.array(classes) if all(isinstance(label, str) for label in classes) else None
    try:
        return np.array([float(label) for label in classes])
    except ValueError:
        return None
