"""Checkpoints as a user of the command line has them: real processes, real signals."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.helpers import COMMAND, ENVIRONMENT, bearsketch, good


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """VW file of 20,000 examples, a second or so of training with --threads 1."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 50_000, (20_000, 12))
    sides = rng.integers(0, 2, 20_000)
    lines = [
        f"{side} |w s{side}{row[0] % 20} " + " ".join(f"n{w}" for w in row)
        for side, row in zip(sides, words, strict=True)
    ]
    path = tmp_path_factory.mktemp("checkpoint") / "d.vw"
    path.write_text("\n".join(lines) + "\n")
    return path


def command(data, output, folder, *more):
    settings = ("--memory", "32KiB", "--checkpoint", folder, "--resume")
    return [COMMAND, "train", str(data), "-o", str(output), *map(str, (*settings, *more))]


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """Hash of the model of a run that is not disturbed."""
    output = tmp_path_factory.mktemp("whole") / "m.bear"
    good("train", data, "-o", output, "--memory", "32KiB")
    return digest(output)


def test_killed_runs_resume_to_the_same_bytes(data, whole, tmp_path):
    """Each attempt is killed a little later; what it wrote is enough to continue from."""
    output, folder = tmp_path / "m.bear", tmp_path / "c"
    rng = np.random.default_rng(0)
    killed = 0
    for _ in range(6):
        process = subprocess.Popen(
            command(data, output, folder, "--checkpoint-every", "600", "-q"), env=ENVIRONMENT
        )
        deadline = time.monotonic() + 60
        newest = sorted(folder.glob("checkpoint-*"))
        while process.poll() is None and time.monotonic() < deadline:
            # Killed at once, most would not get to learn: wait for one checkpoint more.
            if sorted(folder.glob("checkpoint-*")) != newest:
                time.sleep(float(rng.uniform(0, 0.1)))
                process.kill()
                break
        killed += process.wait() == -signal.SIGKILL
    good(*command(data, output, folder)[1:])
    assert killed > 0
    assert digest(output) == whole
    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "m.bear"]


@pytest.mark.unsanitized  # it is to end within seconds
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_writes_a_checkpoint_and_says_how_to_go_on(number, code, data, whole, tmp_path):
    """Also while the input, a pipe, says nothing."""
    output, folder = tmp_path / "m.bear", tmp_path / "c"
    lines = data.read_bytes().splitlines(keepends=True)
    asked = subprocess.Popen(
        command("-", output, folder), env=ENVIRONMENT, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with asked as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"".join(lines[:15_000]))
        process.stdin.flush()
        assert b"vw data" in process.stderr.readline()
        time.sleep(1.0)
        start = time.monotonic()
        process.send_signal(number)
        said = process.stderr.read()
        assert process.wait() == code
        assert time.monotonic() - start < 5
    assert b"interrupted; no model was written; continue from " in said
    assert b"--resume" in said
    assert not output.exists()
    resumed = good(*command("-", output, folder)[1:], input=data.read_bytes())
    assert "resumed from" in resumed.stderr
    # A pipe has another name than the file, which the model remembers; all else is equal.
    piped = tmp_path / "p.bear"
    good("train", "-", "-o", piped, "--memory", "32KiB", input=data.read_bytes())
    assert digest(output) == digest(piped) != whole


def test_other_data_in_the_pipe_are_refused(data, tmp_path):
    output, folder = tmp_path / "m.bear", tmp_path / "c"
    lines = data.read_bytes().splitlines(keepends=True)
    broken = b"".join(lines[:15_000]) + b"nonsense\n"
    failed = bearsketch(
        *command("-", output, folder, "--checkpoint-every", "1000")[1:], input=broken
    )
    assert failed.returncode == 3
    rest = bearsketch(*command("-", output, folder)[1:], input=b"".join(lines[15_000:]))
    assert rest.returncode == 5
    assert "error[CKPT-DATA]" in rest.stderr
    assert "from their start" in rest.stderr
    again = good(*command("-", output, folder)[1:], input=data.read_bytes())
    assert "resumed from" in again.stderr


def test_a_folder_in_use_and_a_folder_with_checkpoints_are_refused(data, tmp_path):
    output, folder = tmp_path / "m.bear", tmp_path / "c"
    first = subprocess.Popen(
        command("-", output, folder, "--checkpoint-every", "100"),
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert first.stdin is not None
    first.stdin.write(data.read_bytes())
    first.stdin.flush()
    deadline = time.monotonic() + 60
    while not list(folder.glob("checkpoint-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    second = bearsketch(*command(data, tmp_path / "other.bear", folder)[1:])
    assert second.returncode == 4
    assert "error[CKPT-BUSY]" in second.stderr
    first.kill()
    first.stdin.close()
    first.wait()
    third = bearsketch("train", data, "-o", output, "--checkpoint", folder)
    assert third.returncode == 2
    assert "error[CKPT-EXISTS]" in third.stderr


def test_options_that_need_a_folder(data, tmp_path):
    for option in (["--resume"], ["--checkpoint-every", "5s"]):
        refused = bearsketch("train", data, "-o", tmp_path / "m.bear", *option)
        assert refused.returncode == 2
        assert f"{option[0]} needs --checkpoint" in refused.stderr
    wrong = bearsketch(
        *command(data, tmp_path / "m", tmp_path / "c")[1:], "--checkpoint-every", "x"
    )
    assert wrong.returncode == 2
    assert not (tmp_path / "c").exists()
