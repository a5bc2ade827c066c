"""What the labels of a stream ask for: a loss, and the classes it tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bearsketch.advice import either, how_to_shuffle
from bearsketch.exceptions import DataError, LimitError, ParameterError
from bearsketch.learners.labels import Label, check_told_apart, how_to_tell_negatives
from bearsketch.reading.expected import Expected
from bearsketch.training.odd import number_hint, odd_classes, odd_numbers, some_word
from bearsketch.training.seen import Seen, plain_label

# Labels that are words may be so many classes unless max_classes says otherwise.
MOST_CLASSES = 1000
# More whole numbers than these are taken for a quantity, not for names of classes.
MOST_NUMBER_CLASSES = 100
LOSSES = ("auto", "logistic", "softmax", "squared")


class Task(NamedTuple):
    """A loss and its classes.

    ``classes`` are in the order of their numbers; None for regression, and where -1 or 0 stands
    for one class and 1 for the other. ``reserved`` is how many weights per feature are kept for
    classes in all when some of them may turn up later, else 0. ``reason`` is for a reader, and so
    is what ``odd`` says of labels that may be mistakes.
    """

    loss: str
    classes: tuple[Label, ...] | None
    reserved: int
    reason: str
    odd: tuple[str, ...] = ()


def decide(
    seen: Seen,
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
    seen : Seen
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
    >>> seen = Seen()
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
    return _classes(seen, loss, max_classes)._replace(odd=tuple(odd_classes(seen)))


def _classes(seen: Seen, loss: str, max_classes: int | None) -> Task:
    values = seen.values
    most = MOST_CLASSES if max_classes is None else max_classes
    if len(values) > most:
        raise LimitError(
            f"labels must be at most {most} classes, got {len(values)} different labels in the "
            f"first {seen.examples:,} examples",
            code="LABEL-CLASSES",
            hint=number_hint(seen, quantity=_is_quantity(seen, None))
            or "Check which column or field is the label, or raise "
            f"{either('max_classes', '--max-classes')}.",
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


def _is_quantity(seen: Seen, max_classes: int | None) -> bool:
    if seen.words:
        return False
    many = len(seen.values) > (max_classes or MOST_NUMBER_CLASSES)
    return len(seen.values) > 2 and (many or not seen.whole)


def _regression(seen: Seen, loss: str) -> Task:
    if seen.words:
        raise DataError(
            f"labels must be numbers for loss 'squared', got words such as {some_word(seen)!r}",
            code="LABEL-KIND",
            hint=number_hint(seen, quantity=False)
            or "Take another label, or leave the loss to be found out.",
        )
    if loss == "squared":
        return Task("squared", None, 0, "numbers, as asked")
    kind = "whole numbers" if seen.whole else "numbers"
    odd = tuple(odd_numbers(seen, MOST_NUMBER_CLASSES))
    return Task("squared", None, 0, f"{len(seen.values):,} different {kind}", odd)


def _two_classes(seen: Seen, values: list[Label]) -> Task:
    if len(values) > 2:
        odd = "".join(f"{text[0].upper()}{text[1:]}." for text in odd_classes(seen)[:1])
        raise DataError(
            f"labels must be two for loss 'logistic', got {_counted(values)}",
            code="LABEL-CLASSES",
            hint=number_hint(seen, quantity=_is_quantity(seen, None))
            or odd
            or f"Use {either('', '--')}loss softmax, or leave the loss to be found out.",
        )
    if len(values) == 2:
        return Task("logistic", tuple(values), 0, _counted(values))
    sides: dict[Label, tuple[Label, ...] | None] = {1: None, 0: (0, 1), -1: (-1, 1)}
    if not values or values[0] not in sides:
        raise _one_label(seen, values)
    other = {1: "0 or -1", 0: "1", -1: "1"}[int(values[0])]
    return Task("logistic", sides[values[0]], 0, f"only {values[0]} so far, {other} may follow")


def _one_label(seen: Seen, values: list[Label]) -> DataError:
    what = f"the label {values[0]!r}" if values else "no label"
    return DataError(
        f"labels must be of two classes at least, got {what} in all of the first "
        f"{seen.examples:,} examples",
        code="LABEL-ONE",
        hint=f"Shuffle the data{how_to_shuffle()}, name all classes "
        f"({either('classes=[...]', '--classes a,b')}), or use loss squared for numbers.",
    )


def _declared(seen: Seen, loss: str, classes: Sequence[Label]) -> Task:
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
    skip = either("on_error='skip'", "--on-error skip")
    leave = f", or leave such examples out ({skip})."
    if classes is None:
        return Expected(
            (-1, 0, 1), whose, others + leave, (-1, 0), f"{how_to_tell_negatives()}{leave}"
        )
    return Expected(tuple(classes), whose, others + leave)


def how_to_name_classes() -> str:
    """Say what to do about a class that the first examples do not have."""
    named = either("classes=[...]", "--classes a,b,c")
    return f"Shuffle the data{how_to_shuffle()}, name every class ({named})"


def named_labels(loss: str, classes: Sequence[Label] | None) -> Expected | None:
    """Labels that examples may have before any was read: those named."""
    if classes is None or loss == "squared":
        return None
    others = f"Name every class ({either('classes=[...]', '--classes a,b,c')})"
    return expected_labels(classes, "that were named", others)


def found_labels(task: Task) -> Expected | None:
    """Labels that examples may have after the first of them: theirs, unless there is room."""
    if task.loss == "squared" or task.reserved:
        return None
    room = either("max_classes", "--max-classes N")
    others = f"{how_to_name_classes()}, keep room for those to come ({room})"
    if len(task.classes or ()) > 2 and not any(isinstance(c, str) for c in task.classes or ()):
        squared = either("loss='squared'", "--loss squared")
        others += f", learn labels as numbers ({squared})"
    return expected_labels(task.classes, "of the first examples", others)
