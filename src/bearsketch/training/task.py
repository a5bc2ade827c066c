"""What the labels of a stream ask for: a loss, and the classes it tells apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from bearsketch.exceptions import DataError, LimitError, ParameterError
from bearsketch.learners.labels import BOTH_NEGATIVES, Label, check_told_apart
from bearsketch.reading.expected import Expected
from bearsketch.training.first_rows import FirstLabels, plain_label
from bearsketch.training.warnings import RunWarning

# Labels that are words may be so many classes unless max_classes says otherwise.
MOST_CLASSES = 1000
# More whole numbers than these are taken for a quantity, not for names of classes.
MOST_NUMBER_CLASSES = 100
LOSSES = ("auto", "logistic", "softmax", "squared")
# What to do about a class that the first examples do not have.
NAME_EVERY_CLASS = "Shuffle the data{shuffle}, name every class ({classes=a,b,c})"

_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
# Where so many of the labels are numbers, the others are taken for mistakes.
_MOSTLY = 0.75
# A class of so few examples is odd where there are enough and another class has many.
_RARE, _FREQUENT, _ENOUGH = 2, 100, 200
# Rare labels beyond this share of the examples are what the labels are like.
_RARE_SHARE = 0.01


class Task(NamedTuple):
    """A loss and its classes.

    ``classes`` are in the order of their numbers; None for regression, and where -1 or 0 stands
    for one class and 1 for the other. ``reserved`` is how many weights per feature are kept for
    classes in all when some of them may turn up later, else 0. ``reason`` is for people, and
    ``warnings`` are about labels that may be mistakes.
    """

    loss: str
    classes: tuple[Label, ...] | None
    reserved: int
    reason: str
    warnings: tuple[RunWarning, ...] = ()


def decide(
    seen: FirstLabels,
    *,
    loss: str = "auto",
    classes: Sequence[Label] | None = None,
    max_classes: int | None = None,
) -> Task:
    """Choose a loss and its classes by the labels of the first examples.

    Two labels give ``logistic``, in sorted order; more words, or more whole numbers up to 100,
    give ``softmax``; other numbers give ``squared``. Only 1, 0 or -1 so far is taken for one side
    of two.

    Parameters
    ----------
    seen : FirstLabels
        Labels of the first examples.
    loss : str
        ``auto``, or the loss that is wanted.
    classes : sequence, optional
        All labels, when they are known beforehand.
    max_classes : int, optional
        Keep room for so many classes in all: those not seen yet may turn up later. Each costs as
        much memory as one that is seen.

    Examples
    --------
    >>> import numpy as np
    >>> seen = FirstLabels()
    >>> seen.add(np.array(["spam", "ham", "spam"]))
    >>> decide(seen)[:2]
    ('logistic', ('ham', 'spam'))
    """
    if loss not in LOSSES:
        raise ParameterError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    if max_classes is not None and not 2 <= max_classes <= 65536:
        raise ParameterError(f"max_classes must be 2 to 65536, got {max_classes}")
    if classes is not None:
        return _declared(seen, loss, classes)
    if loss == "squared" or (loss == "auto" and _is_quantity(seen, max_classes)):
        return _regression(seen, loss)
    return _classes(seen, loss, max_classes)._replace(warnings=tuple(unlikely_classes(seen)))


def _classes(seen: FirstLabels, loss: str, max_classes: int | None) -> Task:
    values = seen.values
    most = MOST_CLASSES if max_classes is None else max_classes
    if len(values) > most:
        raise LimitError(
            f"labels must be at most {most} classes, got {len(values)} different labels in the "
            f"first {seen.examples:,} examples",
            code="LABEL-CLASSES",
            hint=number_hint(seen, quantity=_is_quantity(seen, None))
            or "Check which column or field is the label, or raise {max_classes}.",
        )
    if max_classes is not None and (len(values), max_classes) != (2, 2) and loss != "logistic":
        spare = max_classes - len(values)
        return Task(
            "softmax",
            tuple(values),
            max_classes,
            f"{_counted(values)} so far, room for {spare} more",
        )
    if loss == "logistic" or (loss == "auto" and len(values) <= 2):
        return _two_classes(seen, values)
    if len(values) < 2:
        raise _one_label(seen, values)
    return Task("softmax", tuple(values), 0, _counted(values))


def _is_quantity(seen: FirstLabels, max_classes: int | None) -> bool:
    if seen.words:
        return False
    many = len(seen.values) > (max_classes or MOST_NUMBER_CLASSES)
    return len(seen.values) > 2 and (many or not seen.whole)


def _regression(seen: FirstLabels, loss: str) -> Task:
    if seen.words:
        raise DataError(
            f"labels must be numbers for loss 'squared', got words such as {some_word(seen)!r}",
            code="LABEL-KIND",
            hint=number_hint(seen, quantity=False)
            or "Take another label, or leave out {loss} to have it detected.",
        )
    if loss == "squared":
        return Task("squared", None, 0, "numbers, as asked")
    kind = "whole numbers" if seen.whole else "numbers"
    unlikely = tuple(unlikely_numbers(seen, MOST_NUMBER_CLASSES))
    return Task("squared", None, 0, f"{len(seen.values):,} different {kind}", unlikely)


def _two_classes(seen: FirstLabels, values: list[Label]) -> Task:
    if len(values) > 2:
        first = [warning.text(str) for warning in unlikely_classes(seen)[:1]]
        unlikely = "".join(f"{text[0].upper()}{text[1:]}." for text in first)
        raise DataError(
            f"labels must be two for loss 'logistic', got {_counted(values)}",
            code="LABEL-CLASSES",
            hint=number_hint(seen, quantity=_is_quantity(seen, None))
            or unlikely
            or "Use {loss=softmax}, or leave out {loss} to have it detected.",
        )
    if len(values) == 2:
        return Task("logistic", tuple(values), 0, _counted(values))
    sides: dict[Label, tuple[Label, ...] | None] = {1: None, 0: (0, 1), -1: (-1, 1)}
    if not values or values[0] not in sides:
        raise _one_label(seen, values)
    other = {1: "0 or -1", 0: "1", -1: "1"}[int(values[0])]
    return Task("logistic", sides[values[0]], 0, f"only {values[0]} so far, {other} may follow")


def _one_label(seen: FirstLabels, values: list[Label]) -> DataError:
    what = f"the label {values[0]!r}" if values else "no label"
    return DataError(
        f"at least two classes are needed; all of the first {seen.examples:,} examples have {what}",
        code="LABEL-ONE",
        hint="Shuffle the data{shuffle}, name all classes ({classes=a,b}), or use {loss=squared} "
        "for numbers.",
    )


def _declared(seen: FirstLabels, loss: str, classes: Sequence[Label]) -> Task:
    if loss == "squared":
        raise ParameterError("classes must not be given for loss 'squared'")
    wanted = tuple(classes)
    if not seen.words and seen.examples:
        wanted = tuple(_as_number(label) for label in classes)
        check_told_apart(wanted)
    if len(wanted) < 2 or len(set(wanted)) < len(wanted):
        raise ParameterError(f"classes must be at least two different labels, got {list(classes)}")
    if loss == "logistic" and len(wanted) > 2:
        raise ParameterError(f"loss 'logistic' takes 2 classes, got {len(wanted)}")
    chosen = loss if loss != "auto" else "logistic" if len(wanted) == 2 else "softmax"
    return Task(chosen, wanted, 0, f"{_counted(wanted)}, as named")


def _as_number(label: Label) -> Label:
    try:
        return plain_label(float(label))
    except ValueError:
        raise ParameterError(
            f"classes must be numbers, as the labels of the data are, got {label!r}"
        ) from None


def _counted(values: Sequence[Label], shown: int = 4) -> str:
    few = ", ".join(str(value) for value in values[:shown])
    return f"{len(values)} classes: {few}{', ...' if len(values) > shown else ''}"


def expected_labels(classes: Sequence[Label] | None, whose: str, others: str) -> Expected:
    """Labels that examples may have.

    Parameters
    ----------
    classes : sequence, optional
        Default: 1, and -1 or 0, whichever comes first.
    whose : str
        Whose the classes are, for the message: ``of the model``.
    others : str
        What may be done about other labels, but for leaving them out.
    """
    leave = ", or leave such examples out ({on_error=skip})."
    if classes is None:
        return Expected((-1, 0, 1), whose, others + leave, (-1, 0), f"{BOTH_NEGATIVES}{leave}")
    return Expected(tuple(classes), whose, others + leave)


def named_labels(loss: str, classes: Sequence[Label] | None) -> Expected | None:
    """Labels that examples may have before any was read: those named."""
    if classes is None or loss == "squared":
        return None
    return expected_labels(classes, "that were named", "Name every class ({classes=a,b,c})")


def found_labels(task: Task) -> Expected | None:
    """Labels that examples may have after the first of them: theirs, unless there is room."""
    if task.loss == "squared" or task.reserved:
        return None
    others = f"{NAME_EVERY_CLASS}, keep room for those to come ({{max_classes}})"
    if len(task.classes or ()) > 2 and not any(isinstance(c, str) for c in task.classes or ()):
        others += ", learn labels as numbers ({loss=squared})"
    return expected_labels(task.classes, "of the first examples", others)


def some_word(seen: FirstLabels) -> str:
    """One of the labels that are words, if possible one that looks like no number."""
    words = sorted(seen.counts)
    return str(next((word for word in words if not _NUMBER.fullmatch(word)), words[0]))


def number_hint(seen: FirstLabels, *, quantity: bool) -> str:
    """Say what to do about labels that look like numbers; empty where they do not.

    Parameters
    ----------
    seen : FirstLabels
    quantity : bool
        Whether labels that are numbers are so many, or such, that they are no names of classes.

    Examples
    --------
    >>> import numpy as np
    >>> seen = FirstLabels()
    >>> seen.add(np.array(["1,5", "2,25", "3"]))
    >>> print(number_hint(seen, quantity=False))
    These look like numbers with a decimal comma, such as '1,5': {decimal=,} reads them.
    """
    squared = "use {loss=squared} to predict them"
    if not seen.words:
        return f"These look like numbers: {squared}." if quantity else ""
    words = sorted(seen.counts)
    others = [word for word in words if not _NUMBER.fullmatch(word)]
    if len(others) > (1 - _MOSTLY) * len(words):
        return ""
    if others:
        return (
            f"Most look like numbers, and {others[0]!r} does not: write NA where a number is "
            f"missing, and {squared}."
        )
    comma = next((word for word in words if "," in word), None)
    if comma is None:
        return ""
    return (
        f"These look like numbers with a decimal comma, such as {comma!r}: {{decimal=,}} reads "
        "them."
    )


def unlikely_classes(seen: FirstLabels) -> list[RunWarning]:
    """Warn of labels that may be mistakes, where each is a class.

    Examples
    --------
    >>> import numpy as np
    >>> seen = FirstLabels()
    >>> seen.add(np.array(["no"] * 300 + ["No"]))
    >>> print(unlikely_classes(seen)[0])
    labels 'No' (1 example) and 'no' (300 examples) differ only in case or blanks around them, and \
are different classes; write them alike
    """
    alike = _alike(seen)
    found = [
        RunWarning("LABEL-RARE", {"labels": _counted_labels(seen, group), "alike": True})
        for group in alike
    ]
    known = {label for group in alike for label in group}
    rare = [label for label in _rare(seen) if label not in known]
    if rare:
        quantity = seen.whole and len(seen.counts) > 2
        found.append(_rare_warning(seen, rare, quantity=quantity))
    return found


def unlikely_numbers(seen: FirstLabels, most_classes: int) -> list[RunWarning]:
    """Warn of labels that alone keep the others from being classes."""
    rare = set(_rare(seen))
    rest = [plain_label(label) for label in seen.counts if label not in rare]
    few = sum(seen.counts[label] for label in rare) <= _RARE_SHARE * seen.examples
    classes = 2 <= len(rest) <= most_classes and all(isinstance(label, int) for label in rest)
    if not rare or not few or not classes:
        return []
    return [_rare_warning(seen, sorted(rare), rest=len(rest))]


def _alike(seen: FirstLabels) -> list[list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for label in sorted(seen.counts) if seen.words else ():
        groups[label.strip().casefold()].append(label)
    return [group for group in groups.values() if len(group) > 1]


def _rare(seen: FirstLabels) -> list[Any]:
    most = max(seen.counts.values(), default=0)
    # Of the usual two classes, one may be rare.
    usual = not seen.words and set(seen.counts) in ({0, 1}, {-1, 1})
    if usual or seen.examples < _ENOUGH or most < _FREQUENT:
        return []
    return [label for label in sorted(seen.counts) if seen.counts[label] <= _RARE]


def _rare_warning(seen: FirstLabels, rare: list[Any], **facts: Any) -> RunWarning:
    labels = _counted_labels(seen, rare)
    return RunWarning("LABEL-RARE", {"labels": labels, "examples": seen.examples, **facts})


def _counted_labels(seen: FirstLabels, labels: list[Any]) -> list[str]:
    """Each label with its examples and where the first one is."""
    shown = []
    for label in labels:
        n, place = seen.counts[label], seen.places.get(label)
        first = "" if place is None else f", first at {place[0]}:{place[1]}"
        name = repr(label) if seen.words else f"'{plain_label(label)}'"
        shown.append(f"{name} ({n:,} example{'' if n == 1 else 's'}{first})")
    return shown
