"""What the command line says about evidence: one sentence, and what the error rate leaves out."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bearsketch.learners.proof import DEFAULT_FDR, percent, proven_text, sentence
from bearsketch.wording import for_command

if TYPE_CHECKING:
    from bearsketch.learners import Learner


def above_list(
    learner: Learner, rows: Sequence[Any], fdr: float | None, *, match: str | None, lines: bool
) -> str:
    """Say above a list how many are proven, and what speaks against that."""
    noun = "line" if lines else "name"
    level = DEFAULT_FDR if fdr is None else fdr
    if learner.evidence is None or (fdr is None and match is None and not lines):
        text = proven_text(learner, level)
    elif fdr is not None:
        what = f" that match {match}" if match is not None else ""
        more = "s" if len(rows) != 1 else ""
        text = f"{len(rows):,} {noun}{more}{what} proven at {percent(level)}"
        if not rows:
            text = (
                f"nothing is proven at {percent(level)}: no {noun}{what} is shown to be associated"
            )
            text += " with the label"
    else:
        proven = sum(1 for row in rows if row.fdr is not None and row.fdr <= level)
        text = sentence(proven, len(rows), level, noun)
    return "".join(f"{line}\n" for line in (*warning_lines(learner), text))


def warning_lines(learner: Learner) -> list[str]:
    """Give the warnings about the evidence of a model, as a terminal shows them."""
    evidence = learner.evidence
    found = [] if evidence is None else evidence.warnings()
    return [f"warning[{code}] {for_command(text)}" for code, text in found]


def say_warnings(learner: Learner) -> None:
    """Print the warnings about the evidence to stderr."""
    for line in warning_lines(learner):
        print(line, file=sys.stderr)


def evidence_json(learner: Learner, fdr: float = DEFAULT_FDR) -> dict[str, Any] | None:
    """Give the state of the tests as JSON takes it."""
    evidence = learner.evidence
    if evidence is None:
        return None
    levels = learner.selected().fdr
    return {
        "proven": int((levels <= fdr).sum()),
        "fdr": fdr,
        "tests": evidence.tests,
        "bank": evidence.bank,
        "order_e": min(evidence.order_e, 1e300) if math.isfinite(evidence.order_e) else 1e300,
        "order_excess": evidence.order_excess,
        "one_label_share": evidence.one_label_share,
        "repeated_rows": evidence.repeated_rows,
        "small_strata": evidence.small_strata,
        "rows": evidence.rows,
        "frozen": evidence.frozen,
        "warnings": [
            {"code": code, "message": for_command(text)} for code, text in evidence.warnings()
        ],
    }
