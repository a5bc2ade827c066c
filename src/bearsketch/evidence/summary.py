"""What the evidence of a learner comes to: levels of its names, and what speaks against them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.evidence import records

Reals = npt.NDArray[np.float64]

# An e-value of the order of rows is reported beyond this, with so many more equal neighbours.
ORDER_E, ORDER_EXCESS = 20.0, 0.02
ONE_LABEL = 0.9  # share of minibatches of one label, beyond which labels are sorted
REPEATED = 0.01  # share of the sampled rows that are copies
SMALL_STRATA = 0.5  # share of the rows in strata of one or two
FEW_ROWS = 10  # of a minibatch
_SAMPLE = 256  # rows with the smallest hashes
LARGEST_E = 1e300  # that is shown as a number


@dataclass(frozen=True, slots=True)
class Evidence:
    """State of the tests of a learner.

    Attributes
    ----------
    tests : int
        Tests begun so far, those of features that left included.
    bank : float
        What is left of the stake of 1 that all tests share.
    order_e : float
        e-value against random order of the rows; of independent rows its mean is 1.
    order_excess : float
        Neighbouring rows with equal labels beyond chance, as a share of all neighbours.
    one_label_share : float
        Share of the minibatches whose rows have one label.
    repeated_rows : float
        Share of rows that repeat an earlier one, label included, from a sample of 256 different
        rows; 0 with fewer, which few categories bring about.
    small_strata : float
        Share of rows in strata of one or two rows, which prove nothing (``adjust``).
    rows : int
        Rows that were drawn; rows of weight 0 are none.
    frozen : bool
        Whether rows were learned again, after the pass that the evidence is from.
    batch_size : int
        Rows that are compared with one another.
    """

    tests: int
    bank: float
    order_e: float
    order_excess: float
    one_label_share: float
    repeated_rows: float
    small_strata: float
    rows: int
    frozen: bool
    batch_size: int

    def warnings(self) -> list[tuple[str, str]]:
        """Give what the error rates do not cover, as (code, message)."""
        found = []
        if self.order_e > ORDER_E and self.order_excess > ORDER_EXCESS:
            found.append(
                (
                    "EVIDENCE-ORDER",
                    "neighbouring rows share labels more than chance, so the error rates do not "
                    "hold. Shuffle the rows; keep one row per user, patient or genome.",
                )
            )
        if self.one_label_share > ONE_LABEL:
            found.append(
                (
                    "EVIDENCE-SORTED",
                    f"{self.one_label_share:.0%} of the minibatches have a single label, so little "
                    "or nothing can be proven. Shuffle the rows.",
                )
            )
        if self.repeated_rows > REPEATED:
            found.append(
                (
                    "EVIDENCE-COPIES",
                    f"about {self.repeated_rows:.0%} of the rows repeat an earlier row, label "
                    "included. If they are copies, each counts as new evidence: remove them. Rows "
                    "that are equal by chance do no harm.",
                )
            )
        if self.small_strata > SMALL_STRATA:
            found.append(
                (
                    "EVIDENCE-STRATA",
                    f"{self.small_strata:.0%} of the rows are alone or in a pair within their "
                    "minibatch and adjust value, and prove nothing. Use a larger --batch-size or "
                    "adjust for a coarser column.",
                )
            )
        if self.batch_size < FEW_ROWS:
            what = "no" if self.batch_size == 1 else "little"
            found.append(
                (
                    "EVIDENCE-BATCH",
                    f"minibatches of {self.batch_size} give {what} evidence. Use a batch size of "
                    f"{FEW_ROWS} or more.",
                )
            )
        if self.frozen:
            found.append(
                ("EVIDENCE-PASSES", "evidence is from the first pass; later passes add none.")
            )
        return found


def summarise(core: Any, batch_size: int) -> Evidence | None:
    """Read the evidence of a learner; None where it gathers none."""
    if not core.has_evidence:
        return None
    state = core.evidence_state()
    numbers = dict(zip(records.NUMBERS, state["numbers"].tolist(), strict=True))
    log_e, over, _, neighbours, batches, single = state["order"].tolist()
    counts = state["row_counts"].astype(np.float64)
    return Evidence(
        tests=int(numbers["begun"]),
        bank=numbers["bank"],
        order_e=math.exp(min(log_e, math.log(LARGEST_E))),
        order_excess=over / neighbours if neighbours else 0.0,
        one_label_share=single / batches if batches else 0.0,
        repeated_rows=float(1.0 - _SAMPLE / counts.sum()) if len(counts) == _SAMPLE else 0.0,
        small_strata=numbers["small"] / numbers["drawn"] if numbers["drawn"] else 0.0,
        rows=int(numbers["drawn"]),
        frozen=numbers["later"] > 0,
        batch_size=batch_size,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Evidence of the selected features, heap after heap, in the order of each."""

    arrays: records.Arrays
    bank: float
    total: int

    @classmethod
    def of(cls, core: Any) -> Table | None:
        """Read a learner's; None where it gathers none."""
        if not core.has_evidence:
            return None
        found = records.read(core)
        numbers = dict(
            zip(records.NUMBERS, found[records.PREFIX + "numbers"].tolist(), strict=True)
        )
        arrays = {name: found[records.PREFIX + name] for name in records.FIELDS}
        if records.PARKED + "stake" in found:  # of a worker: running tests that are not selected
            parked = {name: found[records.PARKED + name] for name in records.FIELDS}
            numbers["bank"] += float(
                (parked["stake"] * np.minimum(np.exp(parked["log_e"]), 1)).sum()
            )
        return cls(arrays, numbers["bank"], int(numbers["rows"]))

    @property
    def tested(self) -> npt.NDArray[np.bool_]:
        """Whether the test of a feature has started."""
        return np.asarray(self.arrays["stake"] > 0)

    def levels(self, among: npt.NDArray[np.bool_] | None = None) -> Reals:
        """Least share of false names at which each is listed; NaN without a test or with e <= 1."""
        log_e, stakes = self.arrays["log_e"], self.arrays["stake"].astype(np.float64)
        chosen = np.ones(len(log_e), bool) if among is None else among
        found = _core.evidence_levels(log_e, stakes, self.bank, chosen.astype(np.uint8))
        return np.where((stakes > 0) & (log_e > 0) & chosen, found, np.nan)

    @property
    def log10_e(self) -> Reals:
        """NaN without a test."""
        return np.where(self.tested, self.arrays["log_e"] / math.log(10.0), np.nan)

    def effects(self, *, numbers: bool) -> Reals:
        """Odds ratio of presence, or the shift in standard deviations of the ranks of numbers."""
        shift, variance = (self.arrays[name].astype(np.float64) for name in ("shift", "variance"))
        known = self.tested & (variance > 0)
        with np.errstate(over="ignore"):
            ratio = np.divide(shift, variance, out=np.full(len(shift), np.nan), where=known)
            return np.asarray(ratio if numbers else np.exp(ratio))
