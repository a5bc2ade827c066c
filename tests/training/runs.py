"""Runs that are stopped, for the tests of checkpoints."""

from __future__ import annotations

import functools
import io

import numpy as np

from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.session import Session


class StopError(Exception):
    """Stands in for a kill: nothing is written after it."""


@functools.cache
def lines(n=3000, classes=("a", "b")):
    rng = np.random.default_rng(7)
    texts = []
    for i in range(n):
        label = classes[int(rng.integers(len(classes)))] if i >= 40 else classes[i % 2]
        words = " ".join(f"n{w}" for w in rng.integers(0, 3000, 8))
        texts.append(f"{label} |w k{label} {words}")
    return ("\n".join(texts) + "\n").encode()


def trained(data, folder=None, *, stop_at=None, every=400, resume=True, threads=2, **options):
    """Bytes of the model of a run; stopped after some batches, what it left behind."""
    options = {"memory": "8KiB", "k": 20, **options}
    reading = {"rows": 60, "include_unlabelled": False}
    kept = None if folder is None else Checkpoints(folder, every, resume=resume)
    seen = []

    def watch(training):
        seen.append(training.examples)
        if len(seen) == stop_at:
            raise StopError

    with open_stream(io.BytesIO(data), "vw", **reading) as opened:
        training = Session(opened, checkpoint=kept, threads=threads, **options)
        training.run(watch)
    return training.learner.to_bytes()
