"""``python -m experiments`` in a process of its own, from the root of the repository."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import REPOSITORY

COMMAND = [sys.executable, "-m", "experiments"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def run(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; text in and out."""
    return subprocess.run(
        [*COMMAND, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=240,
        env=ENVIRONMENT,
        check=False,
        **options,
    )
