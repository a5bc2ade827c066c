"""The demo does what it says, on few messages."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np

from bearsketch import demo, load
from tests.cli.helpers import good


def test_the_demo_proves_what_it_planted_and_nothing_of_noise(tmp_path):
    said = good("demo", "--examples", "9000", "--out", tmp_path).stdout
    proven, planted = map(int, re.search(r"(\d+) names proven at 10%, (\d+) of", said).groups())
    assert planted >= 15
    assert proven - planted <= 0.2 * proven
    rows = {
        cells[0]: cells[1:]
        for line in said.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("│").split("│")]) == 4
    }
    assert rows["bear+, labels shuffled"][1] == "0"
    assert rows["fh"][:2] == ["cannot name", ""]
    assert int(rows["mission"][1]) < proven
    learner = load(tmp_path / "model.bear")
    assert len(learner.proven(fdr=0.1).names) == proven
    assert "planted" in (tmp_path / "report.html").read_text()


def test_its_files_hold_the_messages_it_learned(tmp_path):
    good("demo", "--examples", "500", "--out", tmp_path)
    with gzip.open(tmp_path / "train.vw.gz", "rt") as file:
        lines = file.read().splitlines()
    rows, labels = next(demo.bags(1, seed=1))
    assert len(lines) == 500
    assert lines[0] == f"{labels[0]} | {' '.join(rows[0])}"
    trained = good(
        "train", tmp_path / "train.vw.gz", "-o", tmp_path / "m.bear", "--memory", "4KiB", "--json"
    )
    assert json.loads(trained.stdout)["examples"] == 500


def test_the_same_seed_gives_the_same_file(tmp_path):
    for name in ("a", "b"):
        demo.write(tmp_path / name, 1, seed=3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    first, other = (next(demo.bags(1, seed=seed))[1] for seed in (3, 4))
    assert not np.array_equal(first, other)
