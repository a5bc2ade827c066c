"""The command as a process of its own, measured from inside."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Linux keeps the peak of resident and of virtual memory; read when the command is over, as the
# peak of a child that a large parent started would not be its own.
WRAPPER = """
import atexit, sys
def tell():
    found = dict(line.split(":", 1) for line in open("/proc/self/status"))
    peaks = [int(found[name].split()[0]) * 1024 for name in ("VmHWM", "VmPeak")]
    print("PEAKS", *peaks, file=sys.stderr)
atexit.register(tell)
from bearsketch.cli.start import main
main()
"""


@dataclass(frozen=True)
class Ran:
    """How a command ended, and the peaks of its memory in bytes."""

    code: int
    out: str
    err: str
    rss: int = 0
    virtual: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(*arguments: Any) -> list[str]:
    return [sys.executable, "-c", WRAPPER, *map(str, arguments)]


def run(*arguments: Any, **options: Any) -> Ran:
    """Run ``bearsketch`` with these arguments to its end."""
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, timeout=3600, **options
    )
    rss = virtual = 0
    for line in done.stderr.splitlines():
        if line.startswith("PEAKS "):
            rss, virtual = map(int, line.split()[1:])
    return Ran(done.returncode, done.stdout, done.stderr, rss, virtual)


def good(*arguments: Any, **options: Any) -> Ran:
    done = run(*arguments, **options)
    if done.code != 0:
        raise RuntimeError(f"{arguments} ended with {done.code}: {done.err[-2000:]}")
    return done


def sha256(path: str | os.PathLike[str]) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
