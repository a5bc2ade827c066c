"""The ``bearsketch`` command and how its errors look and exit."""

from __future__ import annotations

import os
import signal
import sys

import typer

from bearsketch.cli.demo import demo
from bearsketch.cli.reproduce import reproduce
from bearsketch.cli.simulate import simulate
from bearsketch.exceptions import BearError

app = typer.Typer(
    name="bearsketch",
    help="The k most predictive features by name, from one pass over a stream, in a memory budget.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(simulate)
app.command()(reproduce)


@app.callback()
def _root() -> None:
    """Find the k most predictive features by name, in one pass, in a memory budget."""


def main() -> None:
    """Run the command; every error becomes one message and its documented exit code."""
    try:
        app()
    except BearError as error:
        label = f"error[{error.code}]" if error.code else "error"
        print(f"{label} {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output is gone: say nothing and end as the signal would have.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
