"""Text files that say what a command prints: read, run, compare, record anew.

A case is a file ``NAME.txt`` in this folder. It runs in an empty folder of its own::

    Lines at the margin are remarks.

        > shop.csv
        size,label
        3,yes

        > many.vw for i in 100
        {i % 2} | word{i}

        > odd.vw escaped
        1 | a\\x00b\\n

        $ bearsketch train shop.csv -o shop.bear --label-column sold
        what goes to standard output
        ! what goes to standard error
        = 3

``>`` writes a file: the lines as they stand; with ``for``, each line as an f-string for each ``i``;
with ``escaped``, escapes are bytes, and lines end only where it says ``\\n``. ``$`` runs a command
(with pipes, through the shell) and is followed by what it prints, and by ``=`` and its exit code
where that is not 0. In what is expected, ``...`` stands for anything within a line, and on a line
of its own for any lines. Blank lines do not count.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.helpers import ENVIRONMENT, bearsketch
from tests.conftest import REPOSITORY

FOLDER = Path(__file__).parent
INDENT = "    "
SHELL = {"|", "||", "&&", ";", "2>", "2>&1", ">>", "<<", "<&-", "1>"}
# What differs from run to run or from machine to machine, and is never recorded.
VOLATILE = (
    (r"in \d+\.\d s \([\d,]+/s\)", "in ..."),
    (r"(peak memory|process peak) +\d.*$", r"\1 ..."),
    (r"\d+ files? read, .*$", "..."),
    (r'"(seconds|rows_per_second|peak_rss_bytes)": [\d.]+', r'"\1": ...'),
)


@dataclass
class Block:
    """Some lines of a case: remarks, a file, or a command with what it should print."""

    kind: str  # "remark", "file" or "command"
    head: str
    lines: list[str] = field(default_factory=list)


def parse(text: str) -> list[Block]:
    """Blocks of a case."""
    blocks = [Block("remark", "")]
    for line in text.splitlines():
        body = line.removeprefix(INDENT)
        if line.startswith(INDENT) and body[:2] in ("> ", "$ "):
            blocks.append(Block("file" if body[0] == ">" else "command", body[2:]))
        elif line.startswith(INDENT) and blocks[-1].kind != "remark":
            blocks[-1].lines.append(body)
        elif line.strip():
            if blocks[-1].kind != "remark":
                blocks.append(Block("remark", ""))
            blocks[-1].lines.append(line)
    return [block for block in blocks if block.head or block.lines]


def render(blocks: list[Block]) -> str:
    """Text of a case."""
    parts = []
    for block in blocks:
        if block.kind == "remark":
            parts.append("\n".join(block.lines))
        else:
            sign = ">" if block.kind == "file" else "$"
            parts.append(
                "\n".join(INDENT + line for line in (f"{sign} {block.head}", *block.lines))
            )
    return "\n\n".join(parts) + "\n"


def write(block: Block, folder: Path) -> None:
    """Write the file of a block."""
    name, _, how = block.head.partition(" ")
    if how == "escaped":
        data = "".join(block.lines).encode().decode("unicode_escape").encode("latin-1")
    elif how:
        times = re.fullmatch(r"for i in (\d+)", how)
        assert times, f"{how!r} should be: for i in NUMBER"
        code = [compile(f"f{line!r}", name, "eval") for line in block.lines]
        rows = (eval(one, {"i": i}) for i in range(int(times[1])) for one in code)
        data = "".join(f"{row}\n" for row in rows).encode()
    else:
        data = "".join(f"{line}\n" for line in block.lines).encode()
    (folder / name).write_bytes(data)


def execute(line: str, folder: Path) -> list[str]:
    """Run a command: what it prints, and its exit code where that is not 0."""
    words = shlex.split(line)
    if words[0] == "bearsketch" and not SHELL & set(words):
        source = _redirected(words, "<")
        target = _redirected(words, ">")
        data = (folder / source).read_bytes() if source else None
        done = bearsketch(*words[1:], input=data, cwd=folder)
        if target:
            (folder / target).write_text(done.stdout)
            done.stdout = ""
    else:
        place = Path(sys.executable).parent
        path = {"PATH": f"{place}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=folder,
            env={**ENVIRONMENT, **path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    lines = [row.rstrip() for row in done.stdout.splitlines() if row.strip()]
    lines += [f"! {row.rstrip()}" for row in done.stderr.splitlines() if row.strip()]
    return lines + ([f"= {done.returncode}"] if done.returncode else [])


def _redirected(words: list[str], sign: str) -> str:
    if sign not in words:
        return ""
    at = words.index(sign)
    name = words[at + 1]
    del words[at : at + 2]
    return name


def fits(wanted: list[str], got: list[str]) -> bool:
    """Whether lines are as expected."""
    parts = [
        r"(?:.*\n)*?" if line == "..." else _pattern(line) + r"\n"
        for line in wanted
        if line.strip()
    ]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in got)) is not None


def _pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.rstrip().split("..."))


def recorded(wanted: list[str], got: list[str]) -> list[str]:
    """What to expect from now on: what was printed, with the ellipses that still fit."""
    new = [_recorded_line(wanted, line) for line in got]
    if "..." not in wanted:
        return new
    kept = [line for line in wanted if line != "..."]
    close = [bool(difflib.get_close_matches(line, kept, 1, 0.7)) for line in new]
    if not any(close):
        return new
    shorter: list[str] = []
    for line, keep in zip(new, close, strict=True):
        if keep:
            shorter.append(line)
        elif shorter[-1:] != ["..."]:
            shorter.append("...")
    return shorter


def _recorded_line(wanted: list[str], line: str) -> str:
    for old in wanted:
        if "..." in old and old != "..." and re.fullmatch(_pattern(old), line):
            return old
    for volatile, instead in VOLATILE:
        line = re.sub(volatile, instead, line)
    return line


def run(text: str, folder: Path) -> str:
    """The case as it would have to be for all its commands to fit."""
    blocks = parse(text)
    for block in blocks:
        if block.kind == "file":
            write(block, folder)
        elif block.kind == "command":
            got = execute(block.head, folder)
            if not fits(block.lines, got):
                block.lines = recorded(block.lines, got)
    return render(blocks)
