"""The whole campaign within a budget of seconds: ``make reliability BUDGET=1800``.

Writes reliability.json and the figures of docs/explanation/reliability.md. Parts that do not fit
run as far as they get: every figure says how many were tried.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bearsketch import __version__
from reliability import determinism, files, fuzz, kills, memory, page, syscalls, targets

# How what is left of the budget is divided among the parts that can do less; the others come first
# and take what they need, about five minutes.
SHARES = {"files": 1, "syscalls": 5, "kills": 7, "fuzz": 3, "long_fuzz": 1}
KILLS = 200
EDITS = 100_000
FUZZ_RUNS = 1_000_000


def memory_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    exponents = (4, 5) if small else (4, 5, 6, 7)
    return {
        "over_p": memory.over_p(folder, 5_000 if small else 20_000),
        "over_n": memory.over_n(folder, exponents),
        "formula": memory.grid(folder, memory.GRID[:3] if small else memory.GRID),
        "cap": memory.hard_cap(folder),
    }


def kills_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    return kills.random_kills(folder, 5 if small else KILLS, deadline)


def syscalls_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    if shutil.which("strace") is None:
        return {"left_out": "strace is not installed"}
    half = time.monotonic() + (deadline - time.monotonic()) * 0.35
    return {
        "kills": syscalls.kill_points(folder, half),
        "errors": syscalls.error_points(folder, deadline),
    }


def files_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    sound = {"model": files.small_model(), "checkpoint": files.small_checkpoint(folder / "c")}
    for name, data in sound.items():
        found[name] = files.cuts_and_flips(data)
        found[name] |= files.random_edits(data, 1000 if small else EDITS, deadline)
    return found


def fuzz_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    names = [*fuzz.NATIVE, *targets.PYTHON, *targets.SLOW]
    for done, name in enumerate(names):
        seconds = (deadline - time.monotonic()) / (len(names) - done)
        found[name] = fuzz.one(name, 1000 if small else FUZZ_RUNS, max(seconds, 1.0))
    return found


def long_fuzz_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    """A million executions of each target, one after the other."""
    return {
        name: fuzz.one(name, FUZZ_RUNS, max(deadline - time.monotonic(), 1.0))
        for name in (*fuzz.NATIVE, *targets.PYTHON)
    }


def determinism_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    return determinism.hashes(folder)


PARTS: dict[str, Callable[[Path, float, bool], dict[str, Any]]] = {
    "determinism": determinism_part,
    "memory": memory_part,
    "files": files_part,
    "syscalls": syscalls_part,
    "kills": kills_part,
    "fuzz": fuzz_part,
    "long_fuzz": long_fuzz_part,
}
CAMPAIGN = [name for name in PARTS if name != "long_fuzz"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", type=float, default=1800.0, help="seconds in all")
    parser.add_argument("--parts", default=",".join(CAMPAIGN), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--small", action="store_true", help="a few of each, to try the campaign")
    parser.add_argument("--out", type=Path, default=Path("reliability.json"))
    given = parser.parse_args()
    results: dict[str, Any] = json.loads(given.out.read_text()) if given.out.exists() else {}
    results["about"] = {
        "version": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    chosen = given.parts.split(",")
    end = time.monotonic() + given.budget
    for i, name in enumerate(chosen):
        begun = time.monotonic()
        shares = [SHARES.get(other, 0) for other in chosen[i:]]
        part = shares[0] / sum(shares) if shares[0] else 1.0
        deadline = begun + max(end - begun, 0.0) * part
        with tempfile.TemporaryDirectory(prefix="bearsketch-") as folder:
            results[name] = PARTS[name](Path(folder), deadline, given.small)
        results[name]["seconds_taken"] = round(time.monotonic() - begun, 1)
        print(f"{name}: {json.dumps(results[name])[:300]}", flush=True)
        given.out.write_text(json.dumps(results, indent=1) + "\n")
    failures = page.failures(results)
    for failure in failures:
        print(f"FAILED {failure}")
    page.write(results)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
