"""bearsketch merge: averages of models, and what does not go together."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from bearsketch import SketchClassifier, load
from bearsketch.reading import open_stream
from tests.cli.helpers import bearsketch, good, spam_lines


def test_merged_models_average_their_parts(tmp_path):
    parts = []
    for name, n in (("a", 400), ("b", 600)):
        path = tmp_path / f"{name}.bear"
        good("train", "-", "-o", path, "--memory", "16KiB", "-k", "20", input=spam_lines(n))
        parts.append(path)
    merged = tmp_path / "c.bear"
    done = good("merge", *parts, "-o", merged, "--json")
    got = json.loads(done.stdout)
    assert (got["models"], got["examples"]) == (2, 1000)
    assert "L-BFGS" in done.stderr
    learner, one, two = load(merged), load(parts[0]), load(parts[1])
    assert learner.run["counts"]["examples"] == 1000
    assert learner.run["merged"] == 2
    batch = next(iter(open_stream(io.BytesIO(b" |w prize\n"), "vw")))
    key = batch.keys
    expected = 0.4 * one.weights_of(key) + 0.6 * two.weights_of(key)
    assert learner.weights_of(key) == pytest.approx(expected, rel=0.05)


def test_merged_tables_may_differ_in_units_and_in_what_is_missing(tmp_path):
    rng, days = np.random.default_rng(0), []
    for day, zeros in (("a", 0), ("b", 30)):
        ages, money = rng.normal(40, 9, 900).round(1), rng.normal(900, 200, 900).round(2)
        money[:zeros] = 0
        rows = [f"{a},{m},{int(a > 40)}" for a, m in zip(ages, money, strict=True)]
        (tmp_path / f"{day}.csv").write_text("age,money,label\n" + "\n".join(rows) + "\n")
        good("train", tmp_path / f"{day}.csv", "-o", tmp_path / f"{day}.bear", "--memory", "4KiB")
        days.append(tmp_path / f"{day}.bear")
    told = good("merge", *days, "-o", tmp_path / "c.bear").stderr
    assert "warning[MERGE-MISSING] a missing number of column money is its mean" in told
    assert "here it is the mean" in told
    assert "column age" not in told
    found = good("evaluate", tmp_path / "c.bear", tmp_path / "b.csv", "--json").stdout
    assert json.loads(found)["accuracy"] > 0.95


def test_no_output_replaces_what_is_read(model, tmp_path):
    kept, data = tmp_path / "kept.bear", tmp_path / "data.vw"
    kept.write_bytes(model.read_bytes())
    data.write_text(spam_lines(20))
    before = kept.read_bytes(), data.read_bytes()
    for command in (
        ["predict", kept, data, "-o", data],
        ["predict", kept, data, "-o", kept],
        ["merge", kept, model, "-o", kept],
    ):
        refused = bearsketch(*command)
        assert refused.returncode == 2, command
        assert "is one of the inputs" in refused.stderr
    assert (kept.read_bytes(), data.read_bytes()) == before


def test_merge_refuses_models_that_read_their_data_differently(tmp_path):
    table = tmp_path / "shop.csv"
    table.write_text("review,label\n" + "good thing,1\nbad thing,0\n" * 20)
    good("train", table, "-o", tmp_path / "a.bear")
    good("train", table, "-o", tmp_path / "b.bear", "--text-columns", "review")
    refused = bearsketch(
        "merge", tmp_path / "a.bear", tmp_path / "b.bear", "-o", tmp_path / "c.bear"
    )
    assert refused.returncode == 5
    assert "their data was read with different categorical" in refused.stderr


def test_merge_refuses_models_of_formats_that_name_features_differently(tmp_path):
    rows = ['{"w": "prize", "label": 1}', '{"w": "meeting", "label": 0}']
    (tmp_path / "d.jsonl").write_text("\n".join(rows * 20))
    (tmp_path / "d.vw").write_text("1 |w prize\n0 |w meeting\n" * 20)
    parts = [tmp_path / "v.bear", tmp_path / "j.bear"]
    for data, part in zip(("d.vw", "d.jsonl"), parts, strict=True):
        good("train", tmp_path / data, "-o", part)
    got = bearsketch("merge", *parts, "-o", tmp_path / "both.bear")
    assert got.returncode == 5
    assert "vw and jsonl, whose features have different names" in got.stderr


def test_merge_refuses_one_model_or_the_same_twice(model, tmp_path):
    assert bearsketch("merge", model, "-o", tmp_path / "c.bear").returncode == 2
    assert bearsketch("merge", model, model, "-o", tmp_path / "c.bear").returncode == 2


def test_models_of_matrices_merge_where_they_have_the_same_columns(tmp_path):
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{name}.bear" for name in "abc"]
    for path, columns in zip(paths, (20, 20, 30), strict=True):
        X = rng.normal(size=(50, columns))
        SketchClassifier(memory="4KiB").fit(X, X[:, 0] > 0).save(path)
    out = tmp_path / "merged.bear"
    good("merge", paths[0], paths[1], "-o", out)
    assert SketchClassifier.load(out).n_features_in_ == 20
    assert "20 and 30 columns" in bearsketch("merge", paths[0], paths[2], "-o", out).stderr
    assert " 0 examples" not in good("info", paths[0]).stdout


def test_what_is_selected_for_each_class_is_counted_as_info_does(tmp_path):
    parts = []
    for name, extra in (("a", "new"), ("b", "old")):
        lines = "".join(
            f"{label} |w {label}{i % 7} {extra}{i % 5}\n" for i in range(60) for label in "xyz"
        )
        parts.append(tmp_path / f"{name}.bear")
        options = ("--per-class", "--memory", "8KiB", "-k", "4", "--format", "vw")
        good("train", "-", "-o", parts[-1], *options, input=lines)
    merged = tmp_path / "c.bear"
    got = json.loads(good("merge", *parts, "-o", merged, "--json").stdout)
    facts = json.loads(good("info", merged, "--json").stdout)
    assert got["selected"] == facts["selected"] == 12
