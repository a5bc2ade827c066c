"""The reference of the command line, written from the commands themselves."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import typer

from bearsketch.cli.app import make_app

HEAD = """# Commands

Data goes to standard output, all else to standard error. `bearsketch COMMAND --help` shows the same
as this page.

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
