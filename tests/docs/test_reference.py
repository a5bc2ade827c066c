"""Results fit the schema that the reference is made of."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import model, spam  # noqa: F401  (fixtures)
from tests.cli.helpers import good, result

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SCHEMA = json.loads((DOCS / "reference" / "results.schema.json").read_text())


def check(name, value):
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}).validate(
        value
    )


def test_results_fit_their_schema(model, spam, tmp_path):  # noqa: F811
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    other, third = tmp_path / "other.bear", tmp_path / "third.bear"
    size = ["--memory", "16KiB", "-k", "20"]
    check("train", result("train", spam, "-o", other, *size, "--holdout", "10%"))
    check("evaluate", result("evaluate", model, spam))
    check("info", result("info", model))
    check("merge", result("merge", model, other, "-o", third))
    for plan in result("plan", "--memory", "16KiB")["plans"]:
        check("plan", plan)
    for entry in json.loads(good("features", model, "--format", "json").stdout):
        check("features", entry)
    for options in ((), ("--proba",)):
        lines = good("predict", model, spam, "--to", "jsonl", *options).stdout.splitlines()
        check("predict", json.loads(lines[0]))


def test_results_of_numbers_fit_their_schema(tmp_path):
    data, made = tmp_path / "r.csv", tmp_path / "r.bear"
    data.write_text("y,a\n" + "".join(f"{i * 0.5},{i % 7 / 3}\n" for i in range(200)))
    check("train", result("train", data, "-o", made, "--label-column", "y", "--memory", "2KiB"))
    check("evaluate", result("evaluate", made, data))
    check("info", result("info", made))
    line = good("predict", made, data, "--to", "jsonl").stdout.splitlines()[0]
    check("predict", json.loads(line))


@pytest.mark.parametrize("name", [name for name, one in SCHEMA["$defs"].items() if "title" in one])
def test_a_result_with_an_unknown_key_is_refused(name):
    with pytest.raises(jsonschema.ValidationError):
        check(name, {"no such key": 1})
