"""The reference of the command line, written from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from bearsketch.cli.app import make_app
from bearsketch.error_codes import ERROR_CODES, EXIT_CODES, WARNING_CODES
from bearsketch.reading.options import TABLE

HEAD = """# Commands

Data goes to standard output, all else to standard error. `bearsketch COMMAND --help` shows the same
as this page, and `bearsketch train --help` the options used most: `--help-all` has all of them.

"""


OPTIONS_HEAD = """# Reading options

Keyword arguments of `open_stream` and `fit_stream`, and options of the commands that read data. An
option that means nothing for the format of the data is refused. A model remembers those marked,
and later data is read alike; those in italics make other features of the same data, so that a model
refuses other values.

"""
CODES_HEAD = """# Errors, warnings and exit codes

All codes are stable. Messages go to standard error:

    error[CODE] FILE:LINE:COLUMN: what is wrong
      what to do
    warning[CODE] what was found, and what to do

In Python an error is a `bearsketch.BearError` with `code`, `message` and `hint`, and a warning a
`UserWarning` that ends with its code.

"""


def commands() -> dict[str, Any]:
    """Commands by name."""
    top: Any = typer.main.get_command(make_app())
    return dict(top.commands)


def write(path: Path) -> None:
    """Write the page, unless it stands there already."""
    text = HEAD + "\n".join(page(name, command) for name, command in commands().items())
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_tables(folder: Path) -> None:
    """Write the pages of the tables: reading options, error codes and exit codes."""
    exits = _table("| Exit code | |", ((f"{n}", text) for n, text in EXIT_CODES.items()))
    errors = ((f"`{code}`", *map(str, row)) for code, row in ERROR_CODES.items())
    warned = ((f"`{code}`", *row) for code, row in WARNING_CODES.items())
    rows = [
        "## Exit codes\n",
        exits,
        "## Errors\n",
        _table("| Code | Exit | Meaning | Do |", errors),
        "## Warnings\n",
        _table("| Code | Meaning | Do |", warned),
    ]
    pages = {
        "reading-options.md": OPTIONS_HEAD + _options(),
        "codes.md": CODES_HEAD + "\n".join(rows),
        "exit-codes.md": exits,
    }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, "|" + "---|" * (head.count("|") - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def _options() -> str:
    lines = ["| Option | Command | Formats | Remembered | |", "|---|---|---|---|---|"]
    for row in TABLE.values():
        name = f"*`{row.name}`*" if row.fixed else f"`{row.name}`"
        flag = f"`{row.flag}`" if row.help else ""
        formats = ", ".join(row.formats) or "all"
        told = row.doc.replace("``", "`").replace("|", "\\|")
        default = f" Default: `{row.default!r}`." if "Default:" not in told else ""
        remembered = "yes" if row.remembered else ""
        lines.append(f"| {name} | {flag} | {formats} | {remembered} | {told}{default} |")
    return "\n".join(lines) + "\n"


def page(name: str, command: Any) -> str:
    """Section of one command: what it does, examples, arguments and options."""
    parts = [f"## {name}\n", _usage(name, command), _help(command)]
    panels: dict[str, list[Any]] = {}
    for parameter in command.params:
        panel = getattr(parameter, "rich_help_panel", None)
        kind = "Arguments" if parameter.param_type_name == "argument" else panel or "Options"
        panels.setdefault(kind, []).append(parameter)
    for panel, parameters in panels.items():
        rows = [f"| `{_shown(p)}` | {_told(p)} |" for p in parameters]
        parts.append("\n".join([f"| {panel} | |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _usage(name: str, command: Any) -> str:
    arguments = [_shown(p) for p in command.params if p.param_type_name == "argument"]
    required = [
        f"{p.opts[-1]} {p.metavar or p.name.upper()}"
        for p in command.params
        if p.param_type_name == "option" and p.required
    ]
    words = ["bearsketch", name, *arguments, *required, "[OPTIONS]"]
    return f"```sh\n{' '.join(words)}\n```\n"


def _help(command: Any) -> str:
    text = inspect.cleandoc(command.help or "")
    examples = [f"{line[1:-1]}" for line in text.splitlines() if re.fullmatch(r"`.*`", line)]
    told = [line for line in text.splitlines() if not re.fullmatch(r"`.*`|\*\*Examples\*\*", line)]
    shown = "\n".join(examples)
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(told)).strip()
    return f"{body}\n\n" + (f"```sh\n{shown}\n```\n" if shown else "")


def _shown(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return names
    return f"{names} {parameter.metavar or parameter.type.name.upper()}".replace("|", "\\|")


def _told(parameter: Any) -> str:
    text = (getattr(parameter, "help", None) or "").replace("\\[", "[").replace("|", "\\|")
    default = parameter.default
    shown = parameter.param_type_name == "option" and parameter.show_default is not False
    if shown and default not in (None, False, True, ()) and not callable(default):
        text += f" [{default}]"
    return text.replace("*", "\\*")
