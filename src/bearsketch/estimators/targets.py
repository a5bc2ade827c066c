"""Targets of examples: what is allowed, and the numbers a loss takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from bearsketch.batch import Batch
from bearsketch.estimators.faults import check_no_gap, check_no_words
from bearsketch.exceptions import DataError, LimitError, ParameterError
from bearsketch.learners.labels import check_told_apart
from bearsketch.learners.narrow import from_mean
from bearsketch.training.task import MOST_CLASSES

Array = npt.NDArray[Any]

SHOWN_CLASSES = 10
NUMBERS = (
    "Numbers to predict need a regressor: SketchRegressor or SketchSelector(task='regression')."
)
LARGEST_WHOLE = 2.0**53  # from here on floats are no whole numbers of their own
ROOM = 20  # classes that nobody declared


@dataclass(frozen=True, slots=True)
class ClassMap:
    """Classes of the labels, and the numbers a learner has for them.

    Attributes
    ----------
    classes : array, shape (n_seen,)
        Ascending.
    numbers : array of int, shape (n_seen,)
        Class number of each in the learner.
    n_classes : int
        Classes the learner has room for.
    loss : str
        ``logistic``, whose one weight speaks for class number 1, or ``softmax``.
    """

    classes: Array
    numbers: npt.NDArray[np.intp]
    n_classes: int
    loss: str

    @classmethod
    def fixed(cls, classes: Any) -> ClassMap:
        """All classes known from the start, numbered in ascending order."""
        known = np.unique(np.asarray(classes))
        _check_told_apart(known)
        if len(known) < 2:
            raise ParameterError(
                f"classes must be at least 2, got {len(known)} class: {known.tolist()}",
                hint="A classifier needs examples of two classes; "
                "declare them with partial_fit(classes=...) where they come later.",
            )
        loss = "logistic" if len(known) == 2 else "softmax"
        return cls(known, np.arange(len(known)), len(known), loss)

    @classmethod
    def open(cls, max_classes: int | None) -> ClassMap:
        """No class known yet: they are numbered in order of appearance."""
        return cls(np.empty(0), np.empty(0, dtype=np.intp), max_classes or ROOM, "softmax")

    def grown(self, labels: Array) -> ClassMap:
        """Add the classes of new labels, as far as there is room."""
        if len(self.classes) == self.n_classes:
            return self
        seen = np.unique(labels)
        _check_told_apart(seen)
        if len(self.classes):
            self._check_kind(seen)
            seen = np.setdiff1d(seen, self.classes)
            if self.classes.dtype.kind == "i" and seen.dtype.kind == "f" and not (seen % 1).any():
                seen = seen.astype(self.classes.dtype)  # 0.0 joins 1 as 0
        classes = np.concatenate((self.classes, seen)) if len(self.classes) else seen
        if len(classes) > self.n_classes:
            raise LimitError(
                f"classes must be at most {self.n_classes} (max_classes), got {len(classes)}",
                code="LABEL-CLASSES",
                hint="Give classes=[...] in the first call, or a larger max_classes.",
            )
        numbers = np.concatenate((self.numbers, len(self.numbers) + np.arange(len(seen))))
        order = np.argsort(classes)
        return replace(self, classes=classes[order], numbers=numbers[order])

    def settled(self) -> ClassMap:
        """With -1 for the other class, where 1 is all that came of two."""
        if self.loss == "softmax" or len(self.classes) == 2:
            return self
        return self.grown(np.array([-1]))

    def encode(self, labels: Array) -> npt.NDArray[np.float64]:
        """Class number of each label; refuses what is not a class."""
        self._check_kind(labels)
        place = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        wrong = self.classes[place] != labels
        if wrong.any():
            more = ", ..." if len(self.classes) > SHOWN_CLASSES else ""
            raise DataError(
                f"labels must be {', '.join(map(str, self.classes[:SHOWN_CLASSES]))}{more}, "
                f"got {labels[int(np.argmax(wrong))]!s}",
                code="LABEL-UNKNOWN",
                hint="Declare every class with classes=[...] in the first call, or keep room for "
                "those to come (max_classes).",
            )
        return self.numbers[place].astype(np.float64)

    def _check_kind(self, labels: Array) -> None:
        words = [array.dtype.kind in "OSTU" for array in (self.classes, labels)]
        if words[0] != words[1]:
            kind = "words" if words[0] else "numbers"
            raise DataError(
                f"labels must be {kind} like the classes, got {labels.dtype}", code="LABEL-KIND"
            )

    def scores(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Columns of weights or margins by class; one that speaks for the second of two."""
        if self.loss == "logistic":
            return weights if self.numbers[1] == 1 else -weights
        picked = weights[:, self.numbers]
        if len(self.classes) == 2:
            return picked[:, 1:] - picked[:, :1]
        return from_mean(picked) if len(self.classes) < weights.shape[1] else picked


def _check_told_apart(classes: Array) -> None:
    if classes.dtype.kind in "iuf":
        check_told_apart(classes.tolist())


def first_classes(labels: Array, max_classes: int | None = 2) -> ClassMap | None:
    """Two classes when labels look like it: -1 and 1, or 0 and 1; else None.

    With 1 alone the other class is left open. Where ``max_classes`` is None, so that no room is
    wanted, any two labels or more are the classes, as for ``bearsketch train``.

    Examples
    --------
    >>> first_classes(np.array([1.0, 0.0, 1.0])).classes
    array([0, 1])
    >>> first_classes(np.array([1, 1])).grown(np.array([0])).classes
    array([0, 1])
    """
    n = len(np.unique(labels))
    if max_classes is None and n >= 2:
        if n > MOST_CLASSES:
            raise LimitError(
                f"labels must be at most {MOST_CLASSES} classes, got {n} different labels in the "
                "first examples",
                code="LABEL-CLASSES",
                hint=f"Check which column or field is the label, or give max_classes. {NUMBERS}",
            )
        return ClassMap.fixed(labels)
    if labels.dtype.kind not in "biuf":
        return None
    seen = set(np.unique(labels).tolist())
    if seen == {1}:
        return replace(ClassMap.open(2), loss="logistic").grown(np.array([1]))
    for negative in (-1, 0):
        if seen <= {negative, 1}:
            return ClassMap.fixed([negative, 1])
    return None


def whole_labels(labels: Array) -> Array:
    """Labels as a reader of tables gives them, numbers as floats: whole ones become integers.

    Examples
    --------
    >>> whole_labels(np.array([1.0, 2.0])), whole_labels(np.array([0.5, 2.0]))
    (array([1, 2]), array([0.5, 2. ]))
    """
    if labels.dtype.kind != "f" or (labels % 1).any() or (abs(labels) >= LARGEST_WHOLE).any():
        return labels
    return labels.astype(np.int64)


def check_targets(name: str, y: Any, n_examples: int, classifies: bool) -> Array:
    """One-dimensional target of the right kind, or a ValueError."""
    if y is None:
        raise ParameterError(f"{name} requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if len(y) != n_examples:
        raise ParameterError(
            f"y must be one target per example, {n_examples}, got inconsistent lengths: {len(y)}"
        )
    check_no_gap(y)
    if not classifies:
        check_no_words(y)
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))
    if y.dtype.kind in "fc":
        check_array(y, ensure_2d=False, dtype=None, input_name="y")
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise ParameterError(str(error), hint=NUMBERS) from None
    return np.asarray(y)


def stream_targets(name: str, batch: Batch, classifies: bool) -> Array:
    """Targets of a batch of a stream, as :func:`check_targets`."""
    labels = check_targets(name, batch.labels, len(batch), classifies)
    return whole_labels(labels) if classifies else labels


def check_weights(sample_weight: Any, y: Array) -> npt.NDArray[np.float64] | None:
    """Check the importance of each example: finite, not negative, not all 0."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Number):
        sample_weight = np.full(len(y), sample_weight)
    weights: npt.NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ParameterError(f"sample_weight must be one-dimensional, got shape {weights.shape}")
    check_consistent_length(y, weights)
    if (weights < 0).any():
        raise ParameterError(
            f"sample_weight must not be negative: Negative values in data, got {weights.min():g}"
        )
    if len(weights) and not weights.any():
        raise ParameterError("sample_weight must not be zero for all examples, got all zero")
    return weights
