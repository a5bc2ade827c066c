"""The selected features as a model of their own: JSON, a table, or ONNX.

What is exported is the linear model that ``predict --selected-only`` uses: an intercept and a
weight per class for each selected feature.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bearsketch.escape import cell
from bearsketch.exceptions import ParameterError
from bearsketch.learners.describe import class_labels
from bearsketch.learners.selected import joined

if TYPE_CHECKING:
    from bearsketch.learners import Learner
    from bearsketch.learners.learner import Calibration

FORMAT, VERSION = "bearsketch-linear", 1


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Named weights.

    Attributes
    ----------
    names : list of str
        Best first.
    keys : list of int
    aliases : dict of str to str
        Second names that share the key of a first one, and so its weight.
    weights : ndarray of float64, shape (n, n_weights)
        One column for two classes (of the second) and for numbers, else one per class.
    absent : ndarray of float64, shape (n,)
        Value that a feature counts with where an example does not have it: 0, or the mean of a
        column that has no 0 among its values.
    intercept : ndarray of float64, shape (n_weights,)
    classes : list or None
        Labels by class number; None: it predicts numbers.
    loss : str
    reading : dict
        Format and options the features were made with.
    calibration : Calibration or None
        What margins become before they are turned into probabilities.
    measured : dict
        Accuracy (R2 of numbers) on held-out examples: of this model under ``selected_only``, of the
        one it comes from under ``all``. Empty where nothing was held out.
    """

    names: list[str]
    keys: list[int]
    aliases: dict[str, str]
    weights: npt.NDArray[np.float64]
    absent: npt.NDArray[np.float64]
    intercept: npt.NDArray[np.float64]
    classes: list[Any] | None
    loss: str
    reading: dict[str, Any]
    calibration: Calibration | None
    measured: dict[str, float]


def linear_model(model: Any) -> LinearModel:
    """Take the selected features out of a learner, or of a fitted estimator.

    Examples
    --------
    >>> from bearsketch import Batch, make_learner
    >>> learner = make_learner(k=2, memory="1KiB")
    >>> _ = learner.learn(Batch.from_rows([["buy"], ["meet"]], [1, -1]))
    >>> sorted(linear_model(learner).names)
    ['buy', 'meet']
    """
    learner: Learner = model.to_learner() if hasattr(model, "to_learner") else model
    config, chosen, scaling = learner.config, learner.selected(), learner.scaling
    if config.per_class:
        chosen = joined(chosen, class_labels(learner) or ())
    first, aliases = _split_names(chosen.names, learner.second_names(), chosen.keys.tolist())
    return LinearModel(
        first,
        chosen.keys.tolist(),
        aliases,
        chosen.all_weights,
        np.zeros(len(chosen)) if scaling is None else scaling.absent_of(chosen.keys),
        learner.selected_intercept[: config.columns],
        class_labels(learner),
        config.loss,
        {"naming": learner.naming, **{n: learner.run.get(n) for n in ("format", "options")}},
        learner.calibration["selected_only"],
        _measured(learner),
    )


def _measured(learner: Learner) -> dict[str, float]:
    held = learner.run.get("holdout") or {}
    figure = "r2" if learner.config.loss == "squared" else "accuracy"
    alone, whole = (held.get("selected_only") or {}).get(figure), held.get(figure)
    if alone is None or whole is None:
        return {}
    return {"selected_only": float(alone), "all": float(whole)}


def _split_names(
    names: list[str], seconds: dict[int, str], keys: list[int]
) -> tuple[list[str], dict[str, str]]:
    """First names, and second names of the same keys."""
    first, aliases = [], {}
    for key, name in zip(keys, names, strict=True):
        second = seconds.get(key)
        plain = name if second is None else name.removesuffix(f" | {second}")
        first.append(plain)
        if second is not None:
            aliases[second] = plain
    return first, aliases


def to_json(model: LinearModel) -> str:
    """JSON with a line for each feature; every weight to its last digit."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "loss": model.loss,
        "classes": model.classes,
        "intercept": model.intercept.tolist(),
        "calibration": None if model.calibration is None else model.calibration._asdict(),
        "measured": model.measured,
        "reading": model.reading,
        "aliases": model.aliases,
    }
    lines = []
    rows = zip(model.names, model.keys, model.weights, model.absent.tolist(), strict=True)
    for name, key, weights, absent in rows:
        known = {"name": name, "key": str(key), "weights": weights.tolist()}
        lines.append(json.dumps(known | ({"absent": absent} if absent else {}), allow_nan=False))
    top = json.dumps(head, indent=1, allow_nan=False).removesuffix("\n}")
    return top + ',\n "features": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


def to_tsv(model: LinearModel) -> str:
    """Tab-separated table: name, key and a weight per class; the intercept comes first.

    Below it stand the slope and the offset that calibrate margins, where there are any. Where a
    feature that is not there counts with another value than 0, a last column has it.
    """
    labels = model.classes if len(model.intercept) > 1 else None
    heads = [f"weight({cell(str(label))})" for label in labels] if labels else ["weight"]
    last = model.absent.any()
    lines = ["\t".join(["name", "key", *heads, *(["absent"] if last else [])])]
    constant = [*model.intercept.tolist(), *([0.0] if last else [])]
    lines.append("\t".join(["(intercept)", "", *map(repr, constant)]))
    if model.calibration is not None:
        for name in ("slope", "offset"):
            same = [getattr(model.calibration, name)] * len(model.intercept)
            lines.append("\t".join([f"(calibration {name})", "", *map(repr, same)]))
            lines[-1] += "\t0.0" if last else ""
    numbers = np.column_stack([model.weights, model.absent]) if last else model.weights
    for name, key, row in zip(model.names, model.keys, numbers.tolist(), strict=True):
        lines.append("\t".join([cell(name), str(key), *map(repr, row)]))
    return "\n".join(lines) + "\n"


def to_onnx(model: LinearModel) -> bytes:
    """ONNX model of values, shape (n_examples, n_features), in the order of its names.

    A value that is NaN is not there, and counts as the model says; most do as 0.
    Outputs are ``margins`` and, of classes, calibrated ``probabilities`` and ``label``; numbers
    come as ``prediction``. The names are in the metadata, as JSON under ``feature_names``.
    """
    try:
        import onnx
        from onnx import helper
    except ModuleNotFoundError:
        raise ParameterError(
            "export to onnx needs the package onnx, which is not installed",
            hint="pip install 'bearsketch[onnx]'",
        ) from None
    if not model.names:
        raise ParameterError("export to onnx needs at least one selected feature, got none")
    made = helper.make_model(
        _onnx_graph(model),
        opset_imports=[helper.make_opsetid("", 17)],
        producer_name="bearsketch",
        ir_version=8,
    )
    names = {"feature_names": model.names, "aliases": model.aliases, "reading": model.reading}
    helper.set_model_props(made, {name: json.dumps(value) for name, value in names.items()})
    onnx.checker.check_model(made, full_check=True)
    data: bytes = made.SerializeToString(deterministic=True)
    return data


def _onnx_graph(model: LinearModel) -> Any:
    """Graph from values to margins, and on to what the loss predicts."""
    from onnx import TensorProto, helper

    double, n, columns = TensorProto.DOUBLE, len(model.names), len(model.intercept)
    nodes = [
        helper.make_node("Cast", ["values"], ["given"], to=double),
        helper.make_node("IsNaN", ["given"], ["lacks"]),
        helper.make_node("Where", ["lacks", "absent", "given"], ["exact"]),
        helper.make_node("MatMul", ["exact", "weights"], ["products"]),
        helper.make_node("Add", ["products", "intercept"], ["margins"]),
    ]
    constants = [
        helper.make_tensor("weights", double, [n, columns], model.weights.ravel()),
        helper.make_tensor("intercept", double, [columns], model.intercept),
        helper.make_tensor("absent", double, [n], model.absent),
    ]
    outputs = [helper.make_tensor_value_info("margins", double, ["n", columns])]
    more_nodes, more_constants, more_outputs = _onnx_tail(model)
    return helper.make_graph(
        nodes + more_nodes,
        "bearsketch",
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["n", n])],
        outputs + more_outputs,
        constants + more_constants,
    )


def _onnx_tail(model: LinearModel) -> tuple[list[Any], list[Any], list[Any]]:
    """Nodes, constants and outputs that turn margins into what the loss predicts."""
    from onnx import TensorProto, helper

    double = TensorProto.DOUBLE
    if model.classes is None:
        node = helper.make_node("Squeeze", ["margins", "axis"], ["prediction"])
        axis = helper.make_tensor("axis", TensorProto.INT64, [1], [1])
        return [node], [axis], [helper.make_tensor_value_info("prediction", double, ["n"])]
    slope, offset = (1.0, 0.0) if model.calibration is None else model.calibration[1:]
    constants = [
        helper.make_tensor("slope", double, [], [slope]),
        helper.make_tensor("offset", double, [], [offset]),
    ]
    nodes = [
        helper.make_node("Mul", ["margins", "slope"], ["sloped"]),
        helper.make_node("Add", ["sloped", "offset"], ["calibrated"]),
    ]
    if len(model.intercept) == 1:
        nodes += [
            helper.make_node("Sigmoid", ["calibrated"], ["second"]),
            helper.make_node("Neg", ["calibrated"], ["negated"]),
            helper.make_node("Sigmoid", ["negated"], ["first"]),
            helper.make_node("Concat", ["first", "second"], ["probabilities"], axis=1),
        ]
    else:
        nodes.append(helper.make_node("Softmax", ["calibrated"], ["probabilities"], axis=1))
    nodes += [
        helper.make_node("ArgMax", ["probabilities"], ["number"], axis=1, keepdims=0),
        helper.make_node("Gather", ["classes", "number"], ["label"]),
    ]
    kind, labels = _onnx_labels(model.classes)
    constants.append(helper.make_tensor("classes", kind, [len(labels)], labels))
    outputs = [
        helper.make_tensor_value_info("probabilities", double, ["n", len(labels)]),
        helper.make_tensor_value_info("label", kind, ["n"]),
    ]
    return nodes, constants, outputs


def _onnx_labels(classes: list[Any]) -> tuple[int, list[Any]]:
    from onnx import TensorProto

    if isinstance(classes[0], str):
        return TensorProto.STRING, [label.encode() for label in classes]
    whole = all(float(label).is_integer() for label in classes)
    return (TensorProto.INT64 if whole else TensorProto.DOUBLE), list(classes)
