"""Texts for people, whose options are spelt as the reader types them.

Inner layers write the name of an option in braces, and a value behind it where one is meant:
``Give a larger {max_classes}.``, ``Leave it out ({drop=id}).`` Whoever shows the text spells it: a
command as ``--max-classes`` and ``--drop id``, Python as ``max_classes`` and ``drop=['id']``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

Render = Callable[[str], str]


class Phrase(NamedTuple):
    """One thing that Python and the command line spell differently."""

    python: str
    command: str


LISTS = frozenset("adjust categorical classes columns drop numeric text_columns".split())
OPTIONS = LISTS | frozenset(
    """alphabet batch_size canonical char_ngrams checkpoint checkpoint_every cluster compression
    decimal depth dimension duplicates fdr header history holdout init intercept k kmer l2
    label_column label_from label_regex label_table labels learner limits loss lowercase
    max_classes max_errors max_memory memory ngrams on_error passes patience per_class presence
    query report resume rounds seed separator shards step_size stride threads weight_column
    width window workers
    """.split()
)
# What does not follow from its name.
PHRASES = {
    "header=False": Phrase("header=False", "--no-header"),
    "evidence=False": Phrase("evidence=False", "--no-evidence"),
    "k": Phrase("k", "-k"),
    "per_class=False": Phrase("per_class=False", "--shared"),
    "resume=True": Phrase("resume=True", "--resume"),
    # The first line of a table is its header, which shuf alone would move. Python needs no advice.
    "shuffle": Phrase(
        "",
        " (lines: shuf; tables with a header: (head -n 1 t.csv; tail -n +2 t.csv | shuf) > "
        "shuffled.csv; reads: seqkit shuffle)",
    ),
    "planning": Phrase("bearsketch.planning.plan", "bearsketch plan"),
    "text labels": Phrase(
        "y.astype(str), or labels='name' for a stream", "id7 in the data instead of 7"
    ),
    "predict columns": Phrase(
        "Predict with the matrix or frame that fit took, or fit_stream such data.",
        "A model that fit of a scikit-learn estimator made predicts in Python, from a matrix or "
        "frame; for a file, use bearsketch train or fit_stream.",
    ),
    "predict names": Phrase(
        "Read a frame or file as the model's data was, with "
        "bearsketch.reading.open_like(model, data), and predict its batches; or fit the matrix.",
        "Give data with names, or train on data such as this.",
    ),
    "zero-based ids": Phrase(
        "write it with dump_svmlight_file(..., zero_based=True), or fit_stream such a file",
        "write it with dump_svmlight_file(..., zero_based=True), or train on such a file",
    ),
}
_MARK = re.compile(r"\{([a-z][a-z0-9_ -]*)(?:=((?:[^{}\\]|\\.)*))?\}")
_ESCAPED = re.compile(r"\\(.)")
_VALUE = re.compile(r"-?[0-9][0-9.]*|True|False|None")


def option(name: str, value: str) -> str:
    """Mention an option with a value that comes from data, whatever is in it.

    Examples
    --------
    >>> for_python(option("drop", "a{b}")), for_command(option("drop", "a{b}"))
    ("drop=['a{b}']", '--drop a{b}')
    """
    escaped = re.sub(r"([\\{}])", r"\\\1", value)
    return f"{{{name}={escaped}}}"


def for_python(text: str) -> str:
    """Text with options as arguments.

    Examples
    --------
    >>> for_python("Give {memory}, {classes=a,b} or {loss=squared}; {this} stays.")
    "Give memory, classes=['a', 'b'] or loss='squared'; {this} stays."
    """
    return _MARK.sub(lambda found: _spelt(found, 0), text)


def for_command(text: str) -> str:
    """Text with options as the command line has them.

    Examples
    --------
    >>> for_command("Give {memory}, {classes=a,b} or {loss=squared}; {this} stays.")
    'Give --memory, --classes a,b or --loss squared; {this} stays.'
    """
    return _MARK.sub(lambda found: _spelt(found, 1), text)


def _spelt(found: re.Match[str], reader: int) -> str:
    name, value = found[1], found[2]
    phrase = PHRASES.get(found[0][1:-1])
    if phrase is not None:
        return phrase[reader]
    if name not in OPTIONS:
        return found[0]
    if value is not None:
        value = _ESCAPED.sub(r"\1", value)
    if reader == 1:
        flag = "--" + name.replace("_", "-")
        return flag if value is None else f"{flag} {value}"
    if value is None:
        return name
    if name in LISTS:
        listed = value.split(",") if name == "classes" else [value]
        return f"{name}=[{', '.join(map(_as_python, listed))}]"
    return f"{name}={_as_python(value)}"


def _as_python(value: str) -> str:
    return value if _VALUE.fullmatch(value) else repr(value)
