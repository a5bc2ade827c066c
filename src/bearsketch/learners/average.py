"""Averaging learners: any number of them at once, in double precision, in the order given.

Everything a model knows of a key is linear in its cells and exact weights, once the keys that any
part selected are exact in all of them. So these are taken out of the cells of every part, cells and
exact weights are averaged, and all but the k largest are put back.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.batch import pack_names
from bearsketch.evidence import records
from bearsketch.evidence.merge import State, merged_records
from bearsketch.evidence.places import join_sources
from bearsketch.exceptions import IncompatibleError
from bearsketch.learners import state
from bearsketch.learners.labels import Labels, compare_classes
from bearsketch.learners.learner import Learner
from bearsketch.learners.selected import sizes_of
from bearsketch.learners.state import CALIBRATION, WAYS
from bearsketch.model_file import Arrays
from bearsketch.scaling import Scaling, combine

Reals = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]

_NO_NAMES = (b"", b"")
_NO_KEYS = np.array([], dtype=np.uint64)
_SUMMED = ("examples", "batches")


def average(parts: Sequence[Learner], start: Learner | None = None) -> Learner:
    r"""Average learners, weighted by the examples each has learned, and these by their weights.

    Cells, exact weights and intercepts are averaged; the selection is made anew from all that any
    part selected; examples and minibatches add up, passes are the most of any. Pairs of L-BFGS are
    dropped.

    ``bear+`` knows how much it knows of each weight, so its parts are multiplied as posteriors over
    one prior: precisions add, and means weigh by precision. What a common ``start`` knew counts
    once. A rare feature, of which parts have seen different examples, moves by the sum of their
    moves; of a frequent one the moves are averaged. From a common start the whole move is at most
    as long as the root mean square of theirs, as features met together move for one reason.

    Of other learners, where all parts began at one ``start``, each made a move :math:`d_i` from
    there. The mean of moves that point in different directions is shorter than any of them: what
    one part learned of a rare feature would be divided by the number of parts. So the mean move
    :math:`\bar d` is made as long as the moves were, by the factor

    .. math:: \sqrt{\sum_i s_i |d_i|^2} \; / \; |\bar d|

    with :math:`s_i` the shares of the examples: 1 where the parts agree, and the root of their
    number where they have nothing in common. Cells and exact weights have a factor each.

    Parameters
    ----------
    parts : sequence of Learner
        Of one configuration, with the same labels and naming. Their order is part of the result:
        the same parts in the same order give the same bytes.
    start : Learner, optional
        The model that all parts continued from; only examples since then count.

    Returns
    -------
    Learner

    Raises
    ------
    IncompatibleError
        Unless all parts agree.

    Examples
    --------
    >>> from bearsketch import Batch, make_learner
    >>> a, b = (make_learner("sgd", dimension=2, intercept=False) for _ in range(2))
    >>> for part, label in ((a, 1), (b, -1)):
    ...     _ = part.learn(Batch([0, 1], [0], [1.0], labels=[label]))
    >>> average([a, b]).weights_of([0])
    array([[0.]])
    """
    first = parts[0] if start is None else start
    for other in parts:
        if other is not first:
            check_mergeable(first, other)
    if len(parts) == 1:
        same = Learner.from_bytes(parts[0].to_bytes())
        if start is not None:
            keys = _selected_keys(same)
            records.restore(same._core, _combined_evidence(same, keys, parts, start), keys)
        return same
    parts = [rescaled(part, first.scaling) for part in parts]
    before = 0.0 if start is None else start._core.counters.weight
    gained = np.array([part._core.counters.weight - before for part in parts], dtype=np.float64)
    shares = gained / gained.sum() if gained.any() else np.full(len(parts), 1.0 / len(parts))
    given = [*parts, *([] if start is None else [start])]
    selected = [[part._core.selected(g) for part in given] for g in range(first._core.groups)]
    unions = [_union([top["keys"] for top in tops]) for tops in selected]
    apart = _core.average(
        [part._core for part in parts], shares, None if start is None else start._core, unions
    )
    exact = apart.weights
    sizes = [sizes_of(first.config.update, block) for block in exact]
    orders = [_order(*three) for three in zip(unions, sizes, apart.worths, strict=True)]
    merged = Learner(first.config, _labels(parts))
    _fill_cells(merged, apart, exact, unions, orders, parts)
    arrays, _ = state.dump(merged)
    kept_keys = [keys[order[: first.config.k]] for keys, order in zip(unions, orders, strict=True)]
    arrays |= _combined_evidence(merged, kept_keys, parts, start)
    for g, order in enumerate(orders):
        kept = order[: first.config.k]
        arrays |= _selected_arrays(g, unions[g][kept], exact[g][kept], _names(selected[g]))
        arrays.pop(f"selected.{g}.exponents", None)  # these weights are plain numbers
        if first.config.update == "posterior":
            arrays[f"selected.{g}.levels"] = apart.levels[g][kept]
    arrays |= {state.STATE + "update." + name: values for name, values in apart.state.items()}
    intercepts = np.array([part._core.intercept for part in parts])
    arrays["intercept"] = (shares[:, None] * intercepts).sum(axis=0)
    sources = merged.sources
    state.restore(merged, arrays, _record(parts, start))
    merged.scaling = first.scaling
    merged.sources = sources
    return merged


def _combined_evidence(
    merged: Learner, keys: list[Keys], parts: Sequence[Learner], start: Learner | None
) -> Arrays:
    """Evidence about what a merged learner selects, from all that was gathered."""
    if not merged._core.has_evidence:
        return {}
    merged.sources = list((parts[0] if start is None else start).sources)
    given = [*parts, *([] if start is None else [start])]
    numbers = {id(part): join_sources(merged.sources, part.sources) for part in given}
    states = [State(part._core, numbers[id(part)]) for part in parts]
    common = None if start is None else [State(start._core, numbers[id(start)]) for _ in range(2)]
    return merged_records(states, common, keys, merged.config.k)


def rescaled(learner: Learner, scaling: Scaling | None) -> Learner:
    """Learner that predicts the same, but for rounding, with other columns scaled, or otherwise.

    A weight grows as the size of its column does, and constants take what the means differ by.
    """
    if learner.scaling is scaling:
        return learner
    ways = [way for way in (learner.scaling, scaling) if way is not None]
    keys = _union([way.keys for way in ways])
    before, after = (_sizes_and_means(way, keys) for way in (learner.scaling, scaling))
    factors, moves = after[0] / before[0], (after[1] - before[1]) / before[0]
    if (factors == 1.0).all() and (moves == 0.0).all():
        return learner
    same = Learner.from_bytes(learner.to_bytes())
    weights = same._core.query(keys)
    held = np.isin(keys, np.concatenate([_NO_KEYS, *_selected_keys(same)]))
    same._core.move(keys, (weights * (factors - 1.0)[:, None]).ravel())
    _move_constants(same, combine(moves, weights), combine(moves * held, weights))
    same.scaling = scaling
    return same


def _selected_keys(learner: Learner) -> list[Keys]:
    return [learner._core.selected(g)["keys"] for g in range(learner._core.groups)]


def _sizes_and_means(scaling: Scaling | None, keys: Keys) -> tuple[Reals, Reals]:
    if scaling is None:
        return np.ones(len(keys)), np.zeros(len(keys))
    sizes = scaling.sizes_of(keys)
    return sizes, scaling.shifts_of(keys) * sizes


def _move_constants(learner: Learner, change: Reals, of_selected: Reals) -> None:
    """Move the intercept, and where the selected have a constant of their own, that."""
    core, config = learner._core, learner.config
    core.intercept = (np.array(core.intercept) + change).tolist()
    if config.update == "posterior" and config.intercept:
        core.move_selected_intercept((of_selected - change).tolist())


def check_mergeable(one: Learner, other: Learner) -> None:
    """Refuse learners that differ in configuration, labels or naming."""
    if other is one:
        raise IncompatibleError("a learner cannot be merged with itself")
    one.check_learns()
    other.check_learns()
    own, their = one.labels.classes, other.labels.classes
    if own is not None and their is not None and own != their:
        found, hint = compare_classes(own, their)
        raise IncompatibleError(f"learners must agree to merge: {found}", hint=hint)
    mine, theirs = one.config.to_json(), other.config.to_json()
    mine |= {"classes": own}
    theirs |= {"classes": their}
    if one.naming and other.naming:
        mine |= {"naming": one.naming}
        theirs |= {"naming": other.naming}
    for field, value in mine.items():
        if theirs.get(field) != value:
            raise IncompatibleError(
                f"learners must agree to merge: {field} is {value!r} here and "
                f"{theirs.get(field)!r} there"
            )


def _labels(parts: Sequence[Learner]) -> Labels:
    """Labels of the first part that knows how the negative class is called."""
    known = (part.labels for part in parts if part.labels.negative is not None)
    return next(known, parts[0].labels)


def _union(parts: Sequence[Keys]) -> Keys:
    """All keys once, sorted; ``numpy.unique`` would import masked arrays for it."""
    keys = np.sort(np.concatenate(parts))
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _fill_cells(
    merged: Learner,
    apart: _core.Exact,
    exact: list[Reals],
    unions: list[Keys],
    orders: list[Places],
    parts: Sequence[Learner],
) -> None:
    """Put all but the k largest of each group back into the cells.

    One-byte cells keep the largest quantum of the parts unless that is too small.
    """
    k = merged.config.k
    back = [keys[order[k:]] for keys, order in zip(unions, orders, strict=True)]
    weights = [block[order[k:]].ravel() for block, order in zip(exact, orders, strict=True)]
    quantum = writes = 0.0
    if merged.config.precision == "int8":
        numbers = np.array([part._core.state(False)["cells"] for part in parts])
        quantum, writes = float(numbers[:, 0].max()), float(numbers[:, 1].max()) + 1.0
    _core.put_together(merged._core, apart, back, weights, quantum, writes)


def _order(keys: Keys, sizes: Reals, worths: Reals) -> Places:
    """Places by what keys are worth, most first, as a selection keeps them."""
    return np.lexsort((keys, -sizes * worths))


def _selected_arrays(
    group: int, keys: Keys, weights: Reals, names: dict[int, tuple[bytes, bytes]]
) -> Arrays:
    arrays: Arrays = {f"selected.{group}.keys": keys, f"selected.{group}.weights": weights}
    for i, what in enumerate(("names", "aliases")):
        data, offsets = pack_names([names.get(key, _NO_NAMES)[i] for key in keys.tolist()])
        arrays[f"selected.{group}.{what}.data"] = data
        arrays[f"selected.{group}.{what}.offsets"] = offsets
    return arrays


def _names(tops: Sequence[dict[str, Any]]) -> dict[int, tuple[bytes, bytes]]:
    """Name and second name of each selected key that has one, of the first part that knows it."""
    found: dict[int, tuple[bytes, bytes]] = {}
    for top in tops:
        if not any(top["names"]):  # ids, which need none
            continue
        both = zip(top["names"], top["aliases"], strict=True)
        for key, own in zip(top["keys"].tolist(), both, strict=True):
            known = found.get(key, _NO_NAMES)
            if not known[0]:
                found[key] = own
            elif own != known and not known[1]:
                name, alias = own
                found[key] = (known[0], alias or (name if name != known[0] else b""))
    return found


def _record(parts: Sequence[Learner], start: Learner | None) -> dict[str, Any]:
    """Counters and guards add up, those of a common start once."""
    counters: dict[str, float] = dict(parts[-1].counters)
    guards = dict(parts[-1].guards)
    for name in ("weighed", "weight"):
        base = 0 if start is None else getattr(start._core.counters, name)
        counters[name] = base + sum(getattr(part._core.counters, name) - base for part in parts)
    counters["passes"] = max(part.counters["passes"] for part in parts)
    for name in itertools.chain(_SUMMED, guards):
        into, field = (counters, "counters") if name in _SUMMED else (guards, "guards")
        base = 0 if start is None else getattr(start, field)[name]
        into[name] = base + sum(getattr(part, field)[name] - base for part in parts)
    naming = next((part.naming for part in parts if part.naming is not None), None)
    return {
        "counters": counters,
        "guards": guards,
        "calibration": {way: _calibration(parts, start, only) for way, only in WAYS.items()},
        "naming": naming,
    }


def _calibration(parts: Sequence[Learner], start: Learner | None, only: bool) -> dict[str, Any]:
    """Add up the sums of the parts, those of a common start once.

    The t-th prediction of a part counts as if the parts had taken turns: the square of its number
    among all is that of its number there, times the square of how many more there are of all.
    """
    given = [part._core.calibration(only) for part in parts]
    base = None if start is None else start._core.calibration(only)
    merged = {name: sum(_gained(one, base, name) for one in given) for name in CALIBRATION[:2]}
    if base is not None:
        merged = {name: base[name] + more for name, more in merged.items()}
    for name in CALIBRATION[2:]:
        total = np.zeros(len(given[0][name])) if base is None else np.array(base[name])
        for one in given:
            turns = merged["examples"] / max(one["examples"], 1)
            total = total + turns * turns * _gained(one, base, name)
        merged[name] = total.tolist()
    return merged


def _gained(part: dict[str, Any], start: dict[str, Any] | None, name: str) -> Any:
    if isinstance(part[name], list):
        return np.array(part[name]) - (0.0 if start is None else np.array(start[name]))
    return part[name] - (0 if start is None else start[name])
