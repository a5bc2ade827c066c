"""A model from its file, and data read as the model's own data was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bearsketch.cli.options import read_options, sources

if TYPE_CHECKING:
    from bearsketch.learners import Learner
    from bearsketch.reading import Stream

_ROWS = 480


def load_model(path: Path) -> Learner:
    """Read a model file."""
    from bearsketch.learners import load

    return load(path)


def open_like(
    learner: Learner,
    data: list[str] | None,
    reading: dict[str, Any],
    *,
    labelled: bool,
    **options: Any,
) -> Stream:
    """Open data with the options the model remembers, changed by those given now."""
    from bearsketch.reading.remember import reopen

    how = {"rows": _ROWS, "live": not labelled, "names": False, **options}
    return reopen(learner, sources(data), labelled=labelled, **read_options(reading), **how)
