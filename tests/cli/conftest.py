"""Small data and models that the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.helpers import good, spam_lines


@pytest.fixture(scope="session")
def spam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """VW file of 600 examples in two classes."""
    path = tmp_path_factory.mktemp("data") / "spam.vw"
    path.write_text(spam_lines())
    return path


@pytest.fixture(scope="session")
def model(spam: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model of the spam file."""
    path = tmp_path_factory.mktemp("model") / "spam.bear"
    good("train", spam, "-o", path, "--memory", "16KiB", "-k", "20")
    return path


@pytest.fixture(scope="session")
def three_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model of three classes with names, and hostile names among its features."""
    folder = tmp_path_factory.mktemp("three")
    words = {"ant": "=SUM(A1)", "bee": "red\x1b[31m", "cow": "caf\u00e9"}
    names = list(words)
    lines = [f"{names[i % 3]} |w {words[names[i % 3]]} x{i % 5}" for i in range(300)]
    data = folder / "three.vw"
    data.write_text("\n".join(lines) + "\n")
    path = folder / "three.bear"
    good("train", data, "-o", path, "--memory", "16KiB", "-k", "20")
    return path
