"""``bearsketch evaluate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bearsketch.cli.display import Display, make_display, watch_reading
from bearsketch.cli.model import load_model, open_like
from bearsketch.cli.notes import StreamNotes, result_number
from bearsketch.cli.options import Data, Json, Model, Quiet, takes_reading
from bearsketch.escape import visible

if TYPE_CHECKING:
    from bearsketch.learners import Learner
    from bearsketch.metrics import Scores
    from bearsketch.reading import Stream

_SHOWN_CLASSES = 25
_ROWS = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "log_loss": "log-loss",
    "brier": "Brier",
    "calibration_error": "ECE",
    "calibration_error_by_chance": "  by chance",
    "rmse": "RMSE",
    "r2": "R2",
}


@takes_reading
def evaluate(
    model: Model,
    data: Data = None,
    *,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: dict[str, Any],
) -> None:
    """Compare predictions with labels: accuracy, probabilities, confusion; RMSE and R2 of numbers.

    Every figure is given twice: with all features, and with the selected features alone. Data is
    read as the model's own data was, unless options say otherwise. Examples count by their weight.

    ECE is the calibration error: how far predicted probabilities are from what happened, on average
    over 15 bins of equal weight. Below it stands what it would be by chance, were the probabilities
    true. "answered" shows the accuracy that is left when only the surest predictions are given, and
    the --min-proba of predict that does so.

    **Examples**

    `bearsketch evaluate spam.bear test.vw.gz`

    `bearsketch evaluate spam.bear test.vw.gz --json | jq .selected_only.accuracy`
    """
    from bearsketch.learners.describe import class_labels

    learner = load_model(model)
    with (
        open_like(learner, data, reading, labelled=True) as stream,
        make_display(quiet) as display,
    ):
        scores = score_stream(learner, stream, display)
        counts = stream.counts
    results = {
        "examples": scores["all"].examples,
        "weight": scores["all"].weight,
        "skipped": counts.skipped,
        "unlabelled": counts.unlabelled,
        "classes": class_labels(learner),
        **scores["all"].to_json(),
        "selected_only": scores["selected"].to_json() if "selected" in scores else None,
    }
    print(json.dumps(results, allow_nan=False) if as_json else _table(results))


def score_stream(learner: Learner, stream: Stream, display: Display) -> dict[str, Scores]:
    """Scores of a model on labelled data: with all features, and with the selected alone."""
    from bearsketch.learners.labels import Labels
    from bearsketch.metrics import make_scores
    from bearsketch.training.task import expected_labels

    config = learner.config
    ways = {"all": False, **({"selected": True} if config.k else {})}
    scores = {
        way: make_scores(config.loss, config.n_classes, confusion=True, probabilities=True)
        for way in ways
    }
    watch, notes = watch_reading(display, stream), StreamNotes(display, stream, learner)
    examples = 0
    if config.loss != "squared":
        others = "Train a model that knows the class"
        stream.expect(expected_labels(learner.labels.classes, "of the model", others))
    # The negative class of this data may be called -1 where the model's is called 0.
    labels = Labels(config.loss, learner.labels.classes)
    known = not config.k  # whether a selected feature has been met
    for batch in stream:
        assert batch.labels is not None
        numbers = labels.encode(batch.labels)
        for way, only in ways.items():
            margins = learner.predict_margin(batch, selected_only=only)
            calibrated = learner.calibrated(margins, selected_only=only)
            scores[way].add(numbers, calibrated, batch.weights)
            known = known or (only and bool((margins != learner.selected_intercept).any()))
        examples += len(batch)
        notes.show()
        watch(examples)
    notes.show()
    if examples and not scores["all"].weight:
        from bearsketch.training.checks import weightless

        raise weightless(examples, "tested")
    if not known and examples:
        from bearsketch.training.warnings import RunWarning

        display.warn(RunWarning("DATA-UNKNOWN", {}))
    return scores


def _table(results: dict[str, Any]) -> str:
    """Results side by side, and the confusion matrix below them."""
    selected = results["selected_only"] or {}
    told = f"{results['examples']:,} examples"
    if results["weight"] != results["examples"]:
        told += f" of total weight {results['weight']:,.10g}; all figures count them by weight"
    left_out = {"skipped": results["skipped"], "without a label": results["unlabelled"]}
    told += "".join(f", {n:,} {what}" for what, n in left_out.items() if n)
    lines = [told, "", f"{'':12}{'all':>12}{'selected':>12}"]
    for key, name in _ROWS.items():
        if results.get(key) is not None:
            shown = [_number(key, found.get(key)) for found in (results, selected)]
            lines.append(f"{name:12}{shown[0]:>12}{shown[1]:>12}")
    if results.get("answered"):
        lines += ["", *_answered(results["answered"])]
    if "confusion" in results:
        lines += ["", *_confusion(results["classes"], results["confusion"])]
    return "\n".join(lines)


_SHARES = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1)


def _answered(rows: list[dict[str, float]]) -> list[str]:
    """Accuracy by the share that is answered, at a few shares."""
    lines = [f"{'answered':12}{'accuracy':>12}{'min-proba':>12}"]
    shown: list[dict[str, float]] = []
    for share in _SHARES:
        least = [row for row in rows if row["share"] >= share - 1e-9][-1:]
        shown += [row for row in least if row not in shown]
    for row in shown:
        cells = f"{row['accuracy']:>12.4f}{row['min_proba']:>12.4g}"
        lines.append(f"{row['share']:<12.1%}{cells}")
    return lines


def _number(key: str, value: float | None) -> str:
    return "-" if value is None else result_number(key, value)


def _confusion(labels: list[Any], table: list[list[float]]) -> list[str]:
    names = [visible(str(label)) for label in labels]
    if len(names) > _SHOWN_CLASSES:
        return [f"(confusion matrix of {len(names)} classes: use --json)"]
    left = max(len(name) for name in names)
    cells = [[f"{value:g}" for value in row] for row in table]
    if max(len(names) * 9 + left, 0) > 100:  # too wide for names above the columns
        heads = [str(number) for number in range(1, len(names) + 1)]
        names = [f"{number:>2} {name}" for number, name in enumerate(names, start=1)]
        left += 3
    else:
        heads = names
    wide = max(len(text) for text in [*heads, *(value for row in cells for value in row)]) + 2
    lines = ["true class in rows, predicted in columns, all features:"]
    lines.append(" " * left + "".join(f"{head:>{wide}}" for head in heads))
    for name, row in zip(names, cells, strict=True):
        lines.append(f"{name:{left}}" + "".join(f"{value:>{wide}}" for value in row))
    return lines
