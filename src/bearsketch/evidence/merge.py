"""Evidence of several learners: composed, or added up where all continued from one state.

Composed: the tests of the second continue where those of the first stopped, on other rows. What was
left in the first bank is the whole stake of the second. Every set of tests keeps a value of at
least 0 with a mean of at most 1, for any order of the learners.

Added up, after a round of workers: each part gave the same tests gains of its own rows, and started
and stopped none. That is done here, for all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.evidence import records
from bearsketch.evidence.lines import row_hashes
from bearsketch.evidence.places import renumber_place

Keys = npt.NDArray[np.uint64]
Record = dict[str, Any]
Tests = dict[tuple[int, int], Record]
START = 1.5  # |z| at which a test starts, as in the core
_KEPT = 256  # rows of the sample that tells of copies
_SUMMED = ("begun", "rows", "drawn", "small", "later")


class State:
    """Evidence of one learner, as numbers that can be changed.

    Parameters
    ----------
    core : compiled learner
    sources : sequence of int
        New numbers of its sources, see :func:`bearsketch.evidence.places.join_sources`.
    """

    def __init__(self, core: Any, sources: Sequence[int] = ()) -> None:
        state = core.evidence_state()
        numbers = state["numbers"].tolist()
        self.numbers = dict(zip(records.NUMBERS, numbers, strict=True))
        self.order: npt.NDArray[np.float64] = state["order"]
        hashes, counts = state["row_hashes"].tolist(), state["row_counts"].tolist()
        self.copies: dict[int, int] = dict(zip(hashes, counts, strict=True))
        self.tests: Tests = {}
        for heap in range(core.groups):
            for parked in (True, False):
                found = core.evidence_records(heap, parked)
                for i, key in enumerate(found["keys"].tolist()):
                    own = {name: found[name][i].tolist() for name in records.FIELDS}
                    own["places"] = [renumber_place(place, sources) for place in own["places"]]
                    self.tests.setdefault((heap, key), own)

    def stop(self, place: tuple[int, int]) -> None:
        """End a test: the bank gets its stake back, less what it lost."""
        own = self.tests.pop(place)
        self.numbers["bank"] += own["stake"] * math.exp(min(own["log_e"], 0.0))

    def keep(self, keys: Sequence[Keys]) -> None:
        """Stop the tests of all features that are not selected."""
        kept = {(heap, key) for heap, own in enumerate(keys) for key in own.tolist()}
        for place in sorted(self.tests.keys() - kept, key=_by_key):
            self.stop(place)

    def start(self, slots: int) -> None:
        """Start the tests that speak loud enough, as the core does after a minibatch."""
        if self.numbers["frozen"]:
            return
        for place in sorted(self.tests, key=_by_key):
            own = self.tests[place]
            loud = own["variance"] > 0 and own["shift"] ** 2 >= START**2 * own["variance"]
            if own["stake"] == 0 and loud:
                share = self.numbers["bank"] / (2 * slots + self.numbers["begun"])
                own["stake"] = float(np.float32(share))
                self.numbers["bank"] -= own["stake"]
                self.numbers["begun"] += 1

    def to_arrays(self, keys: Sequence[Keys]) -> records.Arrays:
        """Arrays as :func:`records.restore` takes them, for these selected features."""
        blank: Record = dict.fromkeys(records.FIELDS, 0)
        blank["sampled"], blank["places"] = [0] * records.SAMPLED, [0] * records.PLACED
        blank["since"] = int(self.numbers["rows"])
        places = [(heap, key) for heap, own in enumerate(keys) for key in own.tolist()]
        rows = [self.tests.get(place, blank) for place in places]
        widths = {"sampled": (-1, records.SAMPLED), "places": (-1, records.PLACED)}
        arrays = {
            records.PREFIX + name: np.array([row[name] for row in rows], dtype=kind).reshape(
                widths.get(name, (-1,))
            )
            for name, kind in records.FIELDS.items()
        }
        hashes = sorted(self.copies)[:_KEPT]
        state: dict[str, Any] = {
            "numbers": [self.numbers[name] for name in records.NUMBERS],
            "order": self.order,
            "row_hashes": hashes,
            "row_counts": [self.copies[own] for own in hashes],
        }
        return arrays | {
            records.PREFIX + name: np.array(state[name], dtype=kind)
            for name, kind in records.STATE.items()
        }


def merged_records(
    states: Sequence[State], start: Sequence[State] | None, keys: Sequence[Keys], k: int
) -> records.Arrays:
    """Evidence of a learner that several were merged into, with the features it selects.

    Parameters
    ----------
    states : sequence of State
        Of the learners; the first is changed.
    start : (State, State), optional
        Of the learner that all continued from, sharing its tests: twice, the second is changed.
    keys : sequence of ndarray
        Selected by the merged learner, for each heap.
    k : int
        Slots of a heap.
    """
    if start is None:
        merged = states[0]
        for other in states[1:]:
            _compose(merged, other)
        merged.keep(keys)
    else:
        merged = _add_up(states, *start)
        merged.keep(keys)
        merged.start(k * len(keys))
    return merged.to_arrays(keys)


def _compose(own: State, other: State) -> None:
    back = other.numbers["bank"]
    staked = own.numbers["bank"]
    for place, record in other.tests.items():
        known = own.tests.get(place)
        if known is not None and known["labels"] != record["labels"]:
            back += record["stake"] * math.exp(min(record["log_e"], 0.0))
            continue
        if known is not None and known["stake"] > 0:
            back += record["stake"]
            stake = known["stake"]
        else:
            stake = staked * record["stake"]
        since = (known or record)["since"]
        own.tests[place] = {**_sum(known, record), "stake": stake, "since": since}
    own.numbers["bank"] = staked * back
    for name in _SUMMED:
        own.numbers[name] += other.numbers[name]
    own.numbers["frozen"] = max(own.numbers["frozen"], other.numbers["frozen"])
    own.order = own.order + other.order
    own.copies = _joined(own.copies, other.copies, {})


def _add_up(parts: Sequence[State], start: State, total: State) -> State:
    for part in parts:
        for place, record in part.tests.items():
            before = start.tests.get(place)
            if before is not None and before["since"] != record["since"]:
                before = None  # it left and came back: counted anew
            known = total.tests.get(place)
            if known is not None and known["labels"] != record["labels"]:
                continue
            given = before is not None and before["stake"] > 0
            only = {} if given else {"stake": 0.0, "log_e": 0.0}  # what a part starts is its own
            if known is None or known["stake"] == 0 or given:
                total.tests[place] = {**_sum(known, record, before), **only}
        for name in _SUMMED:
            total.numbers[name] += part.numbers[name] - start.numbers[name]
        total.order = total.order + (part.order - start.order)
        total.copies = _joined(total.copies, part.copies, start.copies)
    total.numbers["origin"] = total.numbers["origin"] or parts[0].numbers["origin"]
    return total


def _sum(known: Record | None, record: Record, before: Record | None = None) -> Record:
    """Add up what two know of a feature, less what they have in common."""
    if known is None:
        return dict(record)
    common = before or {"log_e": 0.0, "shift": 0.0, "variance": 0.0, "rows": 0}
    halved = 2.0 if record["variance"] < common["variance"] else 1.0  # as long tests are
    rows = known["rows"] + record["rows"] - common["rows"]
    found = {
        **known,
        "log_e": known["log_e"] + record["log_e"] - common["log_e"],
        "shift": known["shift"] + halved * record["shift"] - common["shift"],
        "variance": known["variance"] + halved * record["variance"] - common["variance"],
        "rows": rows,
    }
    if before is None:
        weight = record["rows"] / rows if rows else 0.0
        found["mean"] = known["mean"] + weight * (record["mean"] - known["mean"])
    elif record["rows"] > before["rows"]:
        new = (record["rows"] * record["mean"] - before["rows"] * before["mean"]) / rows
        found["mean"] = known["mean"] * known["rows"] / rows + new
    return found | _joined_samples(known, record)


def _joined_samples(one: Record, other: Record) -> Record:
    places: dict[int, int] = {}
    for own in (one, other):
        rows = own["sampled"][: own["sample_sizes"]]
        placed = own["places"] + [0] * len(rows)
        for row, place in zip(rows, placed, strict=False):
            places[row] = places.get(row) or place
    rows = np.array(list(places), dtype=np.uint64)
    rows = rows[np.argsort(row_hashes(rows), kind="stable")][: records.SAMPLED]
    sampled = rows.tolist()
    kept = [places[row] for row in sampled[: records.PLACED]]
    return {
        "sample_sizes": len(sampled),
        "sampled": sampled + [0] * (records.SAMPLED - len(sampled)),
        "places": kept + [0] * (records.PLACED - len(kept)),
    }


def _joined(one: dict[int, int], other: dict[int, int], common: dict[int, int]) -> dict[int, int]:
    found = dict(one)
    for own, count in other.items():
        found[own] = found.get(own, 0) + count - common.get(own, 0)
    return {own: found[own] for own in sorted(found)[:_KEPT]}


def _by_key(place: tuple[int, int]) -> tuple[int, int]:
    return place[1], place[0]
