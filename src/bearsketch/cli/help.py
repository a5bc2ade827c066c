"""Help: what a command does, its options in groups, and examples, as plain text."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

WIDEST = 100
_LEFT = 26  # columns of names; longer ones have a line of their own
ALL = "--help-all"

Command = TypeVar("Command", bound=Callable[..., None])


def write_help(command: Any, path: str, *, everything: bool) -> str:
    """Text of ``--help``, or with ``everything`` that of ``--help-all``.

    Parameters
    ----------
    command : click.Command
        Its ``brief`` names the parameters that ``--help`` shows; None for all of them.
    path : str
        How it is called.
    """
    width = max(60, min(shutil.get_terminal_size().columns, WIDEST))
    told, examples = _parts(inspect.cleandoc(command.help or ""))
    blocks = [_usage(command, path), *_paragraphs(told, width)]
    if everything or not command.brief:
        blocks += _groups(command.params, width, "Options")
    else:
        shown = [p for p in command.params if p.name in command.brief]
        blocks += _groups(shown, width, "Options", together=True)
    if examples:
        blocks.append("\n".join(["Examples:", *(f"  {example}" for example in examples)]))
    if command.brief and not everything:
        hidden = sum(not p.hidden for p in command.params) - len(command.brief)
        blocks.append(f"{hidden} more options: {path} {ALL}")
    return "\n\n".join(blocks) + "\n"


def write_group_help(group: Any, path: str) -> str:
    """Text of the help of a command that has commands below it."""
    width = max(60, min(shutil.get_terminal_size().columns, WIDEST))
    told, _ = _parts(inspect.cleandoc(group.help or ""))
    rows = [(name, _first_sentence(below)) for name, below in group.commands.items()]
    return "\n\n".join(
        [
            f"Usage: {path} COMMAND [OPTIONS]",
            *_paragraphs(told, width),
            _table("Commands", rows, width),
            *_groups(group.params, width, "Options"),
            f"Help for a command: {path} COMMAND --help\n",
        ]
    )


def _usage(command: Any, path: str) -> str:
    arguments = [p.metavar or p.name.upper() for p in command.params if _is_argument(p)]
    required = [
        f"{p.opts[-1]} {p.metavar or p.name.upper()}"
        for p in command.params
        if not _is_argument(p) and p.required
    ]
    return " ".join(["Usage:", path, *arguments, *required, "[OPTIONS]"])


def _parts(text: str) -> tuple[str, list[str]]:
    """Paragraphs of a docstring, and its lines of code."""
    lines = [line for line in text.splitlines() if line != "**Examples**"]
    examples = [line for line in lines if line.startswith("`")]
    told = [line for line in lines if not line.startswith("`")]
    return _plain("\n".join(told)).strip(), [example.replace("`", "") for example in examples]


def _plain(text: str) -> str:
    return re.sub(r"`|\*\*|\\(?=\[)", "", text)


def _paragraphs(text: str, width: int) -> Iterator[str]:
    for part in re.split(r"\n\s*\n", text):
        if part.strip():
            yield textwrap.fill(" ".join(part.split()), width)


def _first_sentence(command: Any) -> str:
    return _plain(inspect.cleandoc(command.help or "").split("\n\n")[0].replace("\n", " "))


def _groups(
    parameters: list[Any], width: int, title: str, *, together: bool = False
) -> Iterator[str]:
    rows: dict[str, list[tuple[str, str]]] = {}
    for p in parameters:
        if p.hidden if hasattr(p, "hidden") else False:
            continue
        panel = None if together else getattr(p, "rich_help_panel", None)
        group = "Arguments" if _is_argument(p) and not together else panel or title
        rows.setdefault(group, []).append((_spelled(p), _said(p)))
    for name, listed in rows.items():
        yield _table(name, listed, width)


def _table(title: str, rows: list[tuple[str, str]], width: int) -> str:
    lines = [f"{title}:"]
    for name, text in rows:
        wrapped = textwrap.wrap(text, width - _LEFT) or [""]
        head = f"  {name}"
        if len(head) >= _LEFT - 1:
            lines.append(head)
            head = ""
        lines.append(f"{head:{_LEFT}}{wrapped[0]}".rstrip())
        lines += [" " * _LEFT + line for line in wrapped[1:]]
    return "\n".join(lines)


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _spelled(parameter: Any) -> str:
    if _is_argument(parameter):
        return str(parameter.metavar or parameter.name.upper())
    short = sorted(parameter.opts, key=len)
    names = ", ".join(short)
    if parameter.secondary_opts:
        names += "/" + "/".join(parameter.secondary_opts)
    if parameter.is_flag:
        return names
    return f"{names} {parameter.metavar or parameter.type.name.upper()}"


def _said(parameter: Any) -> str:
    text = _plain(getattr(parameter, "help", None) or "")
    default, shows = parameter.default, getattr(parameter, "show_default", False)
    if _is_argument(parameter) or shows is False or default in (None, (), "") or callable(default):
        return text
    if parameter.is_flag:
        if not parameter.secondary_opts:
            return text
        default = (parameter.opts if default else parameter.secondary_opts)[-1]
    return f"{text} [default: {default}]"


def brief(*names: str) -> Callable[[Command], Command]:
    """Name the parameters of a command that its ``--help`` shows; the others are for ``ALL``."""

    def mark(command: Command) -> Command:
        command.brief = names  # type: ignore[attr-defined]
        return command

    return mark
