"""The ``bearsketch`` command: one file per subcommand, imported when asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from bearsketch.cli.guard import guarded, open_standard_files
from bearsketch.cli.help import ALL, write_group_help, write_help

COMMANDS = (
    "train",
    "predict",
    "evaluate",
    "features",
    "info",
    "merge",
    "export",
    "report",
    "plan",
    "demo",
)


class Command(TyperCommand):
    """A subcommand that, for an option it does not have, names those with the same word.

    Its ``--help`` shows the options that it calls brief, and ``--help-all`` every one.
    """

    @property
    def brief(self) -> tuple[str, ...]:
        """Parameters that ``--help`` shows; empty for all of them."""
        found: tuple[str, ...] = getattr(self.callback, "brief", ())
        return found

    def get_params(self, ctx: Any) -> list[Any]:
        """Options, with that of the whole help where there is a short one."""
        more = [] if not self.brief else [_show_all_option()]
        return [*super().get_params(ctx), *more]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(write_help(self, ctx.command_path, everything=False))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            given = getattr(error, "option_name", None)
            if given and hasattr(error, "possibilities"):
                error.possibilities = options_like(given, self.params) or error.possibilities
            raise


class Group(TyperGroup):
    """The command itself, with its subcommands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(write_group_help(self, ctx.command_path))


def _show_all_option() -> TyperOption:
    def show(ctx: Any, parameter: Any, wanted: bool) -> None:
        if wanted:
            print(write_help(ctx.command, ctx.command_path, everything=True), end="")
            ctx.exit()

    return TyperOption(
        param_decls=[ALL],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show every option, in groups.",
    )


def options_like(given: str, parameters: list[Any]) -> list[str]:
    """Options that begin with what was given, or have it as one of their words."""
    names = [name for parameter in parameters for name in parameter.opts]
    word = given.lstrip("-")
    return [name for name in names if name.startswith(given) or word in name.split("-")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from bearsketch import __version__

        print(f"bearsketch {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the k most predictive features by name, in one pass, in a memory budget."""


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Make the command with these of its subcommands, which are imported here."""
    app = typer.Typer(
        name="bearsketch",
        cls=Group,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=root,
    )
    for name in names:
        command = getattr(importlib.import_module(f"bearsketch.cli.{name}"), name)
        app.command(cls=Command)(guarded(command))
    return app


def main() -> None:
    """Run the command: of its subcommands only the one asked for, which starts it sooner."""
    open_standard_files()
    make_app([name for name in COMMANDS if name in sys.argv[1:2]] or COMMANDS)()
