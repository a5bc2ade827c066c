"""Faults at every system call of writing a checkpoint and a model, injected by strace."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from bearsketch import load
from bearsketch.exceptions import BearError
from reliability import data
from reliability.process import command, good, sha256

CALLS = ("openat", "write", "fsync", "close", "rename", "unlink", "fchmod", "flock")
TRACED = ",".join(CALLS)
THIRD = "checkpoint-00000003.bear"  # the first that makes an older one be deleted


class Point(NamedTuple):
    """The n-th call of one name by the main thread, and what it was for."""

    call: str
    n: int
    line: str


def arguments(folder: Path) -> list[str]:
    options = ["--memory", "16KiB", "--checkpoint", folder / "c", "--checkpoint-every", 2000]
    return command("train", folder / "d.vw", "-o", folder / "m.bear", "-q", "--resume", *options)


def fresh(folder: Path) -> None:
    shutil.rmtree(folder / "c", ignore_errors=True)
    (folder / "m.bear").unlink(missing_ok=True)


def trace(folder: Path, *inject: str) -> tuple[int, str]:
    """Run under strace; its exit code (negative: killed) and the log of calls."""
    log = folder / "strace.log"
    ran = subprocess.run(
        [
            *("strace", "-f", "-y", "-qq", "-o", log),
            "-e",
            f"trace={TRACED}",
            *inject,
            *arguments(folder),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return ran.returncode, log.read_text() + ran.stderr


def points(folder: Path) -> list[Point]:
    """Calls that write the third checkpoint and the model, by their number."""
    fresh(folder)
    code, log = trace(folder)
    assert code == 0, log[-2000:]
    lines = [line for line in log.splitlines() if re.match(r"\d+\s", line)]
    main = lines[0].split()[0]
    counts: Counter[str] = Counter()
    found, inside = [], False
    for line in lines:
        thread, _, rest = line.partition(" ")
        call = re.match(r"\s*(\w+)\(", rest)
        if thread != main or call is None:
            continue
        counts[call[1]] += 1
        # From the temporary file of one to the end of what follows on it in the folder.
        if f".{THIRD}." in rest or ".m.bear." in rest:
            inside = True
        if inside and str(folder) in rest:
            found.append(Point(call[1], counts[call[1]], rest.strip()))
        if inside and (f"checkpoint-{1:08d}.bear" in rest or "checkpoint-00000004" in rest):
            inside = ".m.bear." in rest
    return found


def sound(folder: Path) -> bool:
    """Whether every checkpoint with a final name is whole, and so is the model."""
    files = [*(folder / "c").glob("checkpoint-*.bear"), *folder.glob("m.bear")]
    try:
        for path in files:
            load(path)
    except BearError:
        return False
    return True


def strays(folder: Path) -> list[str]:
    return [path.name for path in (*folder.glob(".*.tmp"), *folder.glob("c/.*.tmp"))]


def kill_points(folder: Path, deadline: float) -> dict[str, Any]:
    """Kill at each call; then what is there is sound, and resuming gives the same bytes."""
    expected = prepare(folder)
    every = points(folder)
    found = {"points": len(every), "tried": 0, "intact": 0, "equal": 0, "strays_after_resume": 0}
    for point in every:
        if time.monotonic() > deadline:
            break
        fresh(folder)
        code, log = trace(folder, "-e", f"inject={point.call}:signal=KILL:when={point.n}")
        if code == 0 or "+++ killed by SIGKILL" not in log:
            raise RuntimeError(f"{point} was not hit")
        found["tried"] += 1
        found["intact"] += sound(folder)
        subprocess.run(arguments(folder), check=True, capture_output=True, stdin=subprocess.DEVNULL)
        found["equal"] += sha256(folder / "m.bear") == expected
        found["strays_after_resume"] += len(strays(folder))
    return found


# What may fail in writing, and how; + is from then on.
ERRORS = [
    ("write", "ENOSPC", ""),
    ("write", "EIO", ""),
    ("write", "ENOSPC", "+"),
    ("fsync", "EIO", ""),
    ("fsync", "EIO", "+"),
    ("fsync", "ENOSPC", ""),
    ("rename", "EIO", ""),
    ("rename", "ENOSPC", ""),
    ("openat", "ENOSPC", ""),
    ("openat", "EIO", ""),
    ("close", "EIO", ""),
]


def error_points(folder: Path, deadline: float) -> dict[str, Any]:
    """Errors at each call: exit code 4, the older checkpoints sound, nothing left behind."""
    expected = prepare(folder)
    every = points(folder)
    found = {"points": 0, "exit_4": 0, "intact": 0, "no_stray": 0, "equal_after_resume": 0}
    wrong = []
    for call, error, sticky in ERRORS:
        for point in every:
            # A folder that was only listed may be closed with an error: nothing depends on it.
            if call == "close" and ".tmp>" not in point.line:
                continue
            if point.call != call or time.monotonic() > deadline:
                continue
            fresh(folder)
            when = f"inject={call}:error={error}:when={point.n}{sticky}"
            code, _ = trace(folder, "-e", when)
            found["points"] += 1
            found["exit_4"] += code == 4
            found["intact"] += sound(folder)
            found["no_stray"] += not strays(folder)
            if code != 4 or strays(folder):
                wrong.append(f"{when}: code {code}, {strays(folder)}, {point.line[:150]}")
            subprocess.run(
                arguments(folder), check=True, capture_output=True, stdin=subprocess.DEVNULL
            )
            found["equal_after_resume"] += sha256(folder / "m.bear") == expected
    return {**found, "wrong": wrong}


def prepare(folder: Path) -> str:
    """Data, and the hash of the model of an undisturbed run."""
    data.write(folder / "d.vw", 12_000, 8, 1 << 40, names=True)
    good("train", folder / "d.vw", "-o", folder / "m.bear", "-q", "--memory", "16KiB")
    return sha256(folder / "m.bear")
