"""Every case of this folder prints what it says; every error code has a case."""

from __future__ import annotations

import difflib
import re

import pytest

from bearsketch.error_codes import ERROR_CODES
from tests.text.cases import FOLDER, fits, parse, recorded, render, run

CASES = sorted(FOLDER.rglob("*.txt"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: str(path.relative_to(FOLDER))[:-4])
def test_a_case_prints_what_it_says(path, tmp_path):
    text = path.read_text()
    got = run(text, tmp_path)
    if got != text:
        lines = difflib.unified_diff(
            text.splitlines(), got.splitlines(), "expected", "printed", lineterm=""
        )
        pytest.fail("\n".join([*lines, "", "If this is right: make record"]), pytrace=False)


def test_a_case_is_compared_line_by_line():
    assert fits(["a ... c", "...", "= 3"], ["a b c", "x", "y", "= 3"])
    assert fits(["...", "z"], ["z"])
    assert not fits(["a"], ["a", "b"])
    assert not fits(["a.c"], ["abc"])
    assert not fits(["a ... c"], ["a b"])
    assert not fits([], ["= 2"])


def test_recording_keeps_the_ellipses_that_fit():
    assert recorded(["loss ...", "old"], ["loss 0.5", "new"]) == ["loss ...", "new"]
    assert recorded(["...", "a long last line"], ["x", "y", "a long new line"]) == [
        "...",
        "a long new line",
    ]
    assert recorded([], ["600 examples in 0.1 s (5,000/s), ok"]) == ["600 examples in ..., ok"]


def test_a_case_is_written_as_it_is_read():
    text = "Remark.\n\n    > a.vw\n    1 | a\n\n    $ bearsketch info\n    ! error\n    = 2\n"
    assert render(parse(text)) == text


def test_every_error_code_has_a_case():
    """In a text file where a command line leads to it, else in a test in Python."""
    shown = {
        code for path in CASES for code in re.findall(r"error\[([A-Z0-9-]+)\]", path.read_text())
    }
    tests = [
        path for path in FOLDER.parent.rglob("test_*.py") if path.name != "test_error_codes.py"
    ]
    tested = {
        code
        for path in tests
        for code in re.findall(r"[\"\[]([A-Z]+-[A-Z0-9-]+)[\"\]]", path.read_text())
    }
    assert set(ERROR_CODES) - shown - tested == set()
    ours = {code for code in shown if not code.startswith(("EXP-", "SIM-"))}  # of the experiments
    assert ours - set(ERROR_CODES) == set()
