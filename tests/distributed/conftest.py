"""A small data set and a run over it."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from bearsketch.distributed import Driver
from bearsketch.distributed.prepare import prepare

WORDS = 400


def write_rows(path, n=3000, seed=0, words=WORDS):
    """VW rows: 8 of the words each, ten of which tell the label."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in rng.integers(0, words, (n, 8)):
        label = 1 if (row < 10).sum() + rng.normal(0, 0.1) > 0.5 else -1
        lines.append(f"{label} | " + " ".join(f"w{word}" for word in row))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    """3,000 rows of text."""
    return write_rows(tmp_path_factory.mktemp("rows") / "rows.vw")


class Runs:
    """Makes runs over one plan, and hashes their models."""

    def __init__(self, path, **options):
        self.given = {"k": 20, "memory": "2KiB", "shards": 3, "rounds": 4, **options}
        self.prepared = prepare(str(path), **self.given)

    def driver(self, plan=None, **more):
        passes = self.given.get("passes", 1)
        return Driver(self.prepared, plan, passes=passes, **more)

    def hash(self, runner, plan=None, watch=None, **more):
        driver = self.driver(plan, **more)
        with runner:
            driver.run(runner, watch)
        return self.finish(driver)

    def finish(self, driver):
        return hashlib.sha256(driver.learner.to_bytes()).hexdigest()


@pytest.fixture(scope="session")
def runs(rows):
    """Runs over the rows, in 4 rounds of 3 shards."""
    return Runs(rows)
