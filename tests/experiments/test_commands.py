"""The commands as a user runs them: a process of its own."""

import csv
import json
import signal
import subprocess
import time

from tests.experiments.command import COMMAND, ENVIRONMENT, run

SMALL = "simulate --p 80 --n 400 -k 3 --compression 2 --passes 20 --trials 3 --workers 1".split()


def test_simulate_as_json():
    done = run(*SMALL, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    record = json.loads(done.stdout)
    wanted = {"success", "l2_error", "passes", "trials", "learner", "compression"}
    assert wanted <= set(record)
    assert record["success"] == 1.0
    assert record["learner"] == "bear+"
    assert record["trials"] == 3
    assert record["passes"] <= record["passes_allowed"] == 20


def test_simulate_as_a_table():
    done = run(*SMALL, "--learner", "mission", "--query", "mean", "--step", "0.02")
    assert done.returncode == 0, done.stderr
    assert "mission, 3 trials" in done.stdout


def test_help_shows_two_examples():
    for command in ("simulate", "reproduce"):
        assert run(command, "--help").stdout.count(f" python -m experiments {command} ") >= 2


def test_reproduce_stopped_and_continued(tmp_path):
    words = ["reproduce", "theorem1", "--trials", "5", "--out", str(tmp_path), "--workers", "2"]
    cells = tmp_path / "cells.jsonl"
    process = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    while process.poll() is None and (not cells.exists() or cells.read_text().count("\n") < 3):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"run the same command to continue" in errors
    assert b"Traceback" not in errors
    kept = cells.read_text()
    assert 3 <= kept.count("\n") < 70
    assert not (tmp_path / "theorem1.csv").exists()

    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    assert cells.read_text().startswith(kept)
    keys = [json.loads(line)["key"] for line in cells.read_text().splitlines()]
    assert len(keys) == len(set(keys)) == 70
    record = json.loads(done.stdout)
    assert record["figures"]["theorem1"]["rows"] == 70
    with (tmp_path / "theorem1.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 70
    for ending in ("png", "svg"):
        assert (tmp_path / f"theorem1.{ending}").stat().st_size > 5000
