"""Fuzzing: the native targets by libFuzzer, and those that need Python by loops of edits."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from reliability import targets

PARSERS = ("vw", "svmlight", "fasta", "fastq", "text", "jsonl", "csv")
NATIVE = (*PARSERS, "chunks", "fast_vs_plain", "roundtrip", "learner", "train_small")
# Where memory was taken is told by a second run of what was found; keeping it takes a tenth of the
# time, and freed memory kept aside for long most of the cache.
SANITIZER = "malloc_context_size=0:quarantine_size_mb=8"
FOUND = Path("build/fuzz/found")


def one(target: str, runs: int, seconds: float) -> dict[str, Any]:
    """Run any target, for so many executions or so long."""
    if target in NATIVE:
        if not Path(f"build/fuzz/fuzz/fuzz_{target}").exists():
            return {"left_out": "not built: make fuzz"}
        return native(target, runs, max(int(seconds), 1))
    once = {**targets.PYTHON, **targets.SLOW}[target]
    return loop(once, runs, time.monotonic() + seconds, seed=0)


def native(target: str, runs: int, seconds: int) -> dict[str, Any]:
    """Run one libFuzzer target (``make fuzz`` builds it); executions and crashes."""
    corpus = Path(f"build/fuzz/corpus/{target}")
    corpus.mkdir(parents=True, exist_ok=True)
    FOUND.mkdir(parents=True, exist_ok=True)
    before = set(FOUND.iterdir())
    begun = time.monotonic()
    ran = subprocess.run(
        [
            f"build/fuzz/fuzz/fuzz_{target}",
            f"-runs={runs}",
            f"-max_total_time={seconds}",
            "-timeout=120",
            "-max_len=200",
            "-entropic=0",
            "-print_final_stats=1",
            "-verbosity=0",
            f"-artifact_prefix={FOUND}/{target}-",
            str(corpus),
            f"tests/corpus/{target}",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ASAN_OPTIONS": SANITIZER},
    )
    executed = re.search(r"number_of_executed_units:\s*(\d+)", ran.stderr)
    return {
        "executions": int(executed[1]) if executed else 0,
        "seconds": round(time.monotonic() - begun, 1),
        "crashes": len(set(FOUND.iterdir()) - before) + (ran.returncode not in (0, 77)),
    }


def loop(once: Any, runs: int, deadline: float, seed: int) -> dict[str, Any]:
    """Call a target with fresh random numbers; what it raises is a crash, kept by its number."""
    rng = np.random.default_rng(seed)
    begun = time.monotonic()
    done, crashes, outcomes = 0, [], {}
    while done < runs and time.monotonic() < deadline:
        try:
            kind = once(rng)
        except Exception as error:
            crashes.append(f"execution {done}, seed {seed}: {type(error).__name__}: {error}"[:300])
            kind = "crash"
        outcomes[kind] = outcomes.get(kind, 0) + 1
        done += 1
    return {
        "executions": done,
        "seconds": round(time.monotonic() - begun, 1),
        "crashes": len(crashes),
        "first": crashes[:3],
        "outcomes": outcomes,
    }
