"""Averaging learners: any number of them at once, in double precision, in the order given.

Everything a model knows of a key is linear in its cells and exact weights, once the keys that any
part selected are exact in all of them. So these are taken out of the cells of every part, cells and
exact weights are averaged, and all but the k largest are put back.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bearsketch.batch import pack_names
from bearsketch.learners import state
from bearsketch.learners.learner import Learner
from bearsketch.model_file import Arrays

Reals = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]

_LARGEST_BYTE = 127.0  # of a one-byte cell
_SUMMED = ("examples", "batches")


def average(parts: Sequence[Learner], start: Learner | None = None) -> Learner:
    r"""Average learners, weighted by the examples each has learned.

    Cells, exact weights, intercepts and clocks are averaged; the selection is made anew from all
    that any part selected; examples and minibatches add up. Pairs of L-BFGS are dropped.

    Where all parts went on from one ``start``, each made a move :math:`d_i` from there. The mean of
    moves that point in different directions is shorter than any of them: what one part learned of
    a rare feature would be divided by the number of parts. So the mean move :math:`\bar d` is made
    as long as the moves were, by the factor

    .. math:: \sqrt{\sum_i s_i |d_i|^2} \; / \; |\bar d|

    with :math:`s_i` the shares of the examples: 1 where the parts agree, and the root of their
    number where they have nothing in common. Cells and exact weights have a factor each.

    Parameters
    ----------
    parts : sequence of Learner
        Of one configuration, with the same labels and naming. Their order is part of the result:
        the same parts in the same order give the same bytes.
    start : Learner, optional
        The model that all parts went on from; only examples since then count.

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
            first.check_mergeable(other)
    if len(parts) == 1:
        return Learner.from_bytes(parts[0].to_bytes())
    before = 0 if start is None else start.counters["examples"]
    gained = np.array([part.counters["examples"] - before for part in parts], dtype=np.float64)
    shares = gained / gained.sum() if gained.any() else np.full(len(parts), 1.0 / len(parts))
    given = [*parts, *([] if start is None else [start])]
    unions = [_union(given, g) for g in range(first._core.groups)]
    numbers = _mean(parts, shares, start, unions)
    arrays = _selected_and_cells(numbers, unions, given)
    clocks = np.array([part._core.numbers()[1] for part in parts], dtype=np.float64)
    arrays["numbers.direction"] = shares @ clocks
    arrays["intercept"] = shares @ np.array([part.intercept for part in parts])
    merged = Learner(first.config, first.labels)
    state.restore(merged, arrays, _record(parts, start))
    return merged


def _mean(
    parts: Sequence[Learner], shares: Reals, start: Learner | None, unions: list[Keys]
) -> list[Reals]:
    """Average the exact weights of each group, and last the cells."""
    base = None if start is None else _exact_numbers(start, unions)
    mean: list[Reals] = []
    squares = np.zeros(len(unions) + 1)
    for part, share in zip(parts, shares, strict=True):
        moved = _exact_numbers(part, unions)
        if base is not None:
            moved = [own - before for own, before in zip(moved, base, strict=True)]
            squares += share * _squares(moved)
        moved = [share * own for own in moved]
        mean = [a + b for a, b in zip(mean, moved, strict=True)] if mean else moved
    if base is None:
        return mean
    lengths = _squares(mean)
    factors = np.sqrt(np.divide(squares, lengths, out=np.ones_like(squares), where=lengths > 0.0))
    return [a + float(f) * b for a, f, b in zip(base, factors, mean, strict=True)]


def _squares(numbers: list[Reals]) -> Reals:
    return np.array([np.dot(block.ravel(), block.ravel()) for block in numbers])


def _exact_numbers(learner: Learner, unions: list[Keys]) -> list[Reals]:
    """Weights of the keys of all groups, made exact, and last the cells without them."""
    twin = _widened(learner)
    exact = [twin._core.take_out(g, keys) for g, keys in enumerate(unions)]
    return [*exact, np.frombuffer(twin._core.cells(), dtype=np.float64)]


def _selected_and_cells(
    numbers: list[Reals], unions: list[Keys], parts: Sequence[Learner]
) -> Arrays:
    """Keep the k largest of each group and put the others back into the cells."""
    config = parts[0].config
    wide = Learner(replace(config, precision="float64"), parts[0].labels)
    blank, record = state.dump(wide)
    state.restore(wide, {**blank, "cells": numbers[-1]}, record)
    arrays: Arrays = {}
    for g, (keys, exact) in enumerate(zip(unions, numbers[:-1], strict=True)):
        order = np.lexsort((keys, -np.linalg.norm(exact, axis=1)))
        kept, rest = order[: config.k], order[config.k :]
        wide._core.put_back(g, keys[rest], np.ascontiguousarray(exact[rest]).ravel())
        arrays |= _selected_arrays(g, keys[kept], exact[kept], _names(parts, g))
    return arrays | _narrowed(np.frombuffer(wide._core.cells(), dtype=np.float64), parts)


def _union(parts: Sequence[Learner], group: int) -> Keys:
    """Return the keys that any part selected, in order."""
    found: Keys = np.unique(np.concatenate([part._core.selected(group)["keys"] for part in parts]))
    return found


def _widened(learner: Learner) -> Learner:
    """Give the same learner with cells in double precision."""
    arrays, record = state.dump(learner)
    cells = arrays["cells"].astype(np.float64)
    if learner.config.precision == "int8":
        cells *= arrays["numbers.storage"][0]
    twin = Learner(replace(learner.config, precision="float64"), learner.labels)
    state.restore(twin, {**arrays, "cells": cells, "numbers.storage": np.zeros(0)}, record)
    return twin


def _narrowed(cells: Reals, parts: Sequence[Learner]) -> Arrays:
    """Cells as the configuration stores them.

    One-byte cells keep the largest quantum of the parts unless that is too small, and are rounded
    up or down at random in proportion, as every write to them is.
    """
    config = parts[0].config
    cells = cells.reshape(-1, config.columns)
    if config.precision != "int8":
        return {"cells": cells.astype(config.precision), "numbers.storage": np.zeros(0)}
    numbers = np.array([part._core.numbers()[0] for part in parts])
    largest = float(np.abs(cells).max(initial=0.0))
    quantum, writes = max(numbers[:, 0].max(), largest / _LARGEST_BYTE), numbers[:, 1].max() + 1.0
    if quantum > 0.0:
        drawn = _draws(cells.size, config.seed, int(writes)).reshape(cells.shape)
        cells = np.clip(np.floor(cells / quantum + drawn), -_LARGEST_BYTE, _LARGEST_BYTE)
    return {"cells": cells.astype(np.int8), "numbers.storage": np.array([quantum, writes])}


def _draws(n: int, seed: int, writes: int) -> Reals:
    """Give numbers in [0, 1) that depend on seed, number of writes and cell alone."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        x = (np.arange(1, n + 1, dtype=np.uint64) * golden) ^ np.uint64(
            (seed + writes * 0xD1342543DE82EF95) % 2**64
        )
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    x ^= x >> np.uint64(31)
    return np.asarray((x >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _selected_arrays(
    group: int, keys: Keys, weights: Reals, names: dict[int, tuple[bytes, bytes]]
) -> Arrays:
    arrays: Arrays = {f"selected.{group}.keys": keys, f"selected.{group}.weights": weights}
    for i, what in enumerate(("names", "aliases")):
        data, offsets = pack_names([names[key][i] for key in keys.tolist()])
        arrays[f"selected.{group}.{what}.data"] = data
        arrays[f"selected.{group}.{what}.offsets"] = offsets
    return arrays


def _names(parts: Sequence[Learner], group: int) -> dict[int, tuple[bytes, bytes]]:
    """Name and second name of each selected key, of the first part that knows one."""
    found: dict[int, tuple[bytes, bytes]] = {}
    for part in parts:
        top = part._core.selected(group)
        for key, name, alias in zip(
            top["keys"].tolist(), top["names"], top["aliases"], strict=True
        ):
            had, other = found.get(key, (b"", b""))
            if not had:
                found[key] = (name, alias)
            elif not other:
                found[key] = (had, alias or (name if name != had else b""))
    return found


def _record(parts: Sequence[Learner], start: Learner | None) -> dict[str, object]:
    """Counters and guards add up, those of a common start once."""
    counters, guards = dict(parts[-1].counters), dict(parts[-1].guards)
    for name in itertools.chain(_SUMMED, guards):
        into, field = (counters, "counters") if name in _SUMMED else (guards, "guards")
        base = 0 if start is None else getattr(start, field)[name]
        into[name] = base + sum(getattr(part, field)[name] - base for part in parts)
    naming = next((part.naming for part in parts if part.naming is not None), None)
    return {"counters": counters, "guards": guards, "naming": naming}
