"""Evidence as arrays: one record for each selected feature, and what all have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]

# Of each record; the core has the same names.
FIELDS: dict[str, Any] = {
    "log_e": np.float64,
    "shift": np.float32,
    "variance": np.float32,
    "stake": np.float32,
    "mean": np.float32,
    "labels": np.uint32,
    "rows": np.uint64,
    "since": np.uint64,
    "sample_sizes": np.uint8,
    "sampled": np.uint64,
    "places": np.uint64,
}
# Of the whole: see NUMBERS; the order check; a sample of rows and how often each came.
STATE: dict[str, Any] = {
    "numbers": np.float64,
    "order": np.float64,
    "row_hashes": np.uint64,
    "row_counts": np.uint64,
}
NUMBERS = ("bank", "begun", "rows", "origin", "drawn", "small", "later", "frozen")
SAMPLED, PLACED = 16, 4  # rows kept for each feature, and how many of them with their place
BYTES = 20  # of one selected feature while it is tested: sums, log e and stake
_HALF = np.uint64(32)
PREFIX = "evidence."
PARKED = PREFIX + "parked."


def dump(core: Any) -> Arrays:
    """Arrays of a learner's evidence as a file has them; empty where it gathers none."""
    return _compact(read(core))


def read(core: Any) -> Arrays:
    """Arrays of a learner's evidence by name; empty where it gathers none.

    Records come heap after heap, in the order of :meth:`Learner.selected` in each.
    """
    if not core.has_evidence:
        return {}
    arrays = {PREFIX + name: array for name, array in core.evidence_state().items()}
    heaps = range(core.groups)
    kept = [core.evidence_records(heap, False) for heap in heaps]
    for name in FIELDS:
        arrays[PREFIX + name] = np.concatenate([records[name] for records in kept])
    parked = [core.evidence_records(heap, True) for heap in heaps]
    sizes = [len(records["keys"]) for records in parked]
    if any(sizes):
        arrays[PARKED + "heaps"] = np.repeat(np.arange(len(sizes)), sizes).astype(np.uint32)
        for name in ("keys", *FIELDS):
            arrays[PARKED + name] = np.concatenate([records[name] for records in parked])
    return arrays


def restore(core: Any, arrays: Arrays, keys: Sequence[npt.NDArray[np.uint64]]) -> None:
    """Undo :func:`dump`, with the keys that are selected in each heap."""
    if not core.has_evidence:
        return
    arrays = _expand(arrays)
    core.restore_evidence_state({name: _own(arrays[PREFIX + name]) for name in STATE})
    start = 0
    for heap, own in enumerate(keys):
        part = slice(start, start + len(own))
        kept = {name: _own(arrays[PREFIX + name][part]) for name in FIELDS}
        core.restore_evidence_records(heap, False, {"keys": _own(own), **_flat(kept)})
        mine = arrays.get(PARKED + "heaps", np.empty(0, np.uint32)) == heap
        none = {"keys": np.empty(0, np.uint64)}
        none |= {name: np.empty(0, kind) for name, kind in FIELDS.items()}
        parked = {name: _own(arrays.get(PARKED + name, none[name])[mine]) for name in none}
        core.restore_evidence_records(heap, True, _flat(parked))
        start += len(own)
    if start != len(arrays[PREFIX + "log_e"]):
        raise ValueError(f"evidence of {len(arrays[PREFIX + 'log_e'])} features, {start} expected")


def _compact(arrays: Arrays) -> Arrays:
    """Keep half of each sampled row where those of a feature are all of one run: its number."""
    rows = arrays.get(PREFIX + "sampled")
    if rows is None:
        return arrays
    origins = (rows >> _HALF).max(axis=1, initial=0)
    if ((rows >> _HALF != origins[:, None]) & (rows != 0)).any():
        return arrays
    found = {PREFIX + "origins": origins.astype(np.uint32)}
    return arrays | found | {PREFIX + "sampled": rows.astype(np.uint32)}


def _expand(arrays: Arrays) -> Arrays:
    """Undo :func:`_compact`."""
    origins = arrays.get(PREFIX + "origins")
    if origins is None or arrays[PREFIX + "sampled"].dtype != np.uint32:
        return arrays
    rows = arrays[PREFIX + "sampled"].astype(np.uint64)
    rows |= origins.astype(np.uint64)[:, None] << _HALF
    rows[np.arange(SAMPLED) >= arrays[PREFIX + "sample_sizes"][:, None]] = 0
    return arrays | {PREFIX + "sampled": rows}


def check_types(name: str, array: npt.NDArray[Any]) -> None:
    """Refuse an array of evidence that has another type than its name says."""
    types = {**FIELDS, **STATE, "keys": np.uint64, "heaps": np.uint32, "origins": np.uint32}
    wanted = np.dtype(types[name.rpartition(".")[2]])
    if name == PREFIX + "sampled" and array.dtype == np.uint32:
        return
    if array.dtype != wanted:
        raise ValueError(f"{name} has type {array.dtype}, {wanted} expected")


def _own(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def _flat(records: Arrays) -> Arrays:
    return {name: array.reshape(-1) for name, array in records.items()}


def narrow(
    arrays: Arrays, sizes: Sequence[int], numbers: npt.NDArray[np.intp], *, per_class: bool
) -> None:
    """Cut and reorder evidence to some classes, given the selected of each heap."""
    if PREFIX + "log_e" not in arrays:
        return
    labels = np.zeros(int(max(numbers.max(), arrays[PREFIX + "labels"].max(initial=0))) + 1)
    labels[numbers] = np.arange(len(numbers))
    arrays[PREFIX + "labels"] = labels[arrays[PREFIX + "labels"]].astype(np.uint32)
    if per_class:
        ends = np.cumsum(sizes)
        spans = [np.arange(ends[heap] - sizes[heap], ends[heap]) for heap in numbers]
        rows = np.concatenate(spans)
        names = [PREFIX + name for name in (*FIELDS, "origins") if PREFIX + name in arrays]
        arrays |= {name: arrays[name][rows] for name in names}
