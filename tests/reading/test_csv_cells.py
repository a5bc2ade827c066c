"""Cells of tables that are marked as missing, or are not numbers where others are."""

import pytest

from bearsketch.exceptions import ParameterError
from bearsketch.reading import open_stream

from .helpers import broken_table, labels_of, rows_of, table


def warned_of(code, cells, **options):
    """Messages of one code about a column ``age`` with these cells."""
    text = b"age,label\n" + b"".join(b"%b,%d\n" % (cell, i % 2) for i, cell in enumerate(cells))
    with open_stream(table(text), "csv", **options) as stream:
        for _ in stream:
            pass
    return [odd.message for odd in stream.warnings if odd.code == code]


def strays_of(cells, **options):
    return warned_of("TAB-STRAY", cells, **options)


MARKS = [b"NA", b"N/A", b"n/a", b"null", b"NULL", b"None"]


def test_marks_of_missing_numbers_are_absent_among_numbers():
    text = b"n,c\n1,x\n" + b"".join(b" %b ,%b\n" % (mark, mark) for mark in MARKS) + b"2,y\n"
    names = [mark.decode() for mark in MARKS]
    wanted = [{"n": 1.0, "c=x": 1.0}, *({f"c={name}": 1.0} for name in names)]
    assert rows_of(table(text)) == [*wanted, {"n": 2.0, "c=y": 1.0}]
    declared = rows_of(table(text), categorical=["n"])
    assert declared[1] == {"n= NA ": 1.0, "c=NA": 1.0}
    for other in (b"na", b"none", b"NaNa", b"-", b"?"):
        assert broken_table(b"n\n1\n" + other + b"\n", numeric=["n"]).code == "TAB-VALUE"


TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}


def test_true_and_false_are_numbers_as_in_a_frame():
    pyarrow = pytest.importorskip("pyarrow")
    cells = [*TRUTHS, "", "NA"]
    read = rows_of(table(("b,c\n" + "".join(f"{cell},x\n" for cell in cells)).encode()))
    ones = [{"b": 1.0, "c=x": 1.0}] * 3
    assert read == [*ones, *([{"c=x": 1.0}] * 5)]
    truths = [value == 1.0 for value in TRUTHS.values()] + [None, None]
    assert rows_of(pyarrow.table({"b": truths, "c": ["x"] * 8})) == read
    # Beside other words they are words, and so they are where categories are asked for.
    assert rows_of(table(b"b\ntrue\nmaybe\n")) == [{"b=true": 1.0}, {"b=maybe": 1.0}]
    assert rows_of(table(b"b\nTrue\n"), categorical=["b"]) == [{"b=True": 1.0}]
    assert broken_table(b"b\n1\ntrUe\n", numeric=["b"]).code == "TAB-VALUE"


def test_marks_of_missing_numbers_are_absent_with_a_decimal_comma_too():
    assert rows_of(table(b"n;m\n1,5;1\nN/A;1\n"), decimal=",") == [{"n": 1.5, "m": 1.0}, {"m": 1.0}]


@pytest.mark.parametrize("mark", MARKS)
def test_labels_and_weights_that_are_marked_as_missing_are_as_empty_ones(mark):
    text = b"a,y,w\nx,%b,2\nz,0.5,%b\nu,3,1\n" % (mark, mark)
    options = {"label_column": "y", "weight_column": "w", "rows": 1}
    with open_stream(table(text), "csv", **options, include_unlabelled=False) as stream:
        got = [(batch.labels.tolist(), batch.weights.tolist()) for batch in stream]
    assert got == [([0.5], [1.0]), ([3.0], [1.0])]
    assert stream.counts.unlabelled == 1


def test_marks_of_missing_numbers_are_ordinary_among_labels_that_are_words():
    assert labels_of(table(b"a,label\nx,None\ny,mild\n"), "csv") == ["None", "mild"]
    assert labels_of(table(b"a,label\nx,None\ny,None\n"), "csv") == ["None", "None"]


def test_what_is_not_finite_is_refused_with_a_hint():
    error = broken_table(b"n,label\n1,1\nNaN,0\n")
    assert (error.code, error.line, error.column) == ("TAB-VALUE-FINITE", 3, 1)
    assert error.hint == "Leave the cell empty, or write NA, where there is no number."


@pytest.mark.parametrize("label", [b"NaN", b"yes"])
def test_a_label_that_is_no_number_is_refused_with_a_hint(label):
    error = broken_table(b"n,label\n1,1\n2,%b\n" % label)
    assert (error.code, error.line, error.column) == ("TAB-LABEL", 3, 3)
    assert error.hint == "Leave the cell empty, or write NA, where an example has no label."


def test_few_cells_that_are_no_numbers_are_told_with_their_place():
    cells = [b"%d" % i for i in range(300)]
    assert strays_of(cells) == []
    cells[41] = b"n.a."
    (told,) = strays_of(cells)
    assert told.startswith("column 'age' is read as categories, because of 300 cells looked at 1 ")
    assert "(line 43, column 1: 'n.a.')" in told
    assert "{numeric=age}" in told
    assert strays_of(cells, categorical=["age"]) == []
    cells[7], cells[99] = b"", b"none"
    assert "because of 299 cells looked at 2 (0.7%) are" in strays_of(cells)[0]


@pytest.mark.parametrize("stray", [b"-", b"?", b"$", b"1 234", b"12kg", b"none"])
def test_up_to_a_half_of_cells_that_are_no_numbers_is_told(stray):
    cells = [stray if i % 2 == 0 else b"%d" % i for i in range(400)]
    (told,) = strays_of(cells)
    place = f"(line 2, column 1: {stray.decode()!r})"
    assert f"of 400 cells looked at 200 (50.0%) are not numbers {place}" in told
    cells[1] = stray
    assert strays_of(cells) == []


def texts_of(cells, **options):
    return warned_of("TAB-TEXT", cells, **options)


def test_a_column_of_texts_is_told():
    texts = [b"the film number %d is fine" % i for i in range(30)]
    (told,) = texts_of(texts)
    assert "column 'age'" in told
    assert "{text_columns=age}" in told
    assert texts_of(texts, text_columns=["age"]) == []
    assert texts_of(texts, categorical=["age"]) == []
    assert texts_of([b"new york city hall"] * 30) == []
    assert texts_of([b"item%d" % i for i in range(30)]) == []
    assert texts_of(texts[:10]) == []


def ids_of(cells, **options):
    return warned_of("TAB-UNIQUE", cells, **options)


@pytest.mark.parametrize(
    "cells", [[b"$5.20", b'"$1,300.00"', b"NA"], [b"38.9%", b"4%"], ["12 €".encode(), b"3.5"]]
)
def test_numbers_with_marks_are_told(cells):
    (told,) = warned_of("TAB-MARKS", cells * 120)
    assert "column 'age': " in told
    assert " is read as the number " in told
    assert ids_of(cells * 120) == []
    for declared in ("age", "*"):
        assert warned_of("TAB-MARKS", cells * 120, categorical=[declared]) == []
    assert warned_of("TAB-MARKS", [b"5", b"7"] * 120, categorical=["*"]) == []


@pytest.mark.parametrize("cells", [[b"a5", b"b%"], [b"5 apples", b"3 pears"], [b"x"]])
def test_other_words_have_no_marks(cells):
    assert warned_of("TAB-MARKS", cells * 120) == []


def test_marks_in_another_encoding_are_no_marks_and_no_fault():
    assert warned_of("TAB-MARKS", [b"\xa35", b"\xe25", b"\xac7"] * 120) == []


def test_a_column_without_a_value_so_far_is_told():
    (told,) = warned_of("TAB-EMPTY", [b"NA"] * 200)
    assert "no value in the first 200 rows" in told
    assert "{numeric=age}" in told


def test_a_column_of_ids_is_told():
    ids = [b"u%d" % i for i in range(240)]
    (told,) = ids_of(ids)
    assert told.startswith("column 'age' is read as categories, and of 240 cells looked at 240 are")
    assert "{drop=age}" in told
    assert "{categorical=age}" in told
    assert ids_of([*ids[:220], *ids[:20]]) != []
    assert ids_of([*ids[:200], *ids[:40]]) == []
    assert ids_of(ids[:199]) == []
    assert ids_of(ids, categorical=["age"]) == []
    assert ids_of(ids, drop=["age"]) == []
    assert ids_of([b"%d" % i for i in range(240)]) == []
    assert ids_of([b'"%d,5"' % i for i in range(240)]) == []
    assert ids_of([*(b"%d" % i for i in range(239)), b"?"]) == []
    assert ids_of([b"the film number %d is fine" % i for i in range(240)]) == []


@pytest.mark.parametrize("option", ["drop", "categorical", "numeric", "text_columns"])
def test_one_name_of_a_column_need_not_be_in_a_list(option):
    text = b"age,city,label\n30,rome,1\n41,oslo,0\n"
    one, listed = (rows_of(table(text), "csv", **{option: given}) for given in ("age", ["age"]))
    assert one == listed
    with pytest.raises(ParameterError, match="there is no column 'age,city'"):
        rows_of(table(text), "csv", **{option: "age,city"})


def test_one_name_is_that_of_a_table_of_one_column():
    options = {"header": False, "include_unlabelled": True}
    assert rows_of(table(b"rome\noslo\n"), "csv", columns="city", **options) == rows_of(
        table(b"rome\noslo\n"), "csv", columns=["city"], **options
    )
    with pytest.raises(
        ParameterError, match="columns must be a column name or a list of them, got b'city'"
    ):
        open_stream(table(b"rome\n"), "csv", columns=b"city")
