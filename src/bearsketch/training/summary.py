"""Results of a training run, under documented names."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from bearsketch.learners.labels import Label
from bearsketch.training.warnings import RunWarning
from bearsketch.wording import Render, for_python


@dataclass(frozen=True, slots=True)
class Summary:
    """Results of a run; the names are the keys of the JSON that ``train --json`` prints.

    Attributes
    ----------
    learner, loss : str
    k, passes : int
    examples, skipped, unlabelled : int
        Of one pass: examples with a label, broken ones left out, and ones without a label.
    held_out : int
        Those of the examples that were kept to test the model, and not learned.
    split_batches : int
        Batches of one pass that ended early, as they would have passed a limit on what they hold.
    classes : list or None
        Labels in the order of their class numbers; None for regression.
    n_classes : int
        1 for regression.
    progressive_loss, progressive_accuracy, progressive_auc : float or None
        Of the first pass, each example predicted before it was learned. Accuracy is None for
        regression, AUC for all but two classes. The loss of regression is half the squared error.
    progressive_rmse, progressive_r2 : float or None
        The same for regression: root of the mean squared error, and the share of the variance it
        explains, which several workers do not know.
    holdout : dict or None
        Accuracy, AUC and log-loss (RMSE and R2) of the final model on the held-out examples, and
        the same with the selected features only under ``selected_only``.
    model_bytes, peak_rss_bytes : int
        Cells and selected entries; the most memory the process ever had.
    seconds, examples_per_second : float
    guards : dict
        How often each numerical guard acted.
    warnings : list of RunWarning
        What is odd about the data; in JSON each is a ``code`` and a ``message``.
    """

    learner: str
    loss: str
    k: int
    passes: int
    examples: int
    skipped: int
    unlabelled: int
    held_out: int
    split_batches: int
    classes: list[Label] | None
    n_classes: int
    progressive_loss: float | None
    progressive_accuracy: float | None
    progressive_auc: float | None
    progressive_rmse: float | None
    progressive_r2: float | None
    holdout: dict[str, Any] | None
    model_bytes: int
    peak_rss_bytes: int
    seconds: float
    examples_per_second: float
    guards: dict[str, int] = field(default_factory=dict)
    warnings: list[RunWarning] = field(default_factory=list)

    def to_json(self, render: Render = for_python) -> dict[str, Any]:
        """Plain values under the documented keys; warnings as ``render`` spells their options."""
        plain = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        return {**plain, "warnings": [warning.to_json(render) for warning in self.warnings]}
