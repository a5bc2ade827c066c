"""What a person sees: help, progress in a terminal, and how soon."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from bearsketch.cli.app import COMMANDS
from tests.cli.helpers import COMMAND, good, spam_lines

HEAVY = ("sklearn", "scipy", "pyarrow", "matplotlib", "dask", "pandas", "fsspec", "pydantic")


def in_terminal(*arguments, environment=None):
    """Run a command with standard error on a terminal of 40 x 100; give what it drew."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
    )
    os.close(follower)
    drawn = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        drawn += piece
    os.close(leader)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, drawn
    return drawn.decode(), output


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_two_examples(command):
    text = good(command, "--help").stdout
    assert len(re.findall(rf"bearsketch {command} ?", text)) >= 3  # usage and two examples
    assert "Examples" in text


def test_help_of_training_fits_one_screen_and_all_of_it_has_every_option():
    short = good("train", "--help", environment={"COLUMNS": "80"}).stdout
    assert len(short.splitlines()) <= 45
    assert max(map(len, short.splitlines())) <= 93  # an example is one line
    essential = "DATA --output --memory -k --label-column --loss --passes --holdout --checkpoint"
    for option in f"{essential} --resume --workers --report --help-all".split():
        assert option in short
    assert "--alphabet" not in short
    full = good("train", "--help-all", environment={"COLUMNS": "80"}).stdout
    hidden = int(re.search(r"(\d+) more options: bearsketch train --help-all", short)[1])
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+|-k)", full, re.MULTILINE))
    shown = set(re.findall(r"^  (?:-\w, )?(--[\w-]+|-k)", short, re.MULTILINE))
    assert shown < options
    assert len(options - shown) == hidden
    for group in ("Size of the model:", "Labels:", "CSV, TSV and Parquet:", "FASTA and FASTQ:"):
        assert f"\n{group}\n" in full


def test_the_front_door_lists_the_commands():
    text = good("--help").stdout
    assert all(re.search(rf"\b{command}\b", text) for command in COMMANDS)
    assert good("--version").stdout.startswith("bearsketch ")


def test_progress_is_drawn_on_a_terminal(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text(spam_lines(30_000))
    drawn, output = in_terminal("train", data, "-o", tmp_path / "m.bear")
    assert output == b""
    for told in ("% of", "examples", "/s", "left", "loss", "accuracy", "model", "process peak"):
        assert told in drawn
    assert "best features so far" in drawn
    assert "w^prize" in drawn
    assert "\x1b[" in drawn
    assert "wrote" in drawn


def test_no_color_is_respected(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text(spam_lines(3000))
    drawn, _ = in_terminal("train", data, "-o", tmp_path / "m.bear", environment={"NO_COLOR": "1"})
    assert "best features so far" in drawn
    assert not re.search(r"\x1b\[(?:3[0-7]|9[0-7]|38)[;m]", drawn)


def test_quiet_draws_nothing_on_a_terminal(spam, tmp_path):
    drawn, output = in_terminal("train", spam, "-o", tmp_path / "m.bear", "--quiet", "--json")
    assert drawn == ""
    assert output.startswith(b"{")


def test_hostile_names_are_not_drawn(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text("".join(f"{i % 2} |w bell\x07{i % 2} x\x1b]0;title\x07\n" for i in range(2000)))
    drawn, _ = in_terminal("train", data, "-o", tmp_path / "m.bear")
    assert "\x07" not in drawn
    assert "\x1b]" not in drawn
    assert r"bell\x071" in drawn


def test_a_name_stays_on_its_line(tmp_path):
    data = tmp_path / "d.jsonl"
    odd = json.dumps("ok\r\nerror[FAKE] look here")
    cells = ('"calm"', odd)
    data.write_text("".join(f'{{"label": {i % 2}, "a": {cells[i % 2]}}}\n' for i in range(100)))
    for options in ((), ("--workers", 1)):
        said = good("train", data, "-o", tmp_path / "m.bear", *options).stderr
        assert "FAKE" in said
        assert not any(line.startswith("error") for line in said.splitlines())


def test_plain_lines_where_there_is_no_terminal(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text(spam_lines(25_000))
    said = good("train", data, "-o", tmp_path / "m.bear").stderr
    assert "\x1b" not in said
    lines = [line for line in said.splitlines() if re.match(r"[\d,]+ examples, [\d,]+/s", line)]
    assert len(lines) == 2
    assert "accuracy" in lines[0]


# How soon a command starts goes by how much it loads, which is the same on every machine: one that
# works has numpy (175 modules with what that loads) and little else; help needs neither.
@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        (["--version"], 200),
        (["--help"], 250),
        (["train", "--help"], 250),
        (["train"], 360),
        (["info"], 310),
        (["features"], 310),
        (["evaluate"], 360),
    ],
)
def test_no_command_takes_in_heavy_libraries(arguments, most, spam, model, tmp_path):
    given = {
        "train": ["train", str(spam), "-o", str(tmp_path / "m.bear")],
        "info": ["info", str(model)],
        "features": ["features", str(model)],
        "evaluate": ["evaluate", str(model), str(spam)],
    }
    line = arguments if arguments[-1].startswith("--") else given[arguments[0]]
    code = (
        "import json, sys\n"
        f"sys.argv = ['bearsketch', *{line!r}]\n"
        "from bearsketch.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(done.stderr.splitlines()[-1])
    assert not set(HEAVY) & set(loaded)
    assert "numpy.ma" not in loaded
    assert ("numpy" in loaded) == (line != arguments)
    assert "rich" not in loaded
    assert len(loaded) < most
