"""Models that the tests of the report share."""

from __future__ import annotations

import pytest

from bearsketch import Batch, make_learner

HOSTILE = [
    "</script><script>alert(1)</script>",
    '<img src=x onerror="alert(2)">',
    "bell\x07\x1b[31m",
]


def learned(names, labels, *, learner="bear+", classes=None, loss="logistic", k=20, **parts):
    """Model of examples that each have one telling name and some filler."""
    made = make_learner(learner, k=k, memory="16KiB", loss=loss, classes=classes, **parts)
    rows = [[names[i % len(names)], f"x{i % 7}"] for i in range(len(labels))]
    made.learn(Batch.from_rows(rows, labels))
    made.run = {"sources": ["<b>.vw"], "n_sources": 1, "format": "vw", "curve": [[300, 0.5, 0.8]]}
    return made


@pytest.fixture(scope="session")
def hostile():
    """Two classes whose names and labels are markup."""
    return learned(HOSTILE[:2], ["</title>", "spam\x00"] * 150, classes=["</title>", "spam\x00"])


@pytest.fixture(scope="session")
def three():
    """Three classes, with one name for each."""
    labels = ["ant", "bee", "cow"] * 100
    return learned(
        ["alpha", "beta", "gamma"], labels, classes=["ant", "bee", "cow"], loss="softmax"
    )
