"""What a model is, how large and how noisy, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bearsketch.learners.noise import noise_of

if TYPE_CHECKING:
    from bearsketch.learners.labels import Label
    from bearsketch.learners.learner import Learner


def describe(learner: Learner) -> dict[str, Any]:
    """Everything ``bearsketch info --json`` tells of a model, but its file.

    Examples
    --------
    >>> from bearsketch import make_learner
    >>> describe(make_learner(k=10, memory="4KiB"))["selected_bytes"]
    110
    """
    config = learner.config
    noise, fill = noise_of(learner), learner.fill()
    return {
        "config": config.to_json(),
        "classes": class_labels(learner),
        "naming": learner.naming,
        "scaled": 0 if learner.scaling is None else int(learner.scaling.changes().sum()),
        "selected": 0 if config.k == 0 else len(learner.selected()),
        "intercept": learner.intercept.tolist(),
        "calibration": {
            way: None if fit is None else fit._asdict() for way, fit in learner.calibration.items()
        },
        "model_bytes": config.sizes.model_bytes,
        "cell_bytes": config.sizes.cell_bytes,
        "selected_bytes": config.sizes.selected_bytes,
        "counters": learner.counters,
        "guards": learner.guards,
        "fill": {"cells": int(fill["cells"]), "used": int(fill["used"]), "rms": fill["rms"]},
        "noise": None if noise is None else noise.to_json(),
        "run": learner.run,
    }


def class_labels(learner: Learner) -> list[Label] | None:
    """Labels in the order of their class numbers; None for regression."""
    if learner.config.loss == "squared":
        return None
    return [learner.labels.label(number) for number in range(learner.config.n_classes)]
