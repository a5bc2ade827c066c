"""Peaks of memory: independent of p and n, as the formula says, and under a hard cap."""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from bearsketch.learners.config import Config, resolve
from bearsketch.training.memory import terms
from reliability import data
from reliability.process import command, good, run

ROWS = 240  # of a batch, as train reads them
BATCH_ENTRIES = 1 << 20
THREADS_VIRTUAL = 2 * (8 << 20)  # stacks of the two threads that read ahead
DIMENSIONS = (10, 20, 32, 48, 63)


def over_p(folder: Path, n: int = 20_000) -> dict[str, Any]:
    """Peak for ids uniform below 2^10 ... 2^63, the same number of entries each."""
    peaks = {}
    for bits in DIMENSIONS:
        path = data.write(folder / f"p{bits}.svm", n, 20, 1 << bits, names=False)
        peaks[f"2^{bits}"] = good("train", path, "-o", folder / "m.bear", "-q").rss
    return {"examples": n, "peaks": peaks, "spread": max(peaks.values()) - min(peaks.values())}


GENERATOR = """
import sys
from itertools import islice
from reliability.data import rows
n = int(sys.argv[1])
block = "".join(rows(20_000, 10, 1 << 40, names=False))
lines = block.splitlines(keepends=True)
for _ in range(n // len(lines)):
    sys.stdout.write(block)
sys.stdout.write("".join(islice(lines, n % len(lines))))
"""


def over_n(folder: Path, exponents: tuple[int, ...] = (4, 5, 6, 7)) -> dict[str, Any]:
    """Peak for 10^4 ... 10^7 examples from a pipe."""
    peaks = {}
    for exponent in exponents:
        made = subprocess.Popen(
            [sys.executable, "-c", GENERATOR, str(10**exponent)], stdout=subprocess.PIPE
        )
        with made:
            ran = good("train", "-", "-o", folder / "m.bear", "-q", stdin=made.stdout)
        peaks[f"10^{exponent}"] = ran.rss
    return {"peaks": peaks, "spread": max(peaks.values()) - min(peaks.values())}


def make_config(learner: str, memory: str, k: int | None, batch_size: int) -> Config:
    """What the command line makes of these options for two classes."""
    nothing = dict.fromkeys(
        ("width", "depth", "dimension", "compression", "query", "reads", "precision")
    )
    return resolve(
        learner,
        k=k,
        memory=memory,
        loss="logistic",
        n_classes=2,
        step_size="auto",
        history=5,
        per_class=False,
        l2=0.0,
        intercept=True,
        batch_size=batch_size,
        seed=0,
        evidence=True,
        **nothing,  # type: ignore[arg-type]
    )


GRID = [
    # learner, memory, k, minibatch, entries of an example, names
    *itertools.product(["bear+"], ["256KiB"], [None], [20], [20, 2000], [False, True]),
    *itertools.product(["bear+"], ["64MiB"], [1000, 200_000], [20], [20], [False]),
    ("mission", "8MiB", 262_144, 20, 20, True),
    *itertools.product(["bear+"], ["256MiB"], [None], [20], [20], [False]),
    *itertools.product(["bear", "mission"], ["16MiB"], [1000], [20, 120], [500], [False]),
    ("bear+", "16MiB", None, 20, 20_000, False),
    ("bear+", "16MiB", None, 20, 20_000, True),
]


def program_peak(folder: Path) -> int:
    """Peak of a process before it trains: the command stopped by its own check of the cap."""
    path = data.write(folder / "one.svm", 10, 5, 100, names=False)
    stopped = run("train", path, "-o", folder / "m.bear", "-q", "--max-memory", "1MiB")
    assert stopped.code == 6, stopped.err
    return stopped.rss


def grid(folder: Path, cells: list[tuple[Any, ...]] = GRID) -> list[dict[str, Any]]:
    """Measured peak and the formula's, for each cell."""
    program = program_peak(folder)
    results = []
    for learner, memory, k, batch_size, nnz, named in cells:
        entries = min(ROWS * (nnz + 1), BATCH_ENTRIES)
        # Enough batches for all buffers to be full at once.
        n = 20_000 if nnz <= 100 else 10 * (entries // nnz)
        suffix = "vw" if named else "svm"
        path = data.write(folder / f"g{nnz}.{suffix}", n, nnz, 1 << 40, names=named)
        options = ["--learner", learner, "--memory", memory, "--batch-size", batch_size]
        ran = good(
            "train", path, "-o", folder / "m.bear", "-q", *options, *(["-k", k] if k else [])
        )
        line = path.stat().st_size // n
        found = terms(
            make_config(learner, memory, k, batch_size),
            program=program,
            entries=entries,
            active=min(batch_size * (nnz + 1), entries),
            text=entries * 16 if named else 0,
            line=line,
        )
        predicted = sum(found.values())
        results.append(
            {
                "cell": f"{learner} {memory} k={k} b={batch_size} nnz={nnz}"
                + (" names" if named else ""),
                "measured": ran.rss,
                "predicted": predicted,
                "share": round(ran.rss / predicted, 3),
            }
        )
    return results


def hard_cap(folder: Path) -> dict[str, Any]:
    """``ulimit -v`` at the formula and a tenth: the run completes; and a cap far below refuses."""
    path = data.write(folder / "cap.svm", 20_000, 20, 1 << 40, names=False)
    base = good("train", path, "-o", folder / "m.bear", "-q", "--memory", "64MiB")
    program = program_peak(folder)
    found = terms(
        make_config("bear+", "64MiB", None, 20),
        program=program,
        entries=ROWS * 21,
        active=20 * 21,
        text=0,
        line=500,
    )
    predicted = sum(found.values())
    # Address space counts libraries, stacks and arenas that are never touched.
    bare = run("train", path, "-o", folder / "m.bear", "-q", "--max-memory", "1MiB").virtual
    limit = int(1.1 * (bare + predicted - program)) + THREADS_VIRTUAL

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    ran = subprocess.run(
        command("train", path, "-o", folder / "capped.bear", "-q", "--memory", "64MiB"),
        preexec_fn=limited,
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    refused = run(
        "train", path, "-o", folder / "no.bear", "-q", "--memory", "64MiB", "--max-memory", "100MiB"
    )
    return {
        "predicted": predicted,
        "measured": base.rss,
        "address_space_limit": limit,
        "completes_under_limit": ran.returncode == 0,
        "same_model": (folder / "capped.bear").exists()
        and (folder / "capped.bear").read_bytes() == (folder / "m.bear").read_bytes(),
        "refused_before_start": refused.code == 6 and not (folder / "no.bear").exists(),
    }
