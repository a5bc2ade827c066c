"""The demo does what it says, on few messages."""

from __future__ import annotations

import gzip
import json

import numpy as np

from bearsketch import demo, load
from tests.cli.helpers import good


def test_the_demo_finds_what_it_planted_and_writes_its_files(tmp_path):
    said = good("demo", "--examples", "5000", "--out", tmp_path).stdout
    found = int(said.split("Planted and found: ")[1].split(" ")[0])
    assert found >= 25
    assert "cannot name" in said
    chosen = {feature.name for feature in load(tmp_path / "model.bear").selected()}
    assert len(chosen & set(demo.PLANTED)) == found
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
