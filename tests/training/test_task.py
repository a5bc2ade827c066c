"""What labels ask for."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch.batch import Places
from bearsketch.exceptions import DataError, LimitError, ParameterError
from bearsketch.training.first_rows import FirstLabels
from bearsketch.training.task import decide


def seen(*labels):
    found = FirstLabels()
    array = np.array(labels)
    found.add(array if array.dtype.kind == "U" else array.astype(float))
    return found


@pytest.mark.parametrize(
    ("labels", "loss", "classes"),
    [
        ((1, -1, 1), "logistic", (-1, 1)),
        ((0, 1), "logistic", (0, 1)),
        ((2, 7, 2), "logistic", (2, 7)),
        ((0.5, 1.5), "logistic", (0.5, 1.5)),
        (("spam", "ham"), "logistic", ("ham", "spam")),
        ((3, 1, 2), "softmax", (1, 2, 3)),
        (("c", "a", "b"), "softmax", ("a", "b", "c")),
        ((0.5, 1.5, 2.5), "squared", None),
        (tuple(range(101)), "squared", None),
        (tuple(range(100)), "softmax", tuple(range(100))),
        ((0, 0), "logistic", (0, 1)),
        ((-1, -1), "logistic", (-1, 1)),
        ((1, 1), "logistic", None),
    ],
)
def test_labels_decide(labels, loss, classes):
    assert decide(seen(*labels))[:2] == (loss, classes)


def test_a_wanted_loss_is_kept():
    assert decide(seen(0, 1), loss="softmax").loss == "softmax"
    assert decide(seen(0, 1), loss="squared").classes is None
    with pytest.raises(DataError, match="two for loss 'logistic'"):
        decide(seen(0, 1, 2), loss="logistic")
    with pytest.raises(DataError, match="must be numbers"):
        decide(seen("a", "b"), loss="squared")


def test_named_classes_take_the_kind_of_the_labels():
    assert decide(seen(0, 1), classes=["0", "1", "7"])[:2] == ("softmax", (0, 1, 7))
    assert decide(seen("0", "x"), classes=["0", "x"]).classes == ("0", "x")
    with pytest.raises(ParameterError, match="numbers"):
        decide(seen(0, 1), classes=["a", "b"])
    with pytest.raises(ParameterError, match="two different"):
        decide(seen(0, 1), classes=["1", "1.0"])


def test_room_for_later_classes():
    task = decide(seen("a", "b"), max_classes=5)
    assert (task.loss, task.classes, task.reserved) == ("softmax", ("a", "b"), 5)
    assert decide(seen(0, 1), max_classes=2).loss == "logistic"
    assert decide(seen(0.1, 0.2, 0.3), max_classes=5).loss == "squared"


PRICES = [f"{i},5" for i in range(1200)]


@pytest.mark.parametrize(
    ("labels", "options", "hint"),
    [
        ([0.5, 1.5, 2.5], {"loss": "logistic"}, "numbers: use loss='squared' to predict them"),
        (range(101), {"loss": "logistic"}, "numbers: use loss='squared' to predict them"),
        (range(1001), {"loss": "softmax"}, "numbers: use loss='squared' to predict them"),
        ([0, 1, 2], {"loss": "logistic"}, "Use loss='softmax', or leave"),
        (range(7), {"loss": "softmax", "max_classes": 5}, "raise max_classes"),
        (PRICES, {}, "a decimal comma, such as '0,5': decimal=',' reads them"),
        (PRICES[:3], {"loss": "logistic"}, "a decimal comma, such as '0,5'"),
        (PRICES[:3], {"loss": "squared"}, "a decimal comma, such as '0,5'"),
        (["n.a.", *map(str, range(1200))], {}, "and 'n.a.' does not: write NA where a number"),
        (["a", "b", "3", "4"], {"loss": "squared"}, "Take another label"),
    ],
)
def test_labels_that_look_like_numbers_are_told_with_what_to_do(labels, options, hint):
    with pytest.raises((DataError, LimitError)) as caught:
        decide(seen(*labels), **options)
    assert hint in str(caught.value)


def placed(labels):
    """Labels in two files of one batch each, 150 examples in the first."""
    found, array = FirstLabels(), np.array(labels)
    for name, part in (("a.csv", array[:150]), ("b.csv", array[150:])):
        found.add(part, Places(np.arange(len(part)) + 2, [(0, name)]))
    return found


def test_a_class_of_one_or_two_examples_is_told_with_its_place():
    labels = ["ham", "spam"] * 110
    labels[7] = labels[160] = "span"
    (told,) = decide(placed(labels)).warnings
    assert str(told).startswith(
        "of the first 220 examples, label 'span' (2 examples, first at a.csv:9) is a class of its "
        "own; correct mistakes in the data, or name the classes"
    )
    assert decide(placed(labels)).loss == "softmax"
    assert decide(placed(labels), max_classes=4).warnings == (told,)
    assert decide(placed(labels), classes=["ham", "spam", "span"]).warnings == ()
    labels[8] = "span"
    assert decide(placed(labels)).warnings == ()


def test_labels_are_rare_only_among_enough_of_them():
    many = ["ham"] * 100 + ["spam"] * 98
    assert decide(seen(*many, "span")).warnings == ()
    assert len(decide(seen(*many, "span", "span")).warnings) == 1
    assert decide(seen(*many[1:], "spam", "span", "span")).warnings == ()
    assert decide(seen(*[0] * 300, 1)).warnings == ()
    (told,) = decide(seen(*[0] * 300, *[1] * 300, 7)).warnings
    assert str(told).startswith(
        "of the first 601 examples, label '7' (1 example) is a class of its own"
    )
    assert str(told).endswith(
        "if the labels are quantities, such as years, loss='squared' predicts them"
    )
    (told,) = decide(seen(*many, "e", "d", "c", "b", "a")).warnings
    assert "squared" not in str(told)
    listed = "labels 'a' (1 example), 'b' (1 example), 'c' (1 example) and 2 more are classes of"
    assert listed in str(told)


def test_labels_that_differ_in_case_or_blanks_alone_are_told():
    labels = ["no"] * 10 + ["No"] * 5 + ["no "] + ["yes"] * 9
    (told,) = decide(seen(*labels)).warnings
    listed = (
        "labels 'No' (5 examples), 'no' (10 examples) and 'no ' (1 example) differ only in case"
    )
    assert str(told).startswith(listed)
    with pytest.raises(DataError) as caught:
        decide(seen(*labels), loss="logistic")
    assert str(caught.value).split("\n  ")[1].startswith("L" + listed[1:])
    # One that is told so is not told again as rare.
    assert len(decide(seen(*["no"] * 300, *["yes"] * 300, "No")).warnings) == 1


def test_a_stray_number_that_makes_quantities_of_classes_is_told():
    classes = [0] * 150 + [1] * 150
    task = decide(seen(*classes, 0.5))
    assert task.loss == "squared"
    listed = "label '0.5' (1 example) alone makes quantities of labels that would be 2 classes"
    assert listed in str(task.warnings[0])
    assert decide(seen(*classes, 0.5), loss="squared").warnings == ()
    # Many zeros among other numbers are no classes.
    assert decide(seen(*[0] * 150, *np.linspace(1, 2, 150))).warnings == ()
    assert decide(seen(*[0.5] * 150, *[1.5] * 150, 2.5)).warnings == ()


def test_the_word_among_numbers_is_named():
    with pytest.raises(DataError, match="for loss 'squared', got words such as 'n.a.'"):
        decide(seen("1", "2", "3", "n.a."), loss="squared")


def test_what_cannot_be_decided_is_refused():
    with pytest.raises(DataError, match="at least two classes"):
        decide(seen("a", "a"))
    with pytest.raises(DataError, match="at least two classes"):
        decide(seen(5, 5))
    with pytest.raises(LimitError, match="1001 different labels"):
        decide(seen(*(f"id{i}" for i in range(1001))))
    with pytest.raises(LimitError, match="at most 2 classes"):
        decide(seen("a", "b", "c"), max_classes=2)
    with pytest.raises(ParameterError, match="loss must be one of"):
        decide(seen(0, 1), loss="hinge")
