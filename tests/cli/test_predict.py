"""``predict``: reasons, answers withheld, threads."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest

from bearsketch import load
from tests.cli.helpers import good
from tests.cli.test_errors import failed


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A model of labels that words foretell two times of three, and its data."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("predict")
    lines = []
    for i in range(900):
        label = int(rng.integers(2))
        sign = label if rng.random() < 2 / 3 else 1 - label
        words = " ".join(f"w{j}" for j in rng.choice(40, 4, replace=False))
        lines.append(f"{label} 'mail{i}|f sign{sign} {words}\n")
    data = folder / "d.vw"
    data.write_text("".join(lines))
    good("train", data, "-o", folder / "m.bear", "-k", "5", "--memory", "4KiB")
    return folder / "m.bear", data


def table(text):
    head, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


@pytest.mark.parametrize("selected", [[], ["--selected-only"]])
def test_parts_of_a_line_add_up_to_its_margin(noisy, selected):
    model, data = noisy
    plain = table(good("predict", model, data, *selected).stdout)
    rows = table(good("predict", model, data, "--why", "2", *selected).stdout)
    assert [row["prediction"] for row in rows] == [row["prediction"] for row in plain]
    records = [
        json.loads(line, parse_float=Decimal)
        for line in good(
            "predict", model, data, "--why", "2", "--to", "jsonl", *selected
        ).stdout.splitlines()
    ]
    learner = load(model)
    weights = {f.name: f.weight for f in learner.selected()}
    proven = set(learner.proven().names)
    assert any(name.startswith("f^sign") for name in proven)
    assert len(rows) == len(records) == 900
    for row, record in zip(rows, records, strict=True):
        parts = [Decimal(row[f"part {i}"]) for i in (1, 2) if row[f"part {i}"]]
        total = Decimal(row["intercept"]) + sum(parts) + Decimal(row["rest"])
        assert total == Decimal(row["margin"])
        assert record["margin"] == Decimal(row["margin"])
        assert record["rest"] == Decimal(row["rest"])
        named = {reason["feature"]: reason["part"] for reason in record["reasons"]}
        said = [row[f"proven {i}"] for i in (1, 2) if row[f"part {i}"]]
        assert said == [
            "proven" if reason["feature"] in proven else "not proven"
            for reason in record["reasons"]
        ]
        assert said == [
            "proven" if reason["proven"] else "not proven" for reason in record["reasons"]
        ]
        assert list(named.values()) == parts
        for name, part in named.items():
            if name in weights:
                assert float(part) == pytest.approx(weights[name], abs=1e-4)
    assert any("sign1" in row["feature 1"] for row in rows)
    if selected:
        assert {r["feature"] for record in records for r in record["reasons"]} <= set(weights)


def test_answers_below_a_probability_are_withheld(noisy):
    model, data = noisy
    sure = table(good("predict", model, data, "--proba").stdout)
    rows = table(good("predict", model, data, "--proba", "--min-proba", "0.6").stdout)
    lines = good("predict", model, data, "--min-proba", "0.6", "--to", "jsonl").stdout.splitlines()
    withheld = 0
    for before, row, line in zip(sure, rows, lines, strict=True):
        record = json.loads(line)
        assert set(record) == {"example", "tag", "prediction"}
        if max(float(row["p(0)"]), float(row["p(1)"])) >= 0.6:
            assert row == before
            assert record["prediction"] == int(row["prediction"])
        else:
            assert row == before | {"prediction": ""}
            assert record["prediction"] is None
            withheld += 1
    assert 0 < withheld < 900


@pytest.mark.parametrize("to", ["tsv", "jsonl"])
def test_threads_change_no_byte(noisy, to):
    model, data = noisy
    outputs = [
        good("predict", model, data, data, "--to", to, "--why", "3", "--threads", threads).stdout
        for threads in ("1", "2", "3")
    ]
    assert outputs[0] == outputs[1] == outputs[2]


def test_names_that_a_table_cannot_hold_are_made_safe(tmp_path):
    model = tmp_path / "m.bear"
    lines = [{"text": "é", "=f(1)": 1.0, "label": 1}, {"text": "b", "label": 0}] * 50
    data = tmp_path / "d.jsonl"
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    good("train", data, "-o", model, "--memory", "4KiB", "-k", "3")
    first = table(good("predict", model, data, "--why", "3").stdout)[0]
    named = {first[f"feature {i}"] for i in (1, 2, 3)}
    assert not any(name.startswith("=") for name in named)
    record = json.loads(
        good("predict", model, data, "--why", "3", "--to", "jsonl").stdout.splitlines()[0]
    )
    assert "=f(1)" in {reason["feature"] for reason in record["reasons"]}


def test_a_percent_sign_in_a_label_is_no_form(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("word,label\n" + "a,5%s\nb,%d\n" * 50)
    good("train", data, "-o", tmp_path / "m.bear", "--memory", "4KiB", "-k", "2")
    record = good("predict", tmp_path / "m.bear", data, "--to", "jsonl", "--proba").stdout
    assert set(json.loads(record.splitlines()[0])["probabilities"]) == {"5%s", "%d"}
    assert table(good("predict", tmp_path / "m.bear", data).stdout)[0]["prediction"] == "5%s"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--why", "0"], "--why must be a whole number from 1 to 1000, got 0"),
        (["--why", "1001"], "--why must be a whole number from 1 to 1000"),
        (["--min-proba", "0"], "--min-proba must be above 0 and at most 1, got 0"),
        (["--min-proba", "1.5"], "--min-proba must be above 0 and at most 1, got 1.5"),
        (["--min-proba", "nan"], "--min-proba must be above 0 and at most 1, got nan"),
        (["--threads", "0"], "--threads must be 1 to"),
    ],
)
def test_options_that_make_no_sense_are_refused(noisy, options, says):
    failed(2, "predict", *noisy, *options, says=says)


def test_numbers_have_no_probability_to_be_sure_of(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text("".join(f"{i % 7}.5 |f x:{i % 7}\n" for i in range(100)))
    good("train", data, "-o", tmp_path / "m.bear", "--memory", "4KiB", "-k", "2")
    failed(2, "predict", tmp_path / "m.bear", data, "--min-proba", "0.5", says="predicts numbers")
    row = table(good("predict", tmp_path / "m.bear", data, "--why", "1").stdout)[0]
    assert float(row["margin"]) == pytest.approx(float(row["prediction"]), abs=1e-4)


def test_probabilities_that_are_not_calibrated_are_said_to_be(noisy, tmp_path):
    model, data = noisy
    few = tmp_path / "few.vw"
    few.write_text("".join(data.read_text().splitlines(keepends=True)[:150]))
    good("train", few, "-o", tmp_path / "m.bear", "-k", "5", "--memory", "4KiB")
    says = "probabilities are not calibrated: the model predicted fewer than 200 examples"
    output = tmp_path / "p.tsv"
    assert says in good("predict", tmp_path / "m.bear", few, "--proba", "-o", output).stderr
    assert says not in good("predict", tmp_path / "m.bear", few, "-o", output).stderr
    assert says not in good("predict", model, data, "--proba", "-o", output).stderr
    assert "not calibrated: fewer than 200" in good("info", tmp_path / "m.bear").stdout
    assert "calibrated by 900 predictions: " in good("info", model).stdout
