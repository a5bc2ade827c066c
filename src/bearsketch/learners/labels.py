"""Labels as users have them, and the numbers a loss takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.exceptions import DataError, ParameterError
from bearsketch.learners.parts import LIMITS

Label = float | int | str
LARGEST_NUMBER = 2**53  # from here on, float64 has one number for two
_BOTH = ("first", "second")
_FEW = 10  # labels that a message shows
# What to do about labels -1, 0 and 1 in one data set.
BOTH_NEGATIVES = (
    "-1 and 0 each stand for the negative class of two, so that data may have one of them: write "
    "it alike, or train with three classes named ({classes=-1,0,1}) or with labels as numbers "
    "({loss=squared})"
)


class Labels:
    """Map between the labels of the data and the class numbers of a loss.

    Parameters
    ----------
    loss : str
        ``squared`` takes finite numbers; ``logistic`` two classes; ``softmax`` several.
    classes : int or sequence, optional
        The labels in the order of their class numbers, or how many (then 0, 1, ...). For
        ``logistic`` it may be left out: -1 or 0 is the negative class, 1 the positive one.
    negative : int, optional
        Without ``classes``, the label of the negative class, -1 or 0. Default: the first of them
        that :meth:`met` learns of, and -1 until then.

    Examples
    --------
    >>> Labels("logistic", ["ham", "spam"]).encode(np.array(["spam", "ham"]))
    array([1., 0.])
    """

    def __init__(
        self,
        loss: str,
        classes: int | Sequence[Label] | None = None,
        negative: int | None = None,
    ) -> None:
        self.loss = loss
        if negative not in (None, -1, 0):
            raise ParameterError(f"negative must be -1 or 0, got {negative!r}")
        self.negative = None if negative is None else int(negative)
        self.classes = _as_classes(loss, classes)
        kinds = {isinstance(label, str) for label in self.classes or ()}
        if len(kinds) > 1:
            raise ParameterError("classes must be all numbers or all strings")
        if self.classes is not None:
            self._values = np.array(self.classes)
            self._words = self._values.dtype.kind == "U"
            order = np.argsort(self._values, kind="stable")
            self._sorted = self._values[order] if self._words else self._values[order].astype(float)
            self._places = order.astype(np.float64)
            if len(set(self.classes)) != len(self.classes):
                raise ParameterError(f"classes must be distinct, got {list(self.classes)}")

    def __len__(self) -> int:
        """Classes of the loss: 1 for regression."""
        if self.loss == "squared":
            return 1
        return 2 if self.classes is None else len(self.classes)

    def encode(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Class numbers (or targets) of an array of labels; refuses what is not a label."""
        given = np.asarray(labels)
        if self.loss == "squared":
            return self._numbers(given)
        if self.classes is None:
            numbers = self._numbers(given)
            self._refuse(given, ~np.isin(numbers, (-1.0, 0.0, 1.0)), "-1, 0 or 1")
            self._refuse_both(numbers)
            return np.asarray(numbers > 0.0, dtype=np.float64)
        given = given.astype(str) if self._words else self._numbers(given)
        # What is greater than all but one may be the last, or none.
        place = self._sorted[:-1].searchsorted(given)
        self._refuse(labels, self._sorted[place] != given, *self.classes)
        return self._places[place]

    def met(self, labels: npt.NDArray[Any]) -> None:
        """Keep how the negative class is called, where nobody has said, of labels learned."""
        if self.classes is None and self.loss != "squared" and self.negative is None:
            numbers = self._numbers(np.asarray(labels))
            below = numbers[numbers <= 0.0]
            self.negative = int(below[0]) if len(below) else None

    def decode(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Labels of class numbers."""
        if self.classes is None:
            return np.where(numbers > 0, 1, -1 if self.negative is None else self.negative)
        return self._values[numbers]

    def label(self, number: int) -> Label:
        """One class's label as a plain Python value."""
        found: Label = self.decode(np.array([number]))[0].item()
        return found

    def _numbers(self, given: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        try:
            numbers = given.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise DataError(
                f"labels must be numbers for loss {self.loss!r}, got {given.dtype}",
                code="LABEL-KIND",
                hint="Give classes=[...] when labels are words.",
            ) from None
        finite = np.isfinite(numbers)
        if not finite.all():
            self._refuse(given, ~finite, "finite numbers")
        return numbers

    def _refuse_both(self, numbers: npt.NDArray[np.float64]) -> None:
        """Refuse -1 and 0 together: a third class, most likely, which would be lost in one."""
        below = numbers[numbers <= 0.0]
        if len(below):
            negative = int(below[0]) if self.negative is None else self.negative
            if (below != negative).any():
                raise both_negative(negative, int(np.argmax(numbers == -1 - negative)))

    @staticmethod
    def _refuse(given: npt.NDArray[Any], wrong: npt.NDArray[np.bool_], *allowed: Label) -> None:
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"labels must be {few(allowed)}, got {given[row]!s} at example {row}",
                code="LABEL-UNKNOWN",
                hint="Declare every label with classes=[...].",
            )


def both_negative(negative: int, row: int | None = None) -> DataError:
    """Say that labels have 0 beside -1 for the negative class, or -1 beside 0."""
    at = "" if row is None else f" at example {row}"
    return DataError(
        f"labels must be {negative} and 1, got {-1 - negative}{at}",
        code="LABEL-UNKNOWN",
        hint=f"{BOTH_NEGATIVES}.",
    )


def _as_classes(loss: str, classes: int | Sequence[Label] | None) -> tuple[Label, ...] | None:
    if loss == "squared":
        if classes is not None:
            raise ParameterError("classes must not be given for loss 'squared'")
        return None
    if isinstance(classes, int):
        # Before the numbers are spelt out, of which there may be too many to hold.
        if classes > LIMITS["n_classes"].high:
            raise ParameterError(
                f"classes must be at most {LIMITS['n_classes'].high}, got {classes}"
            )
        classes = range(classes)
    if classes is None:
        if loss == "softmax":
            raise ParameterError("classes must be given for loss 'softmax': a number or the labels")
        return None
    plain = tuple(c.item() if isinstance(c, np.generic) else c for c in classes)
    if not all(isinstance(c, int | float | str) for c in plain):
        raise ParameterError(f"classes must be numbers or strings, got {list(plain)}")
    if loss == "logistic" and len(plain) != 2:
        raise ParameterError(f"loss 'logistic' takes 2 classes, got {len(plain)}")
    if len(plain) < 2:
        raise ParameterError(f"classes must be at least 2, got {len(plain)}")
    check_told_apart(plain)
    return plain


def check_told_apart(classes: Iterable[Any]) -> None:
    """Refuse classes that are numbers too large for float64, in which labels are read."""
    large = [c for c in classes if not isinstance(c, str) and abs(c) >= LARGEST_NUMBER]
    if large:
        raise ParameterError(
            f"classes that are numbers must be below 2**53, got {large[0]:.0f}: larger ones cannot "
            "be distinguished",
            hint="Make words of them: {text labels}.",
        )


def compare_classes(mine: Sequence[Label], theirs: Sequence[Label]) -> tuple[str, str]:
    r"""Say how two lists of classes differ, and what makes them agree.

    Examples
    --------
    >>> print(*compare_classes(["a", "b"], ["b", "a"]), sep="\n")
    the classes come in another order, a, b and b, a
    Train each with all classes named in one order: --classes a,b
    >>> compare_classes(["a", "b"], ["b", "c"])[0]
    'the classes differ, a only in the first and c only in the second'
    >>> compare_classes([-1, 1], [0, 1])[0]
    'the negative class is -1 in one of them and 0 in the other'
    """
    every = list(dict.fromkeys([*mine, *theirs]))
    if {frozenset(mine), frozenset(theirs)} == {frozenset((-1, 1)), frozenset((0, 1))}:
        found = "the negative class is -1 in one of them and 0 in the other"
        return found, "Write it alike in the data of both, and train again."
    if len(every) == len(mine) == len(theirs):
        found = f"the classes come in another order, {few(mine)} and {few(theirs)}"
    else:
        known = set(theirs)
        lists = ([label for label in mine if label not in known], every[len(mine) :])
        ends = [f"{few(own)} only in the {n}" for own, n in zip(lists, _BOTH, strict=True) if own]
        found = f"the classes differ, {' and '.join(ends)}"
    return found, f"Train each with all classes named in one order: --classes {few(every, ',')}"


def few(labels: Sequence[Label], between: str = ", ") -> str:
    """Labels for a message, the first ten."""
    more = ["..."] if len(labels) > _FEW else []
    return between.join([*map(str, labels[:_FEW]), *more])
