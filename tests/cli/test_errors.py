"""Every way to fail: its exit code, its message, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.helpers import COMMAND, bearsketch, good


def failed(code, *arguments, says, **options):
    """Run a command that must fail with a code and a message, without a traceback."""
    done = bearsketch(*arguments, **options)
    assert done.returncode == code, done.stderr
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path):
    secret = tmp_path / "secret.vw"
    secret.write_text("1 |a b\n")
    secret.chmod(0)
    failed(4, "train", secret, "-o", tmp_path / "m.bear", says="reading is not permitted")


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    data, model = tmp_path / "d.vw", tmp_path / "m.bear"
    data.write_text("".join(f"{i % 2} |w {'long' * 40}{i} b{i % 9}\n" for i in range(3000)))
    good("train", data, "-o", model, "-k", "1000")
    for command in (f'features "{model}" --format json', f'predict "{model}" "{data}" --to jsonl'):
        done = subprocess.run(
            ["bash", "-c", f'"{COMMAND}" {command} | head -1; echo "${{PIPESTATUS[0]}}"'],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.stdout.splitlines()[-1] == "141"
        assert done.stderr == ""


def test_features_into_head(model):
    done = subprocess.run(
        ["bash", "-c", f'"{COMMAND}" features "{model}" | head -2'],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    proven, head = done.stdout.splitlines()
    assert "names are proven" in proven
    assert head.split()[:3] == ["rank", "weight", "class"]
    assert done.stderr == ""


@pytest.mark.parametrize("waits", [False, True], ids=["busy", "waiting for input"])
def test_interrupted(waits, spam, tmp_path):
    output = tmp_path / "m.bear"
    source = ["-"] if waits else [str(spam)]
    passes = [] if waits else ["--passes", "100000"]
    process = subprocess.Popen(
        [COMMAND, "train", *source, "-o", str(output), *passes],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        if waits:
            time.sleep(3)  # it says nothing until it has read something
        else:
            assert b"2 classes" in process.stderr.readline()
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b"interrupted" in said
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_an_unexpected_error_asks_for_a_report(model):
    code = (
        "import sys, bearsketch.cli.features as f\n"
        "f.load_model = lambda path: 1 / 0\n"
        "from bearsketch.cli.app import main\n"
        f"sys.argv = ['bearsketch', 'features', {str(model)!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert "internal error, please report" in done.stderr
