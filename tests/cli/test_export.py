"""An exported model predicts what ``predict --selected-only`` does."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bearsketch import Batch, Names, load, make_learner
from bearsketch.export import linear_model, to_json, to_onnx, to_tsv
from bearsketch.keys import hash_names
from bearsketch.training.scaling import find_scaling
from tests.cli.helpers import bearsketch, good

SCORER = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "scorer.py"
CASES = {
    "two": {"loss": "logistic", "classes": ["ham", "spam"]},
    "numbered": {"loss": "logistic"},
    "sketch": {"loss": "logistic", "learner": "bear"},
    "three": {"loss": "softmax", "classes": ["a", "b", "c"]},
    "floats": {"loss": "softmax", "classes": [0.5, 1.0, 2.0]},
    "per class": {"loss": "softmax", "classes": [1, 2, 3], "per_class": True, "k": 8},
    "numbers": {"loss": "squared"},
    "columns": {"loss": "logistic", "classes": ["ham", "spam"], "scaled": True},
}


def rows(n=400, seed=0):
    """Examples of words that tell the class, and of filler with odd values."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        row = {f"word{i % 3}": 1.0, f"x{rng.integers(50)}": float(np.float32(rng.normal()))}
        made.append({**row, '\u00e9=\t"quote': float(i % 2)})
    return made


def table(n=400):
    """Examples of columns far from 0, one of which they may lack."""
    rng = np.random.default_rng(1)
    values = rng.normal([1990, 70], [9, 4], (n, 2)).astype(np.float32).astype(float)
    made = [{"year": year, "weight": weight} for year, weight in values]
    return [
        {name: v for name, v in row.items() if i % 7 or name == "weight"}
        for i, row in enumerate(made)
    ]


def learned(case):
    parts = {"k": 20, **CASES[case]}
    kind, scaled = parts.pop("learner", "bear+"), parts.pop("scaled", False)
    learner = make_learner(kind, memory="16KiB", **parts)
    examples = table() if scaled else rows()
    if scaled:
        learner.scaling = find_scaling([Batch.from_rows(examples)], missing_columns=["year"])
    numbers = np.arange(len(examples)) % 3
    if parts["loss"] == "squared":
        labels = numbers * 1.5 - 1.0
    else:
        known = learner.labels.classes or (-1, 1)
        labels = np.array(known)[numbers % len(known)]
    learner.learn(Batch.from_rows(examples, labels))
    return learner, examples


def scorer():
    spec = importlib.util.spec_from_file_location("scorer", SCORER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wanted(learner, examples):
    batch = Batch.from_rows(examples)
    if learner.config.loss == "squared":
        return learner.predict(batch, selected_only=True)[:, None]
    return learner.predict_proba(batch, selected_only=True)


@pytest.mark.parametrize("case", CASES)
def test_onnx_agrees(case):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    learner, examples = learned(case)
    session = onnxruntime.InferenceSession(to_onnx(linear_model(learner)))
    names = json.loads(session.get_modelmeta().custom_metadata_map["feature_names"])
    lacks = np.nan if case == "columns" else 0.0
    values = np.array([[row.get(name, lacks) for name in names] for row in examples], np.float32)
    outputs = dict(
        zip(
            [o.name for o in session.get_outputs()],
            session.run(None, {"values": values}),
            strict=True,
        )
    )
    truth = wanted(learner, examples)
    if learner.config.loss == "squared":
        np.testing.assert_allclose(outputs["prediction"][:, None], truth, atol=1e-6)
        return
    np.testing.assert_allclose(outputs["probabilities"], truth, atol=1e-6)
    labels = learner.predict(Batch.from_rows(examples), selected_only=True)
    assert outputs["label"].tolist() == labels.tolist()


@pytest.mark.parametrize("case", CASES)
def test_the_plain_scorer_agrees(case, tmp_path):
    learner, examples = learned(case)
    file = tmp_path / "m.json"
    file.write_text(to_json(linear_model(learner)))
    module = scorer()
    model = module.load(file)
    scored = [module.score(row, *model) for row in examples]
    got = [[s] if learner.config.loss == "squared" else list(s.values()) for s in scored]
    np.testing.assert_allclose(got, wanted(learner, examples), atol=1e-9)


def test_the_scorer_is_twenty_lines_of_plain_python(tmp_path, model):
    code = [line for line in SCORER.read_text().splitlines() if line.strip()]
    functions = [line for line in code if line.startswith("    ") and '"""' not in line]
    assert len(functions) <= 25
    file = tmp_path / "m.json"
    good("export", model, "-o", file)
    line = json.dumps({"w^prize": 1.0})
    done = subprocess.run(
        [sys.executable, "-S", str(SCORER), str(file)],
        input=line,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert json.loads(done.stdout)["1"] > 0.6


def test_the_table_has_the_same_weights(tmp_path):
    learner, _ = learned("three")
    linear = linear_model(learner)
    table = list(csv.reader(to_tsv(linear).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert table[0] == ["name", "key", "weight(a)", "weight(b)", "weight(c)"]
    np.testing.assert_array_equal(np.array(table[1][2:], float), linear.intercept)
    fit = linear.calibration
    assert table[2] == ["(calibration slope)", "", *[repr(fit.slope)] * 3]
    assert table[3] == ["(calibration offset)", "", *[repr(fit.offset)] * 3]
    np.testing.assert_array_equal(np.array([r[2:] for r in table[4:]], float), linear.weights)
    assert [int(row[1]) for row in table[4:]] == linear.keys


def test_second_names_have_the_weight_of_the_first():
    learner = make_learner(k=4, memory="1KiB")
    key = hash_names(["one"])
    for name, label in ((b"one", 1), (b"two", 1), (b"one", 1)):
        data = np.frombuffer(name, np.uint8)
        names = Names(data, np.array([0, len(data)], np.uint64))
        learner.learn(Batch([0, 1], key, [1.0], labels=[label], names=names, naming="name", seed=0))
    linear = linear_model(learner)
    assert linear.names == ["one"]
    assert linear.aliases == {"two": "one"}


def test_forms_of_the_command(model, tmp_path):
    text = good("export", model).stdout
    told = json.loads(text)
    assert told["format"] == "bearsketch-linear"
    assert told["reading"]["format"] == "vw"
    assert len(told["features"]) == len(load(model).selected())
    assert good("export", model, "--to", "tsv").stdout.startswith("name\tkey\tweight\n")
    file = tmp_path / "m.onnx"
    assert "features to" in good("export", model, "--to", "onnx", "-o", file).stderr
    first = file.read_bytes()
    good("export", model, "--to", "onnx", "-o", file, "--quiet")
    assert file.read_bytes() == first


def test_the_accuracy_of_the_features_alone_stands_beside_that_of_the_model(spam, model, tmp_path):
    unknown = good("export", model).stderr
    assert "accuracy of the exported features alone is not known: train with --holdout" in unknown
    held = tmp_path / "held.bear"
    good("train", spam, "-o", held, "-k", "2", "--memory", "16KiB", "--holdout", "30%")
    done = good("export", held)
    found = json.loads(done.stdout)["measured"]
    assert found == linear_model(load(held)).measured
    results = load(held).run["holdout"]
    assert found == {
        "selected_only": results["selected_only"]["accuracy"],
        "all": results["accuracy"],
    }
    assert f"{found['selected_only']:.4f} with the exported features" in done.stderr
    assert f"{found['all']:.4f} with the whole model" in done.stderr


def test_few_examples_leave_margins_as_they_are(tmp_path):
    learner = make_learner(k=4, memory="1KiB")
    learner.learn(Batch.from_rows(rows(100), [1, -1] * 50))
    linear = linear_model(learner)
    assert linear.calibration is None
    assert json.loads(to_json(linear))["calibration"] is None
    assert "calibration" not in to_tsv(linear)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--to", "pickle"], "--to must be one of"), (["-o", "{model}"], "is one of the inputs")],
)
def test_what_cannot_be_exported(arguments, told, model):
    done = bearsketch("export", model, *(a.format(model=model) for a in arguments))
    assert done.returncode == 2
    assert told in done.stderr


def test_what_an_example_lacks_has_its_value_in_a_column_of_its_own():
    learner, _ = learned("columns")
    lines = [line.split("\t") for line in to_tsv(linear_model(learner)).splitlines()]
    assert lines[0] == ["name", "key", "weight", "absent"]
    absent = {row[0]: float(row[3]) for row in lines[1:]}
    assert absent["(intercept)"] == 0.0
    assert 1980 < absent["year"] < 2000
    assert "absent" not in to_tsv(linear_model(learned("two")[0]))
