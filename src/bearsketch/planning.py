"""What a memory budget buys, before any data is read; or the budget that a k needs.

A weight read from a Count Sketch errs by what the other features add to its cells: with d rows of
w cells and the mean of the rows, by the Euclidean norm of all weights in the cells over the root
of w d (the median of three rows or more: 1.25 times as much). Only the tail counts where the
selected are kept outside the cells (``bear+``), and where a median passes over the few rows in
which one of them is met; not for the mean of ``awm``. Weights are taken to fall like a power of
their rank,

    |weight of rank i| = (k / i)^s    for ranks k + 1 ... n,

in units of the k-th weight, the smallest one that is to be selected.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from typing import Any

from bearsketch.exceptions import ParameterError
from bearsketch.learners.config import CELL_BYTES, Config, resolve
from bearsketch.learners.noise import (
    BY_CHANCE,
    CROWDING,
    chance_above,
    row_error,
    verdict_of,
)
from bearsketch.learners.recipes import RECIPES
from bearsketch.sizes import parse_bytes
from bearsketch.training.memory import TEXT_BYTES, program_bytes, terms

FEATURES, TAIL = 1_000_000, 0.5
# Weights of k-mers hardly fall: 0 to 0.2 fits 12-mers and 21-mers of two pairs of bacteria.
KMER_TAIL = 0.1
# A batch as it is planned for: 240 examples of 100 features with names, in minibatches of 20.
BATCH_FEATURES, MINIBATCH_FEATURES = 24_000, 2_000
LINE_BYTES = 1 << 16
# Of a model file: a name with the places of it and of the second name of its key, and the record.
NAMED_BYTES, RECORD_BYTES = TEXT_BYTES + 16, 4096
# Of the evidence: for each selected feature, and in all.
TESTED_BYTES, EVIDENCE_BYTES = 145, 6144


@dataclass(frozen=True, slots=True)
class Plan:
    """What a budget buys; the names are the keys of ``bearsketch plan --json``.

    Attributes
    ----------
    learner, precision : str
    classes, k, width, depth : int
    model_bytes, cell_bytes, selected_bytes : int
        What the model keeps, and its parts.
    features : int
        Different features expected in the data.
    tail : float
        Power of the rank by which their weights fall.
    compression : float
        A weight of four bytes for every feature (and class), over the model.
    crowding : float
        Features per cell, over all rows.
    noise_floor : float
        Expected error of an estimated weight, in units of the k-th weight.
    by_chance : float
        Features that noise would lift to the k-th weight.
    verdict : str
        ``ample``, ``fair`` or ``too small``, as :class:`bearsketch.learners.noise.Noise`.
    file_bytes : int
        Size of the model file: beside the model, names (of 24 bytes, as is usual for words) and the
        record of the run, which no budget counts.
    peak_bytes : int
        Most memory of the whole process that trains and saves it, by
        :func:`bearsketch.training.memory.terms` for examples of about 100 features.
    """

    learner: str
    precision: str
    classes: int
    k: int
    width: int
    depth: int
    model_bytes: int
    cell_bytes: int
    selected_bytes: int
    features: int
    tail: float
    compression: float
    crowding: float
    noise_floor: float
    by_chance: float
    verdict: str
    file_bytes: int
    peak_bytes: int

    def to_json(self) -> dict[str, Any]:
        """Plain values under the names above."""
        return asdict(self)


def plan(
    memory: str | int | None = None,
    k: int | None = None,
    *,
    learner: str = "bear+",
    classes: int = 2,
    per_class: bool = False,
    passes: int = 1,
    depth: int | None = None,
    features: int = FEATURES,
    tail: float = TAIL,
) -> Plan:
    """Plan a model, from its budget or (with ``k`` alone) for its k.

    Parameters
    ----------
    memory : str or int, optional
        Bytes the model keeps. None: the least that is ample for ``k``.
    k : int, optional
        Features to select; None: as :func:`bearsketch.make_learner` chooses.
    learner, per_class, passes, depth
        As in :func:`bearsketch.make_learner`.
    classes : int
        1 for numbers, 2, or more.
    features : int
        Different features expected in the data.
    tail : float
        The weights fall like 1 / rank^tail. 0: all are equal; 0.5 is cautious for words, and on
        RCV1 0.8 fits; for k-mers take 0.1.

    Returns
    -------
    Plan

    Examples
    --------
    >>> plan("64KiB", k=100, features=50_000).width
    64436
    >>> plan(k=1000, features=20_000, tail=0.8).verdict
    'ample'
    """
    _check(learner, classes, features, tail, k, memory)
    parts: dict[str, Any] = {
        "learner": learner,
        "classes": classes,
        "per_class": per_class,
        "passes": passes,
        "depth": depth,
    }
    if memory is None:
        memory = needed_bytes(k or 0, features=features, tail=tail, **parts)
    return _bought(_config(memory=memory, k=k, **parts), features, tail)


def _bought(config: Config, features: int, tail: float) -> Plan:
    """Plan of a model whose shape is settled, for so many features whose weights fall so."""
    norm = _tail_norm(config, features, tail)
    cells = config.width * config.depth
    floor = norm / math.sqrt(config.width) * row_error(config.depth, config.query)
    by_chance = features * chance_above(1.0 / floor, config.columns) if floor else 0.0
    sizes = config.sizes
    groups = config.columns if config.per_class else 1
    return Plan(
        learner=config.learner,
        precision=config.precision,
        classes=config.n_classes,
        k=config.k,
        width=config.width,
        depth=config.depth,
        model_bytes=sizes.model_bytes,
        cell_bytes=sizes.cell_bytes,
        selected_bytes=sizes.selected_bytes,
        features=features,
        tail=tail,
        compression=4.0 * features * config.columns / sizes.model_bytes,
        crowding=features / cells,
        noise_floor=floor,
        by_chance=by_chance,
        verdict=verdict_of(by_chance / max(config.k, 1), features / cells),
        file_bytes=sizes.model_bytes
        + config.k * groups * (NAMED_BYTES + TESTED_BYTES)
        + RECORD_BYTES
        + EVIDENCE_BYTES,
        peak_bytes=peak_bytes(config),
    )


def needed_bytes(k: int, *, features: int, tail: float, **parts: Any) -> int:
    """Least budget for which the k-th weight stands clear of the noise and cells are not crowded.

    Both limits are those of the verdict ``ample``.
    """
    small = _config(memory=None, width=1, k=k, **parts)
    norm = _tail_norm(small, features, tail)
    # The k-th weight must be this many times the floor, or noise lifts too many others to it.
    clear = _ratio_for(BY_CHANCE[0] * k / features, small.columns)
    least = (clear * norm * row_error(small.depth, small.query)) ** 2
    width = max(math.ceil(least), math.ceil(features / CROWDING[0] / small.depth), 1)
    cells = width * small.depth * small.columns * CELL_BYTES[small.precision]
    return small.sizes.selected_bytes + cells


def peak_bytes(config: Config) -> int:
    """Most memory of a process that trains such a model and saves it.

    For text formats; Parquet takes what pyarrow takes.

    Examples
    --------
    >>> small, large = (_config(m, k=100, learner="bear+", classes=2) for m in ("1MiB", "65MiB"))
    >>> peak_bytes(large) - peak_bytes(small) == 2 * (64 << 20)  # the model, and a copy to save it
    True
    """
    found = terms(
        config,
        program=program_bytes(),
        entries=BATCH_FEATURES,
        active=MINIBATCH_FEATURES,
        text=TEXT_BYTES * BATCH_FEATURES,
        line=LINE_BYTES,
    )
    return sum(found.values())


def _check(
    learner: str, classes: int, features: int, tail: float, k: int | None, memory: Any
) -> None:
    if RECIPES.get(learner) is None or not RECIPES[learner].selects:
        names = ", ".join(name for name, recipe in RECIPES.items() if recipe.selects)
        raise ParameterError(f"learner must be one that selects, {names}, got {learner!r}")
    if classes < 1:
        raise ParameterError(f"classes must be at least 1, got {classes}")
    if not 1 <= features <= 2**63:
        raise ParameterError(f"features must be from 1 to 2^63, got {features}")
    if not 0.0 <= tail <= 10.0:
        raise ParameterError(f"tail must be from 0 to 10, got {tail}")
    if memory is None and not k:
        raise ParameterError(
            "give memory, or a k of at least 1 to find the memory for",
            hint="bearsketch plan --memory 64KiB, or bearsketch plan -k 1000",
        )
    if k is not None and k >= features:
        raise ParameterError(f"k must be below the number of features, {features}, got {k}")


def _config(
    memory: str | int | None,
    *,
    k: int | None,
    learner: str,
    classes: int,
    per_class: bool = False,
    passes: int = 1,
    depth: int | None = None,
    width: int | None = None,
) -> Config:
    with warnings.catch_warnings(action="ignore"):  # the plan itself tells how the bytes lie
        return resolve(
            learner,
            k=k,
            memory=None if memory is None else parse_bytes(memory),
            width=width,
            depth=depth,
            dimension=None,
            compression=None,
            loss={1: "squared", 2: "logistic"}.get(classes, "softmax"),
            n_classes=classes,
            step_size="auto",
            history=5,
            query=None,
            reads=None,
            per_class=per_class,
            l2=0.0,
            intercept=None,
            batch_size=None,
            seed=0,
            precision=None,
            evidence=True,
        )


def _tail_norm(config: Config, features: int, tail: float) -> float:
    """Norm of the weights that disturb others: the tail, for a mean also the selected."""
    k = max(config.k, 1)
    robust = config.query == "median" and config.depth >= 3
    first = k if config.storage == "cached" or robust else 0
    return math.sqrt(sum_of_powers(first, features, 2.0 * tail) * float(k) ** (2.0 * tail))


def sum_of_powers(first: int, last: int, power: float) -> float:
    """Sum of i^-power over i = first + 1 ... last: exact up to 1,000, then an integral.

    Examples
    --------
    >>> round(sum_of_powers(0, 4, 1.0), 4)
    2.0833
    >>> round(sum_of_powers(10**6, 10**12, 1.0), 3)  # ln(10^6)
    13.816
    """
    exact = min(last, max(first, 1000))
    total = math.fsum(float(i) ** -power for i in range(first + 1, exact + 1))
    a, b = exact + 0.5, last + 0.5  # the midpoint rule is exact to a part in 10^7 from here on
    if b <= a:
        return total
    if power == 1.0:
        return total + math.log(b / a)
    return total + (math.pow(b, 1.0 - power) - math.pow(a, 1.0 - power)) / (1.0 - power)


def _ratio_for(chance: float, columns: int) -> float:
    """Give the ratio to the floor that noise passes with this chance."""
    low, high = 0.0, 60.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        if chance_above(middle, columns) > chance:
            low = middle
        else:
            high = middle
    return high
