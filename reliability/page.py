"""Writes the figures of docs/explanation/reliability.md, and says which of them are failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path("docs/explanation/reliability.md")
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
MIB = 1 << 20
SPREAD = 2 * MIB
SLOW = {
    "merge": "two random parts averaged in either order: the same weights; of two seeds: refused",
    "whole_run": "whole runs on lines with edits: a finite model, or an error that is documented",
}


def failures(results: dict[str, Any]) -> list[str]:
    """Everything that a release must not have."""
    return [what for what, holds in _checks(results) if not holds]


def _checks(results: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    for name, check in _CHECKS.items():
        if name in results:
            yield from check(results[name])


def _kills(found: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    yield "torn checkpoints", found["torn"] == 0
    yield "work lost beyond one interval", found["lost_beyond_interval"] == 0
    yield "resumed models that differ", found["equal"] == found["kills"]


def _syscalls(both: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    found = both.get("kills")
    if found is None:
        return
    yield "checkpoints torn at a system call", found["intact"] == found["tried"]
    yield "models that differ after such a kill", found["equal"] == found["tried"]
    yield "temporary files left", found["strays_after_resume"] == 0
    for name in ("exit_4", "intact", "no_stray", "equal_after_resume"):
        yield f"errors at system calls: {name}", both["errors"][name] == both["errors"]["points"]


def _files(both: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    for name in ("model", "checkpoint"):
        for what in ("cuts", "flips", "edits"):
            refused = both[name][f"{what}_refused"]
            yield f"{name}: {what} undetected", both[name][what] == refused


def _memory_checks(found: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    yield "peak over p", found["over_p"]["spread"] <= SPREAD
    yield "peak over n", found["over_n"]["spread"] <= SPREAD
    for cell in found["formula"]:
        yield f"formula: {cell['cell']}", cell["measured"] <= cell["predicted"]
    for name in ("completes_under_limit", "same_model", "refused_before_start"):
        yield f"cap: {name}", found["cap"][name]


def _fuzz(targets: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    for target, found in targets.items():
        if isinstance(found, dict) and "crashes" in found:
            yield f"fuzz {target}", found["crashes"] == 0


_CHECKS = {
    "kills": _kills,
    "syscalls": _syscalls,
    "determinism": lambda found: [("one hash", found["distinct"] == 1)],
    "files": _files,
    "memory": _memory_checks,
    "fuzz": _fuzz,
    "long_fuzz": _fuzz,
}


def write(results: dict[str, Any]) -> None:
    """Put the figures between the marks of the page."""
    text = PAGE.read_text()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    figures = "\n\n".join(_figures(results))
    PAGE.write_text(f"{text[:start]}\n\n{figures}\n\n{text[end:]}")


def _table(head: list[str], rows: list[list[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _mib(n: int) -> str:
    return f"{n / MIB:.1f}"


def _figures(results: dict[str, Any]) -> Iterator[str]:
    about = results["about"]
    yield (
        f"bearsketch {about['version']}, Python {about['python']}, {about['system']}, shared with "
        "other work while this ran."
    )
    yield _table(["what", "tried", "held"], list(_counts(results)))
    if "memory" in results:
        yield from _memory(results["memory"])
    if "fuzz" in results or "long_fuzz" in results:
        yield "### Fuzzing"
        yield _table(["target", "executions", "minutes", "crashes"], list(_fuzz_rows(results)))


def _fuzz_rows(results: dict[str, Any]) -> Iterator[list[Any]]:
    """Of each target, the long run where there is one, else that of the campaign."""
    targets = {**results.get("fuzz", {}), **results.get("long_fuzz", {})}
    for name, found in targets.items():
        if isinstance(found, dict) and "executions" in found and name not in SLOW:
            minutes = round(found["seconds"] / 60, 1)
            yield [f"`{name}`", f"{found['executions']:,}", minutes, found["crashes"]]


def _counts(results: dict[str, Any]) -> Iterator[list[Any]]:
    """What was tried and how often it held, in the order of the page."""
    if "kills" in results:
        yield from _kill_rows(results["kills"])
    if "kills" in results.get("syscalls", {}):
        yield from _call_rows(results["syscalls"])
    if "determinism" in results:
        found = results["determinism"]
        same = found["runs"] if found["distinct"] == 1 else 0
        what = "threads 1, 2, 4 x compressions and sizes of chunks: one hash"
        yield _row(what, found["runs"], same)
    for name, what in SLOW.items():
        if name in results.get("fuzz", {}):
            found = results["fuzz"][name]
            yield _row(what, found["executions"], found["executions"] - found["crashes"])
    yield from _file_rows(results.get("files", {}))


def _row(what: str, tried: int, held: int) -> list[Any]:
    return [what, f"{tried:,}", f"{held:,}"]


def _kill_rows(found: dict[str, Any]) -> Iterator[list[Any]]:
    n = found["kills"]
    yield _row("random SIGKILLs: no checkpoint torn", n, n - found["torn"])
    yield _row(
        f"... no more than an interval lost ({found['interval']:,} examples and a batch; most "
        f"{found['most_examples_lost']:,})",
        n,
        n - found["lost_beyond_interval"],
    )
    yield _row("... resumed to the same model, byte for byte", n, found["equal"])


def _call_rows(calls: dict[str, Any]) -> Iterator[list[Any]]:
    found = calls["kills"]
    yield _row(
        f"SIGKILL at a system call of writing a checkpoint or the model, {found['points']} "
        "calls: nothing torn",
        found["tried"],
        found["intact"],
    )
    yield _row("... resumed to the same model", found["tried"], found["equal"])
    names = {
        "exit_4": "ENOSPC or EIO at write, fsync, rename, open or close: exit code 4",
        "intact": "... older checkpoints intact",
        "no_stray": "... nothing left behind",
        "equal_after_resume": "... resumed to the same model",
    }
    for name, what in names.items():
        yield _row(what, calls["errors"]["points"], calls["errors"][name])


def _file_rows(files: dict[str, Any]) -> Iterator[list[Any]]:
    titles = {"cuts": "lengths", "flips": "flipped bits", "edits": "random edits"}
    for name, found in files.items():
        for what, title in titles.items() if isinstance(found, dict) else ():
            text = f"{name} file of {found['bytes']:,} bytes, {title}: refused"
            yield _row(text, found[what], found[f"{what}_refused"])


def _memory(found: dict[str, Any]) -> Iterator[str]:
    yield "### Peak of resident memory, in MiB"
    over_p, over_n = found["over_p"], found["over_n"]
    head = ["possible features", *over_p["peaks"], "spread"]
    yield _table(head, [["peak", *map(_mib, over_p["peaks"].values()), _mib(over_p["spread"])]])
    head = ["examples, from a pipe", *over_n["peaks"], "spread"]
    yield _table(head, [["peak", *map(_mib, over_n["peaks"].values()), _mib(over_n["spread"])]])
    rows = [
        [cell["cell"], _mib(cell["measured"]), _mib(cell["predicted"]), cell["share"]]
        for cell in found["formula"]
    ]
    yield _table(["run", "measured", "formula", "share"], rows)
    cap = found["cap"]
    whole = cap["completes_under_limit"] and cap["same_model"]
    yield (
        f"A run of {_mib(cap['measured'])} MiB (formula {_mib(cap['predicted'])}) under `ulimit -v`"
        " of the address space a process has before it trains, the formula's growth and a tenth "
        f"({_mib(cap['address_space_limit'])} MiB in all): "
        f"{'completes, with the same model' if whole else 'fails'}. "
        "With `--max-memory` below the formula it is "
        f"{'refused before it starts' if cap['refused_before_start'] else 'not refused'}."
    )
