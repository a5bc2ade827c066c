"""Advice in the words of whoever reads it: a user of Python, or of the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

# What svmlight data is to a model of a matrix.
IDS = (
    "the model learned the columns of a matrix, which begin with 0, and takes the ids of this data "
    "for them, which begin with 1 as a rule: write it with dump_svmlight_file(..., "
    "zero_based=True), or fit_stream such a file"
)
_reads_commands = False


@contextlib.contextmanager
def for_commands() -> Iterator[None]:
    """Advise in options of commands for as long as one runs; workers it forks do so too."""
    global _reads_commands
    before, _reads_commands = _reads_commands, True
    try:
        yield
    finally:
        _reads_commands = before


def either(python: str, command: str) -> str:
    """Give the words for the reader at hand.

    Examples
    --------
    >>> either("passes=5", "--passes 5")
    'passes=5'
    >>> with for_commands():
    ...     either("passes=5", "--passes 5")
    '--passes 5'
    """
    return command if _reads_commands else python


def how_to_shuffle() -> str:
    """Say with what to shuffle, after "shuffle the examples"; in Python that needs no saying.

    The first line of a table is its header, which shuf alone would move.
    """
    table = "(head -n 1 t.csv; tail -n +2 t.csv | shuf) > shuffled.csv"
    return either("", f" (lines: shuf; tables with a header: {table}; reads: seqkit shuffle)")
