"""What the commands say of data that may not be what it was meant to be."""

from __future__ import annotations

import pytest

from tests.cli.helpers import good


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "shop.csv"
    rows = [f"{'pro' if i % 2 else 'free'},{40 + i % 3},{i % 2}" for i in range(300)]
    path.write_text("plan,age,label\n" + "\n".join(rows) + "\n")
    return path


def test_columns_are_told_by_kind(table, tmp_path):
    told = good("train", table, "-o", tmp_path / "m.bear").stderr
    assert "numeric columns: age\n" in told
    assert "categorical columns: plan\n" in told


def test_large_values_are_told_where_they_do_harm(table, tmp_path):
    large = "warning[DATA-SCALE] values of 'age' (about 41) are far larger than the others (about"
    # Half of all values are those of age, so the median lies between.
    wide = tmp_path / "wide.csv"
    rows = [line + ",a,b,c" for line in table.read_text().splitlines()]
    wide.write_text("\n".join([rows[0].replace(",a,b,c", ",x,y,z"), *rows[1:]]) + "\n")
    told = good("train", wide, "-o", tmp_path / "m.bear", "--learner", "mission").stderr
    assert large in told
    assert "DATA-SCALE" not in good("train", wide, "-o", tmp_path / "m.bear").stderr


def test_options_without_a_meaning_are_told(table, tmp_path):
    told = good("train", table, "-o", tmp_path / "m.bear", "--ngrams", "1-2").stderr
    assert "warning[OPT-UNUSED] --ngrams has no meaning for csv data" in told
    assert "OPT-UNUSED" not in good("train", table, "-o", tmp_path / "m.bear").stderr


def test_fields_of_json_lines_that_no_line_has_are_told_by_every_command(tmp_path):
    path, model = tmp_path / "a.jsonl", tmp_path / "m.bear"
    path.write_text('{"a": "x y", "label": 1}\n{"a": "z", "label": 0}\n' * 20)
    told = "warning[JSL-FIELD-MISSING]"
    named = ["--text-columns", "a,aa", "--drop", "id"]
    assert good("train", path, "-o", model, *named).stderr.count(told) == 2
    assert good("evaluate", model, path).stderr.count(told) == 2
    # To predict, what a model does not look at need not be there.
    assert good("predict", model, path, "-o", tmp_path / "p.tsv").stderr.count(told) == 1


def test_data_of_another_format_is_told(table, spam, model, tmp_path):
    good("train", table, "-o", tmp_path / "m.bear")
    told = good("predict", tmp_path / "m.bear", spam, "-o", tmp_path / "p.tsv").stderr
    assert "warning[DATA-FORMAT] the model learned csv data and this is vw" in told
    same = good("predict", model, spam, "-o", tmp_path / "p.tsv").stderr
    assert "DATA-FORMAT" not in same


def test_a_class_that_looks_like_a_formula_has_a_plain_column_of_probabilities(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text("1 | a\n-1 | b\n" * 20)
    good("train", data, "-o", tmp_path / "m.bear")
    head = good("predict", tmp_path / "m.bear", data, "--proba").stdout.splitlines()[0]
    assert head.split("\t")[3:] == ["p(-1)", "p(1)"]


def test_a_stray_label_is_told_with_its_place_and_what_to_do(tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "m.bear"
    rows = [f"w{i % 5},{'spam' if i % 2 else 'ham'}\n" for i in range(300)]
    rows[41] = "w1,spma\n"
    path.write_text("word,label\n" + "".join(rows))
    for workers in ([], ["--workers", 1]):
        told = good("train", path, "-o", model, *workers).stderr
        assert "3 classes: ham, spam, spma: loss softmax" in told
        assert "warning[LABEL-RARE] of the first 300 examples, label 'spma' (1 example" in told
        assert "a.csv:43) is a class of its own; mend" in told
    rows[41] = "w1,Spam\n"
    path.write_text("word,label\n" + "".join(rows))
    told = good("train", path, "-o", model).stderr
    assert "warning[LABEL-RARE] labels 'Spam' (1 example" in told
    assert "differ only in case" in told
    assert told.count("LABEL-RARE") == 1
