"""The whole campaign within a budget of seconds: ``make reliability BUDGET=1800``.

Writes reliability.json and the figures of docs/reliability.md. Parts that do not fit are run as far
as they come: every figure says how many were tried.
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
from reliability import determinism, files, fuzz, kills, memory, page, syscalls

# Share of the budget that each part may take at most.
SHARES = {"memory": 0.25, "kills": 0.3, "syscalls": 0.2, "files": 0.05, "fuzz": 0.35}
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
    targets = [*fuzz.NATIVE, *fuzz.PYTHON]
    for done, target in enumerate(targets):
        seconds = (deadline - time.monotonic()) / (len(targets) - done)
        runs = 1000 if small else FUZZ_RUNS
        if target in fuzz.PYTHON:
            until = time.monotonic() + seconds
            found[target] = fuzz.loop(fuzz.PYTHON[target], runs, until, seed=0)
        elif Path(f"build/fuzz/fuzz/fuzz_{target}").exists():
            found[target] = fuzz.native(target, runs, max(int(seconds), 1))
        else:
            found[target] = {"left_out": "not built: make fuzz"}
    return found


def determinism_part(folder: Path, deadline: float, small: bool) -> dict[str, Any]:
    return determinism.hashes(folder)


PARTS: dict[str, Callable[[Path, float, bool], dict[str, Any]]] = {
    "determinism": determinism_part,
    "files": files_part,
    "memory": memory_part,
    "syscalls": syscalls_part,
    "kills": kills_part,
    "fuzz": fuzz_part,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", type=float, default=1800.0, help="seconds in all")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of them, between commas")
    parser.add_argument("--small", action="store_true", help="a few of each, to try the campaign")
    parser.add_argument("--out", type=Path, default=Path("reliability.json"))
    given = parser.parse_args()
    results: dict[str, Any] = json.loads(given.out.read_text()) if given.out.exists() else {}
    results["about"] = {
        "version": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    for name in given.parts.split(","):
        begun = time.monotonic()
        deadline = begun + given.budget * SHARES.get(name, 1.0)
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
