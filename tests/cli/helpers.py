"""The command line as a user runs it: the real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).parent / "bearsketch")
ENVIRONMENT = {**os.environ, "PYTHONWARNINGS": "default", "COLUMNS": "100"}


def bearsketch(
    *arguments: Any,
    input: bytes | str | None = None,
    environment: dict[str, str] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; text in and out."""
    data = input.encode() if isinstance(input, str) else input
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        input=data,
        capture_output=True,
        env={**ENVIRONMENT, **(environment or {})},
        check=False,
        timeout=120,
        **({} if input is not None else {"stdin": subprocess.DEVNULL}),
        **options,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def good(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed."""
    done = bearsketch(*arguments, **options)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done


def result(*arguments: Any, **options: Any) -> Any:
    """Run a command with --json and give what it printed."""
    return json.loads(good(*arguments, "--json", **options).stdout)


def spam_lines(n: int = 600) -> str:
    """VW lines of two classes that three words tell apart, with tags."""
    lines = []
    for i in range(n):
        spam = i % 2
        word = ("prize", "meeting")[1 - spam]
        lines.append(f"{spam} 'mail{i}|w {word} filler{i % 17} noise{i % 29}")
    return "\n".join(lines) + "\n"
