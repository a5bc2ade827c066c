"""A model from its file, and data read as the model's own data was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bearsketch.cli.options import read_options, sources

if TYPE_CHECKING:
    from bearsketch.io import Stream
    from bearsketch.learners import Learner

_ROWS = 480


def load_model(path: Path) -> Learner:
    """Read a model file."""
    from bearsketch.learners import load

    return load(path)


def open_like(
    learner: Learner, data: list[str] | None, reading: dict[str, Any], *, labelled: bool
) -> Stream:
    """Open data with the options the model remembers, changed by those given now."""
    from bearsketch.io import open_stream
    from bearsketch.io.remember import read_options as remembered

    options = {**remembered(learner.run), **read_options(reading)}
    if labelled:
        words = isinstance((learner.labels.classes or (0,))[0], str)
        options["labels"] = "name" if words else "number"
    elif (learner.naming or "").startswith(("kmer", "iupac")):
        # A read need not say what it is to be predicted.
        options |= {"label_from": "none", "label_regex": None, "label_table": None}
    named = sources(data)
    options.setdefault("format", _format_like(learner, named))
    return open_stream(
        named,
        **options,
        seed=learner.config.seed,
        rows=_ROWS,
        live=not labelled,
        names=False,
        include_unlabelled=not labelled,
        labels_needed=labelled,
    )


def _format_like(learner: Learner, named: list[str]) -> str:
    """Format of the model's data, unless the first bytes of these tell one beyond doubt."""
    remembered = str(learner.run.get("format", "auto"))
    return remembered if named == ["-"] else _told_by_name(named[0]) or remembered


def _told_by_name(name: str) -> str | None:
    from bearsketch.io.formats import format_named

    return format_named(name)
