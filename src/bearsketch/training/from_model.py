"""Continuing from a model: what was decided when it was made stands."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from bearsketch.exceptions import IncompatibleError
from bearsketch.learners import Learner
from bearsketch.learners.config import resolve
from bearsketch.learners.describe import class_labels
from bearsketch.learners.labels import Label

SIZES = ("memory", "width", "depth", "dimension", "compression")
_ALWAYS = ("learner", "k", "per_class", "batch_size", "seed")
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys((*SIZES, "query", "reads", "precision", "intercept")),
    "step_size": "auto",
    "history": 5,
    "l2": 0.0,
}
# Fields of a configuration that an option decides, where they have other names.
_FIELDS = {**dict.fromkeys(SIZES, ("width", "depth", "dimension")), "step_size": ("step",)}
# What a model remembers of each run before the last, and of how many runs.
KEPT = ("sources", "n_sources", "format", "counts", "passes", "held_out")
MOST_RUNS = 100


def check_agrees(
    learner: Learner,
    given: dict[str, Any],
    *,
    loss: str = "auto",
    classes: Sequence[Label] | None = None,
    max_classes: int | None = None,
) -> None:
    """Refuse options that disagree with a model that training continues from.

    Parameters
    ----------
    learner : Learner
    given : dict
        Parts of :func:`bearsketch.make_learner` that were asked for; those left out agree.
    loss, classes, max_classes
        As of a new model.
    """
    config = learner.config
    if loss not in ("auto", config.loss):
        raise _differs("loss", config.loss, loss)
    if max_classes is not None:
        raise _differs("max_classes", "decided", max_classes)
    known = class_labels(learner)
    if classes is not None and list(map(str, known or ())) != list(map(str, classes)):
        raise _differs("classes", known, list(classes))
    if not given:
        return
    asked = {**_DEFAULTS, **{name: getattr(config, name) for name in _ALWAYS}, **given}
    if not set(given) & set(SIZES):
        shape = {"dimension": config.dimension} if config.dimension else {"width": config.width}
        asked |= shape if config.dimension else {**shape, "depth": config.depth}
    with warnings.catch_warnings(action="ignore"):  # they came when the model was made
        found = resolve(**asked, loss=config.loss, n_classes=config.n_classes)
    for name in given:
        for what in _FIELDS.get(name, (name,)):
            before, now = getattr(config, what), getattr(found, what)
            if before != now:
                raise _differs(name, f"{what} {before}", f"{what} {now}")


def _differs(name: str, before: Any, now: Any) -> IncompatibleError:
    return IncompatibleError(
        f"{name} must agree with the model to continue from: it has {before}, got {now}",
        code="INIT-OTHER",
        hint=f"Leave {{{name}}} out, or train a new model without {{init}}.",
    )


def earlier_runs(run: dict[str, Any]) -> list[dict[str, Any]]:
    """List the runs a model has behind it, each in short, the last one given whole.

    Examples
    --------
    >>> earlier_runs({"sources": ["a.vw"], "curve": [], "before": [{"sources": ["b.vw"]}]})
    [{'sources': ['b.vw']}, {'sources': ['a.vw']}]
    """
    if not run:
        return []
    short = {
        name: value
        for name, value in run.items()
        if name in KEPT or (name.startswith("progressive_") and value is not None)
    }
    return [*run.get("before", []), short][-MOST_RUNS:]
