"""The check of phrases (tools/phrases.py) finds what it lists, and leaves everyday words alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[1] / "tools" / "phrases.py"


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location("phrases", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("The format is found out.", "detected"),
        ("Trips over the data.", "passes over"),
        ("so the reader is told", "is reported, or name who tells whom"),
        ("a run that goes on", "continue"),
        ("a cell that is no number", "is not a number"),
    ],
)
def test_a_phrase_is_found_with_its_line_and_cure(check, text, cure):
    assert [(line, told) for line, _, told in check.phrases(f"\n{text}\n")] == [(2, cure)]


@pytest.mark.parametrize(
    "text",
    ["We found it outside.", "Tell the reader.", "where there is no number", "the goal is met"],
)
def test_everyday_words_pass(check, text):
    assert check.phrases(text) == []


def test_every_phrase_is_of_two_words_at_least(check):
    for phrase in check.PHRASES:
        assert " " in phrase
