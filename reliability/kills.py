"""Random SIGKILLs of a run that writes checkpoints: nothing torn, nothing lost, the same bytes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bearsketch import load
from bearsketch.exceptions import BearError
from reliability import data
from reliability.child import EVERY, ROWS
from reliability.process import sha256


def start(path: Path, folder: Path, output: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "reliability.child", str(path), str(folder), str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(path: Path, folder: Path, output: Path) -> str:
    """Let a run go to its end; the hash of its model, or what it said."""
    process = start(path, folder, output)
    _, said = process.communicate(timeout=600)
    return sha256(output) if process.returncode == 0 else said.decode()[-500:]


def newest(folder: Path) -> tuple[int, int]:
    """Examples learned by the newest sound checkpoint, and how many are torn."""
    learned, torn = 0, 0
    for path in sorted(folder.glob("checkpoint-*.bear")):
        try:
            learned = load(path).counters["examples"]
        except BearError:
            torn += 1
    return learned, torn


def random_kills(folder: Path, kills: int, deadline: float, seed: int = 0) -> dict[str, Any]:
    """Kill after uniform random delays, chained; after each kill a copy is run to its end."""
    rng = np.random.default_rng(seed)
    path = data.write(folder / "kills.vw", 15_000, 15, 1 << 40, names=True)
    begun = time.monotonic()
    expected = finish(path, folder / "straight", folder / "straight.bear")
    whole = time.monotonic() - begun
    found = {"kills": 0, "torn": 0, "lost_beyond_interval": 0, "equal": 0, "deepest": 0}
    found |= {"most_examples_lost": 0}
    depth, state = 0, folder / "chain"
    while found["kills"] < kills and time.monotonic() < deadline:
        output = folder / "chain.bear"
        output.unlink(missing_ok=True)
        process = start(path, state, output)
        time.sleep(float(rng.uniform(0.2 * whole, 1.05 * whole)))
        process.kill()
        told, _ = process.communicate()
        if process.returncode == 0 or output.exists():  # its model was written before the kill
            found["torn"] += sha256(output) != expected
            shutil.rmtree(state)
            depth = 0
            continue
        depth += 1
        reached = max((int(line) for line in told.split(b"\n")[:-1]), default=0)
        learned, torn = newest(state) if state.exists() else (0, 0)
        lost = max(reached - learned, 0)
        found["kills"] += 1
        found["torn"] += torn
        found["lost_beyond_interval"] += lost > EVERY + ROWS
        found["most_examples_lost"] = max(found["most_examples_lost"], lost)
        found["deepest"] = max(found["deepest"], depth)
        with tempfile.TemporaryDirectory(dir=folder) as copy:
            if state.exists():
                shutil.copytree(state, Path(copy) / "c")
            found["equal"] += finish(path, Path(copy) / "c", Path(copy) / "m.bear") == expected
    return {**found, "interval": EVERY, "seconds_of_a_run": round(whole, 2)}
