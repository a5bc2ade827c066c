"""The commands of ``python -m experiments``: arguments in, a library call out."""

from __future__ import annotations

import typer

from bearsketch.cli.app import Command
from bearsketch.cli.guard import guarded
from experiments.commands.datasets import datasets
from experiments.commands.reproduce import reproduce
from experiments.commands.simulate import simulate


def make_app() -> typer.Typer:
    """Make the app with all its commands."""
    app = typer.Typer(
        name="experiments",
        help="Run the simulations, figures and tables of the BEAR paper, and fetch its data sets.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in (simulate, reproduce):
        app.command(cls=Command)(guarded(command))
    app.add_typer(datasets)
    return app
