"""A model from its file, and data read as the model's own data was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bearsketch.cli.options import read_options, sources
from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    from bearsketch.io import Stream
    from bearsketch.learners import Learner

_ROWS = 480
_LABELS = ("label_from", "label_regex", "label_table")
_SAME = {"canonical": True, "presence": False}  # with their defaults


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

    given = read_options(reading)
    options = {**_still_true(remembered(learner.run), given), **given}
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


def _still_true(kept: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Take what a model remembers, but for labels that are told anew; features must stay."""
    for name, default in _SAME.items():
        before = kept.get(name, default)
        if given.get(name, before) != before:
            raise ParameterError(
                f"the model was trained with {name} {before}, got {given[name]}, which makes "
                "other features of the same data",
                hint="Leave the option out: the model remembers it.",
            )
    anew = _LABELS if any(name in given for name in _LABELS) else ()
    return {name: value for name, value in kept.items() if name not in anew}


def _format_like(learner: Learner, named: list[str]) -> str:
    """Format of the model's data, unless the first bytes of these tell one beyond doubt."""
    remembered = str(learner.run.get("format", "auto"))
    if named == ["-"]:
        return "auto" if remembered in ("fasta", "fastq") else remembered  # the first byte tells
    return _told_by_name(named[0]) or remembered


def _told_by_name(name: str) -> str | None:
    from bearsketch.io.formats import format_named

    return format_named(name)
