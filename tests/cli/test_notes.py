"""What the commands say of data that may not be what it was meant to be."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from bearsketch import SketchClassifier
from tests.cli.helpers import bearsketch, good, result


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


def test_columns_of_numbers_are_told_to_be_scaled(table, tmp_path):
    told = good("train", table, "-o", tmp_path / "m.bear").stderr
    assert "learned at mean 0 and size 1, a missing one counts as the mean: age\n" in told
    assert "DATA-SCALE" not in told
    assert "1 column of numbers is learned at size 1" in good("info", tmp_path / "m.bear").stdout
    words = tmp_path / "words.csv"
    words.write_text(table.read_text().replace("40", "a").replace("41", "b").replace("42", "c"))
    assert "mean 0" not in good("train", words, "-o", tmp_path / "m.bear").stderr
    assert "scaled" not in good("info", tmp_path / "m.bear").stdout


def test_large_values_are_told_where_they_do_harm(tmp_path):
    # Too rare to be scaled: so few tell no size.
    rows = [
        f"{'pro' if i % 2 else 'free'},{(i % 20 == 0) * (400 + i % 3)},a,b,c" for i in range(300)
    ]
    wide = tmp_path / "wide.csv"
    wide.write_text("label,age,x,y,z\n" + "\n".join(rows) + "\n")
    large = "warning[DATA-SCALE] values of 'age' (about 401) are far larger than the others (about"
    for learner in ("mission", "bear+"):
        told = good("train", wide, "-o", tmp_path / "m.bear", "--learner", learner).stderr
        assert large in told


def test_a_row_number_is_told_however_long_the_rows_are(tmp_path):
    words = " ".join(f"w{j}" for j in range(150))
    data = tmp_path / "d.csv"
    rows = "".join(f"{i},{words} {'yes'[i % 2 :]},{(i * 7919) % 97}\n" for i in range(600))
    data.write_text("id,review,price\n" + rows)
    options = ("--label-column", "price", "--text-columns", "review", "--loss", "squared")
    told = good("train", data, "-o", tmp_path / "m.bear", *options).stderr
    assert "warning[DATA-SCALE] values of 'id' (about " in told
    assert "grow along the data, as a row number or a time does" in told
    without = good("train", data, "-o", tmp_path / "m.bear", *options, "--drop", "id").stderr
    assert "DATA-SCALE" not in without


def test_options_without_a_meaning_are_refused(table, tmp_path):
    got = bearsketch("train", table, "-o", tmp_path / "m.bear", "--ngrams", "1-2")
    assert got.returncode == 2
    assert "error[OPT-UNUSED] ngrams (--ngrams) has no effect on csv data without text_columns" in (
        got.stderr
    )
    got = bearsketch("train", table, "-o", tmp_path / "m.bear", "--duplicates", "sum")
    assert "duplicates (--duplicates) has no effect on csv data" in got.stderr
    assert "Use it with svmlight data, or leave it out." in got.stderr
    good("train", table, "-o", tmp_path / "m.bear")


def test_fields_of_json_lines_that_no_line_has_are_told_by_every_command(tmp_path):
    path, model = tmp_path / "a.jsonl", tmp_path / "m.bear"
    path.write_text('{"a": "x y", "label": 1}\n{"a": "z", "label": 0}\n' * 20)
    told = "warning[JSL-FIELD-MISSING]"
    named = ["--text-columns", "a,aa", "--drop", "id"]
    assert good("train", path, "-o", model, *named).stderr.count(told) == 2
    # What a model does not look at need not be there where it is used.
    assert good("evaluate", model, path).stderr.count(told) == 1
    assert good("evaluate", model, path, "--drop", "id").stderr.count(told) == 2
    assert good("predict", model, path, "-o", tmp_path / "p.tsv").stderr.count(told) == 1


def test_data_of_another_format_is_told(table, spam, model, tmp_path):
    good("train", table, "-o", tmp_path / "m.bear")
    told = good("predict", tmp_path / "m.bear", spam, "-o", tmp_path / "p.tsv").stderr
    assert "warning[DATA-FORMAT] the model learned csv data and this is vw" in told
    same = good("predict", model, spam, "-o", tmp_path / "p.tsv").stderr
    assert "DATA-FORMAT" not in same


def test_json_lines_of_a_table_are_predicted_as_the_table_is(tmp_path):
    table, lines, model = tmp_path / "t.csv", tmp_path / "t.jsonl", tmp_path / "m.bear"
    rows = [(f"word {i % 4}", i % 7, i % 3 == 0) for i in range(400)]
    texts = (f"{text},{n},{str(odd).lower()},{n % 2}\n" for text, n, odd in rows)
    table.write_text("text,n,odd,label\n" + "".join(texts))
    told = ({"text": text, "n": n, "odd": odd, "label": n % 2} for text, n, odd in rows)
    lines.write_text("".join(json.dumps(row) + "\n" for row in told))
    good("train", table, "-o", model)
    same = good("predict", model, lines, "--proba")
    assert same.stdout == good("predict", model, table, "--proba").stdout
    assert "this is jsonl: their features are called alike where numbers are numbers" in same.stderr


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
        assert "a.csv:43) is a class of its own; correct" in told
    rows[41] = "w1,Spam\n"
    path.write_text("word,label\n" + "".join(rows))
    told = good("train", path, "-o", model).stderr
    assert "warning[LABEL-RARE] labels 'Spam' (1 example" in told
    assert "differ only in case" in told
    assert told.count("LABEL-RARE") == 1


def test_data_ordered_by_class_is_told(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text("".join(f"{label} | {label}{i % 7}\n" for label in "ab" for i in range(700)))
    told = good("train", data, "-o", tmp_path / "m.bear").stderr
    assert "warning[DATA-ORDER] labels come in long runs (2 runs in 1,400 examples" in told
    several = good("train", data, "-o", tmp_path / "m.bear", "--workers", "1").stderr
    assert "warning[DATA-ORDER] labels come in long runs" in several
    found = result("train", data, "-o", tmp_path / "m.bear", "-q")
    assert [odd["code"] for odd in found["warnings"]] == ["DATA-ORDER", "EVIDENCE-SORTED"]


def test_ids_for_a_model_of_columns_are_told(tmp_path):
    data, model = tmp_path / "d.svm", tmp_path / "m.bear"
    data.write_text("1 1:1\n0 2:1\n" * 50)
    SketchClassifier(memory="8KiB").fit(np.eye(2)[[0, 1] * 50], [1, 0] * 50).save(model)
    for command in ("predict", "evaluate"):
        assert (
            "warning[DATA-IDS] the model learned the columns" in good(command, model, data).stderr
        )
    good("train", data, "-o", model)
    assert "DATA-IDS" not in good("evaluate", model, data).stderr


def test_where_a_class_is_missing_at_first_the_advice_is_to_shuffle(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text("a | x\n" * 10_100 + "b | y\n" * 10)
    got = bearsketch("train", data, "-o", tmp_path / "m.bear")
    assert "error[LABEL-ONE]" in got.stderr
    assert "Shuffle the data (lines: shuf; tables with a header: (head -n 1 t.csv; " in got.stderr
    assert "> shuffled.csv; reads: seqkit shuffle), name all classes" in got.stderr


@pytest.mark.parametrize("scale", [1e5, 1.0, 1e-6])
def test_regression_is_told_in_the_unit_of_its_targets(scale, tmp_path):
    data = tmp_path / "d.vw"
    data.write_text(
        "".join(f"{(i % 5 + 0.5) * scale:g} | n{i % 5} m{i % 3}\n" for i in range(2000))
    )
    done = good("train", data, "-o", tmp_path / "m.bear", "--loss", "squared", "--json")
    found = json.loads(done.stdout)
    assert found["progressive_rmse"] == pytest.approx((2 * found["progressive_loss"]) ** 0.5)
    assert 0.5 < found["progressive_r2"] < 1.0
    told = re.search(r"^progressive RMSE (\S+), R2 (\S+)$", done.stderr, re.MULTILINE)
    assert float(told[1].replace(",", "")) == pytest.approx(found["progressive_rmse"], rel=1e-3)
    assert float(told[2]) == pytest.approx(found["progressive_r2"], abs=1e-3)
    assert told[0].removeprefix("progressive ") in good("info", tmp_path / "m.bear").stdout
    several = good("train", data, "-o", tmp_path / "m.bear", "--loss", "squared", "--workers", "1")
    assert "\nprogressive RMSE " in several.stderr
    tested = good("evaluate", tmp_path / "m.bear", data, "-q").stdout
    assert float(re.search(r"RMSE +(\S+)", tested)[1].replace(",", "")) > 0.0


def test_weighted_figures_are_called_so(model, tmp_path):
    data = tmp_path / "d.vw"
    data.write_text(
        "".join(f"{i % 2} {1 + i % 3} | {('meeting', 'prize')[i % 2]}\n" for i in range(90))
    )
    told = good("evaluate", model, data, "-q").stdout
    assert told.startswith("90 examples of total weight 180; all figures count them by weight\n")
    assert result("evaluate", model, data, "-q")["weight"] == 180.0
    data.write_text("1 | prize\n0 | meeting\n")
    assert good("evaluate", model, data, "-q").stdout.startswith("2 examples\n")


def test_a_regression_sorted_by_its_target_is_told(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,price\n" + "".join(f"{i % 7},{i / 10}\n" for i in range(2000)))
    told = good("train", data, "-o", tmp_path / "m.bear", "--label-column", "price").stderr
    assert "warning[DATA-ORDER] targets hardly change from one example to the next" in told


def test_blank_lines_that_have_no_prediction_are_told(tmp_path):
    lines = "".join(
        f"{'good' if i % 2 else 'bad'}\tword{i % 2} it is as it was\n" for i in range(200)
    )
    good("train", "-", "-o", tmp_path / "m.bear", "--memory", "4KiB", input=lines)
    done = good(
        "predict", tmp_path / "m.bear", "-", "--label-from", "none", input="word1\n\nword0\n"
    )
    assert len(done.stdout.splitlines()) == 3
    assert "1 blank line is no example" in done.stderr
    done = good("predict", tmp_path / "m.bear", "-", "--label-from", "none", input="word1\n")
    assert "blank" not in done.stderr


def test_columns_that_a_model_left_out_need_not_be_there(table, tmp_path):
    model = tmp_path / "m.bear"
    rows = table.read_text().splitlines()
    numbered = ["id," + rows[0], *(f"{i},{row}" for i, row in enumerate(rows[1:]))]
    with_ids = tmp_path / "ids.csv"
    with_ids.write_text("\n".join(numbered) + "\n")
    good("train", with_ids, "-o", model, "--drop", "id")
    found = result("evaluate", model, table)
    assert found["accuracy"] == result("evaluate", model, with_ids)["accuracy"] == 1.0
    assert len(good("predict", model, table).stdout.splitlines()) == 301
    # Named anew they are looked for, and so they are in training.
    for command in (["evaluate", model, table], ["train", table, "-o", model]):
        told = bearsketch(*command, "--drop", "id").stderr
        assert "error[TAB-COLUMN-MISSING]" in told


def test_predictions_have_the_digits_that_large_numbers_need(tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.bear"
    targets = [1_700_000_000 + 10 * (i % 3) for i in range(900)]
    data.write_text("c,label\n" + "".join(f"c{i % 3},{y}.5\n" for i, y in enumerate(targets)))
    good("train", data, "-o", model, "--passes", "3")
    lines = good("predict", model, data).stdout.splitlines()[1:]
    exact = [
        json.loads(line)
        for line in good("predict", model, data, "--to", "jsonl").stdout.splitlines()
    ]
    for line, record in zip(lines, exact, strict=True):
        assert abs(float(line.split("\t")[2]) - record["prediction"]) < 1.0
    # Numbers that are names of classes are whole.
    data.write_text("".join(f"{12345678 + i % 2} | w{i % 2}\n" for i in range(200)))
    good("train", data, "-o", model, "--format", "vw")
    lines = good("predict", model, data, "--format", "vw").stdout.splitlines()[1:]
    assert {line.split("\t")[2] for line in lines} == {"12345678", "12345679"}


def test_data_without_a_selected_feature_is_told(table, tmp_path):
    model, other = tmp_path / "m.bear", tmp_path / "other.vw"
    told = "warning[DATA-UNKNOWN] no example has one of the selected features"
    other.write_text("".join(f"{i % 2} |a w{i % 2}\n" for i in range(300)))
    good("train", other, "-o", model)
    assert told not in good("evaluate", model, other).stderr
    other.write_text(other.read_text().replace("|a", "|A"))
    assert told in good("evaluate", model, other).stderr


def test_words_for_labels_are_told_with_the_sign_of_weights(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text("click | buy\nno | look\n" * 30)
    told = good("train", data, "-o", tmp_path / "m.bear").stderr
    assert "best of 2 selected features (+ for no, - for click):" in told
    data.write_text("1 | buy\n0 | look\n" * 30)
    assert "selected features:" in good("train", data, "-o", tmp_path / "m.bear").stderr


def test_numbers_that_turn_out_to_be_no_classes_are_told_how_to_learn(tmp_path):
    data = tmp_path / "d.csv"
    prices = [*(str(i % 13) for i in range(12_000)), "3.5"]
    data.write_text("c,label\n" + "".join(f"c{i % 5},{p}\n" for i, p in enumerate(prices)))
    told = bearsketch("train", data, "-o", tmp_path / "m.bear").stderr
    assert "error[LABEL-UNKNOWN]" in told
    assert "learn labels as numbers (--loss squared)" in told


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_weights_that_the_model_s_data_had_need_not_be_there(tmp_path, form):
    frame = pd.DataFrame({"plan": ["pro", "free"] * 100, "label": [1, 0] * 100})
    weighted, plain = tmp_path / f"w.{form}", tmp_path / f"p.{form}"
    for path, data in ((weighted, frame.assign(n=2.0)), (plain, frame)):
        if form == "parquet":
            data.to_parquet(path)
        else:
            path.write_text(
                data.to_csv(index=False)
                if form == "csv"
                else data.to_json(orient="records", lines=True)
            )
    model = tmp_path / "m.bear"
    good("train", weighted, "-o", model, "--weight-column", "n", "--memory", "4KiB")
    found = bearsketch("evaluate", model, plain, "--json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["weight"] == 200
    assert re.search(r"warning\[.*'n'", found.stderr)
    assert good("predict", model, plain).stderr == ""
    assert result("evaluate", model, weighted)["weight"] == 400
    if form != "jsonl":
        assert "there is no column 'n', by which" in found.stderr
        assert bearsketch("evaluate", model, plain, "--weight-column", "m").returncode == 2


def test_quiet_says_nothing_of_a_large_k_either(tmp_path):
    data = tmp_path / "few.vw"
    data.write_text("1 | a\n-1 | b\n" * 10)
    train = ("train", data, "-o", tmp_path / "m.bear", "--memory", "1KiB", "-k", "80")
    assert "more than half" in good(*train).stderr
    assert good(*train, "--quiet").stderr == ""
