"""The ``bearsketch`` command: one file per subcommand, registered here."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from bearsketch.cli.datasets import datasets
from bearsketch.cli.demo import demo
from bearsketch.cli.evaluate import evaluate
from bearsketch.cli.export import export
from bearsketch.cli.features import features
from bearsketch.cli.guard import guarded, open_standard_files
from bearsketch.cli.info import info
from bearsketch.cli.merge import merge
from bearsketch.cli.plan import plan
from bearsketch.cli.predict import predict
from bearsketch.cli.report import report
from bearsketch.cli.reproduce import reproduce
from bearsketch.cli.simulate import simulate
from bearsketch.cli.train import train


class Command(TyperCommand):
    """A subcommand that, for an option it does not have, names those with the same word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            given = getattr(error, "option_name", None)
            if given and hasattr(error, "possibilities"):
                error.possibilities = options_like(given, self.params) or error.possibilities
            raise


def options_like(given: str, parameters: list[Any]) -> list[str]:
    """Options that begin with what was given, or have it as one of their words."""
    names = [name for parameter in parameters for name in parameter.opts]
    word = given.lstrip("-")
    return [name for name in names if name.startswith(given) or word in name.split("-")]


app = typer.Typer(
    name="bearsketch",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    train,
    predict,
    evaluate,
    features,
    info,
    merge,
    export,
    report,
    plan,
    simulate,
    reproduce,
    demo,
)
for command in COMMANDS:
    app.command(cls=Command)(guarded(command))
app.add_typer(datasets)


def _show_version(wanted: bool) -> None:
    if wanted:
        from bearsketch import __version__

        print(f"bearsketch {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the k most predictive features by name, in one pass, in a memory budget."""


def main() -> None:
    """Run the command."""
    open_standard_files()
    app()
