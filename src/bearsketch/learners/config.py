"""Everything a learner is made with, resolved from what a user gave."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bearsketch.exceptions import LimitError, ParameterError
from bearsketch.learners.parts import (
    Automatic,
    Step,
    as_step,
    check_choice,
    check_number,
    step_fields,
)
from bearsketch.learners.recipes import LEARNERS, RECIPES, Recipe
from bearsketch.sizes import Sizes, entry_bytes, parse_bytes, split_memory

LOSSES = ("logistic", "softmax", "squared")
CELL_BYTES = {"int8": 1, "float32": 4, "float64": 8}
FLOAT_BYTES = {"int8": 4, "float32": 4, "float64": 8}
STORAGES = ("dense", "sketch", "cached", "cached_keep")
UPDATES = ("gradient", "lbfgs", "newton", "posterior")
DEFAULT_MEMORY = "256KiB"
# Selections of a model, one for each class: the header of its file has about 600 bytes for each.
MOST_PER_CLASS = 1000


@dataclass(frozen=True, slots=True)
class Config:
    """A learner's parts and numbers, all decided. Two learners merge when these agree."""

    learner: str
    storage: str
    update: str
    loss: str
    n_classes: int
    k: int
    width: int
    depth: int
    dimension: int
    query: str
    precision: str
    reads: str
    per_class: bool
    history: int
    step: Step
    l2: float
    intercept: bool
    batch_size: int
    seed: int
    evidence: bool = False
    adjust: tuple[str, ...] = ()

    @property
    def columns(self) -> int:
        """Weights per feature: one for two classes and for regression."""
        return self.n_classes if self.loss == "softmax" else 1

    @property
    def weight_bytes(self) -> int:
        """Bytes of one weight of a selected feature."""
        shared = self.columns > 1 and not self.per_class
        return _weight_bytes(self.precision, self.update, self.loss, shared)

    @property
    def sizes(self) -> Sizes:
        """Bytes of the model this describes."""
        cell = CELL_BYTES[self.precision]
        cells = self.dimension or self.width * self.depth
        counter = _counter_bytes(self.update)
        entry = entry_bytes(self.columns, self.per_class, self.weight_bytes, counter)
        return Sizes(self.width, self.depth, self.k, cells * self.columns * cell, self.k * entry)

    def core_fields(self) -> dict[str, Any]:
        """Fields of the compiled core's recipe."""
        here = {"learner", "n_classes", "reads", "step", "adjust"}  # said in other words below
        return {
            **{name: getattr(self, name) for name in self.__slots__ if name not in here},
            **step_fields(self.step),
            "classes": self.n_classes,
            "reads_selection": self.reads == "selection",
        }

    def to_json(self) -> dict[str, Any]:
        """Plain values, enough for :meth:`from_json` to make the same again."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "step"}
        return {**plain, "step": {"kind": type(self.step).__name__, **asdict(self.step)}}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Config:
        """Inverse of :meth:`to_json`; raises ValueError, KeyError or TypeError on nonsense."""
        from bearsketch.learners import parts

        step = dict(plain["step"])
        kinds = {kind.__name__: kind for kind in (parts.Automatic, parts.Constant, parts.Decaying)}
        adjust = tuple(str(column) for column in plain.get("adjust", ()))
        made = {"step": as_step(kinds[step.pop("kind")](**step)), "adjust": adjust}
        config = cls(**{**plain, **made})
        config.check()
        return config

    def check(self) -> None:
        """Refuse values outside the limits, or that do not go together."""
        check_choice("learner", self.learner, LEARNERS)
        check_choice("storage", self.storage, STORAGES)
        check_choice("update", self.update, UPDATES)
        check_choice("loss", self.loss, LOSSES)
        check_choice("query", self.query, ("mean", "median"))
        check_choice("precision", self.precision, tuple(CELL_BYTES))
        check_choice("reads", self.reads, ("storage", "selection"))
        numbers = ("n_classes", "k", "width", "depth", "history", "batch_size", "l2", "seed")
        for name in numbers:
            if getattr(self, name) is None:
                raise ParameterError(f"{name} must be a number, got None")
            check_number(name, getattr(self, name))
        for name in ("per_class", "intercept", "evidence"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.storage == "dense":
            check_number("dimension", self.dimension)
            check_choice("precision", self.precision, ("float32", "float64"))
        elif self.dimension != 0:
            raise ParameterError(f"dimension must be 0 for a sketch, got {self.dimension!r}")
        if self.reads == "selection" and self.k == 0:
            raise ParameterError(f"k must be at least 1 for learner {self.learner!r}, got 0")
        if self.update == "posterior":
            self._check_posterior()

    def _check_posterior(self) -> None:
        """Refuse what a Gaussian for every weight, in one row of one-byte cells, has no use for."""
        only = {"depth": 1, "precision": "int8", "query": "mean", "reads": "storage", "l2": 0.0}
        for name, value in only.items():
            if getattr(self, name) != value:
                raise ParameterError(
                    f"{name} must be {value!r} for learner {self.learner!r}, got "
                    f"{getattr(self, name)!r}",
                    hint="It learns how large weights are and how far to step by itself; awm keeps "
                    "exact weights as well and takes this option.",
                )
        if self.step != Automatic():
            raise ParameterError(
                f"step_size must be 'auto' for learner {self.learner!r}, which finds its steps "
                "itself",
                hint="awm keeps exact weights as well and takes a step size.",
            )


def _counter_bytes(update: str) -> int:
    """Bytes of a selected feature that count what is known of it."""
    return 1 if update == "posterior" else 0


def _weight_bytes(precision: str, update: str, loss: str, shared: bool) -> int:
    """Those of a float; beside the one-byte cells of ``bear+`` two, or one of several classes.

    Numbers may be large, so that weights for them are floats. ``shared``: a feature is selected
    once for several classes.
    """
    if precision != "int8" or update != "posterior" or loss == "squared":
        return FLOAT_BYTES[precision]
    return 1 if shared else 2


def _choose_k(learner: str, k: int | None) -> int | None:
    """K as given, or the recipe's own where it is None; refuses k where nothing is selected."""
    recipe = RECIPES[learner]
    check_number("k", k)
    if learner == "fh":
        if k:
            raise ParameterError(f"k must not be given for 'fh', which cannot name, got {k}")
        return 0
    if k is None:
        return None if recipe.selects else 0
    if k <= 0 and recipe.selects and learner != "bear+":
        raise ParameterError(f"k must be at least 1 for learner {learner!r}, got {k}")
    return k


def _shape(
    learner: str,
    recipe: Recipe,
    k: int | None,
    columns: int,
    *,
    memory: str | int | None,
    width: int | None,
    depth: int | None,
    dimension: int | None,
    compression: float | None,
    per_class: bool,
    precision: str,
    loss: str,
) -> tuple[int, int, int, int]:
    """(k, width, depth, dimension) from one of the three ways to give a size."""
    if recipe.storage == "dense":
        if dimension is None:
            raise ParameterError(
                f"dimension must be given for learner {learner!r}, which keeps every weight"
            )
        return k or 0, 1, 1, dimension
    _check_one_size(memory=memory, width=width, compression=compression)
    rows = recipe.depth if depth is None else depth
    if width is not None:
        return (100 if k is None else k), width, rows, 0
    if compression is not None:
        if dimension is None:
            raise ParameterError("compression needs a dimension, the number of possible features")
        memory = max(int(dimension * FLOAT_BYTES[precision] / compression), 1)
    budget = parse_bytes(DEFAULT_MEMORY if memory is None else memory)
    sizes = split_memory(
        budget,
        k,
        depth=rows,
        classes=columns,
        per_class=per_class,
        cell_bytes=CELL_BYTES[precision],
        weight_bytes=_weight_bytes(precision, recipe.update, loss, columns > 1 and not per_class),
        counter_bytes=_counter_bytes(recipe.update),
    )
    if k is not None:
        _warn_of_large_k(sizes, budget)
    return sizes.k, sizes.width, sizes.depth, 0


def _check_one_size(**ways: Any) -> None:
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ParameterError(
            "give one size: memory, width (with depth), or compression (with dimension), got "
            + " and ".join(given)
        )


def _warn_of_large_k(sizes: Sizes, budget: int) -> None:
    if 2 * sizes.selected_bytes > budget:
        warnings.warn(
            f"the {sizes.k} selected features take {sizes.selected_bytes} of {budget} bytes, more "
            f"than half: give more memory or a smaller k",
            UserWarning,
            stacklevel=5,
        )


def _check_per_class(per_class: bool, columns: int) -> None:
    if per_class and columns > MOST_PER_CLASS:
        raise LimitError(
            f"per_class takes at most {MOST_PER_CLASS} classes, got {columns}",
            code="LABEL-PER-CLASS",
            hint="Select for all classes together "
            "({per_class=False}), or keep room for fewer ({max_classes}).",
        )


def resolve(
    learner: str,
    *,
    k: int | None,
    memory: str | int | None,
    width: int | None,
    depth: int | None,
    dimension: int | None,
    compression: float | None,
    loss: str,
    n_classes: int,
    step_size: str | float | Step,
    history: int,
    query: str | None,
    reads: str | None,
    per_class: bool,
    l2: float,
    intercept: bool | None,
    batch_size: int | None,
    seed: int,
    precision: str | None,
    evidence: bool = True,
    adjust: Sequence[str] = (),
) -> Config:
    """Check what a user gave and decide the rest from the table of recipes."""
    check_choice("learner", learner, LEARNERS)
    check_choice("loss", loss, LOSSES)
    numbers = {"width": width, "depth": depth, "dimension": dimension, "compression": compression}
    for name, value in {**numbers, "history": history}.items():
        check_number(name, value)
    recipe = RECIPES[learner]
    precision = precision or recipe.precision
    check_choice("precision", precision, tuple(CELL_BYTES))
    step = as_step(step_size)
    columns = n_classes if loss == "softmax" else 1
    _check_per_class(per_class, columns)
    k, width, depth, dimension = _shape(
        learner,
        recipe,
        _choose_k(learner, k),
        columns,
        memory=memory,
        width=width,
        depth=depth,
        dimension=dimension,
        compression=compression,
        per_class=per_class,
        precision=precision,
        loss=loss,
    )
    config = Config(
        learner=learner,
        storage=recipe.storage,
        update=recipe.update,
        loss=loss,
        n_classes=n_classes,
        k=k,
        width=width,
        depth=depth,
        dimension=dimension,
        query=query or recipe.query,
        precision=precision,
        reads=reads or recipe.reads,
        per_class=per_class and columns > 1,
        history=history if recipe.update == "lbfgs" else 0,
        step=step,
        l2=l2,
        intercept=recipe.intercept if intercept is None else intercept,
        batch_size=recipe.batch_size if batch_size is None else batch_size,
        seed=seed,
        evidence=evidence and k > 0,
        adjust=tuple(adjust),
    )
    config.check()
    return config
