"""The README says what the commands do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.helpers import good, result

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def documented(result_name):
    row = next(line for line in README.splitlines() if line.startswith(f"| `{result_name}`"))
    return set(re.findall(r"`([a-z0-9_]+)`", row.split("|")[2]))


def test_keys_of_results_are_documented(model, spam, tmp_path):
    other, third = tmp_path / "other.bear", tmp_path / "third.bear"
    options = ["--memory", "16KiB", "-k", "20"]
    told = result("train", spam, "-o", other, *options)
    assert set(told) == documented("train --json")
    got = result("evaluate", model, spam)
    assert set(got) <= documented("evaluate --json")
    assert set(result("info", model)) == documented("info --json")
    assert set(result("merge", model, other, "-o", third)) == documented("merge --json")
    planned = result("plan", "--memory", "16KiB")
    assert {*planned, *planned["plans"][0]} == documented("plan --json")
    first = json.loads(good("features", model, "--format", "json").stdout)[0]
    assert set(first) == documented("features --format json")
    line = good("predict", model, spam, "--to", "jsonl", "--proba").stdout.splitlines()[0]
    assert set(json.loads(line)) == documented("predict --to jsonl") - {"proba"}


@pytest.mark.parametrize(
    "line",
    [line for line in README.splitlines() if re.match(r"(cat .* \| )?bearsketch \w+ \w", line)],
)
def test_options_in_the_shell_examples_exist(line):
    command = re.search(r"bearsketch (\w+)", line)[1]
    everything = "--help-all" if command == "train" else "--help"
    text = good(command, everything, environment={"COLUMNS": "200"}).stdout
    for option in re.findall(r" (--?[a-z][a-z-]*)", line.split("#")[0]):
        assert option in text
