"""How a stream was read, as a model remembers it, so that a later stream reads alike."""

from __future__ import annotations

import hashlib
import warnings
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any

from bearsketch.exceptions import ParameterError
from bearsketch.reading.formats import format_named
from bearsketch.reading.options import FIXED, REMEMBERED, TABLE, TABLES, ReadOptions
from bearsketch.reading.stream import Stream, Warned, check_names
from bearsketch.wording import for_python

_LABELS = ("label_from", "label_regex", "label_table")

MOST_SOURCES = 100


def read_record(stream: Stream) -> dict[str, Any]:
    """Format, options that differ from their defaults, and inputs by base name, not too many."""
    chosen = {name: getattr(stream.options, name) for name in REMEMBERED}
    # Columns whose kind was detected are declared, so that other data cannot change it.
    chosen |= {name: columns for name, columns in stream.columns.items() if columns}
    options = {name: value for name, value in chosen.items() if value != TABLE[name].default}
    sources = [PurePath(name).name for name in stream.sources]
    return {
        "format": stream.format,
        "options": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in sorted(options.items())
        },
        "sources": sources[:MOST_SOURCES],
        "n_sources": len(sources),
    }


def input_record(stream: Stream) -> list[list[Any]]:
    """Tell inputs from changed ones: base name, size, time of change, a hash of both ends.

    Of a pipe only the name is known.
    """
    record: list[list[Any]] = []
    for found in stream._inputs:
        seen = found.fingerprint()
        name = PurePath(found.name).name
        if seen is None:
            record.append([name, None, None, None])
        else:
            digest = hashlib.sha256(seen.ends).hexdigest()
            record.append([name, seen.size, seen.changed_ns, digest])
    return record


def read_options(record: dict[str, Any]) -> dict[str, Any]:
    """Options of a remembered stream, as :func:`open_stream` takes them."""
    given = record.get("options", {})
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if name in REMEMBERED
    }


IDS = (
    "the model learned the columns of a matrix, which begin with 0, and takes the ids of this data "
    "for them, which begin with 1 as a rule: {zero-based ids}"
)


def open_like(model: Any, source: Any, *, labelled: bool = False, **options: Any) -> Stream:
    r"""Open a source with the options the data of a model was read with.

    Parameters
    ----------
    model : Learner or estimator
        Trained on a stream.
    source
        As for :func:`bearsketch.reading.open_stream`.
    labelled : bool
        Whether labels are needed, to test or to learn on; examples without one are left out.
    **options
        Of :func:`bearsketch.reading.open_stream`, instead of those remembered. Other options of
        k-mers or n-grams than the model's are refused, as they make other features.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import io
    >>> from bearsketch import SketchClassifier
    >>> table = b"city,kept\n" + b"rome,yes\nparis,no\n" * 20
    >>> model = SketchClassifier(memory="4KiB").fit_stream(
    ...     io.BytesIO(table), format="csv", label_column="kept"
    ... )
    >>> with open_like(model, io.BytesIO(b"city\nrome\n")) as stream:
    ...     [str(label) for batch in stream for label in model.predict(batch)]
    ['yes']
    """
    learner = model.to_learner() if hasattr(model, "to_learner") else model
    stream = reopen(learner, source, labelled=labelled, **options)
    for odd in stream.warnings:
        warnings.warn(f"{for_python(odd.message)} [{odd.code}]", UserWarning, stacklevel=2)
    return stream


def reopen(learner: Any, source: Any, *, labelled: bool, **options: Any) -> Stream:
    """Open a source as :func:`open_like` does; its warnings are left to the caller."""
    given = {**_still_true(learner.run, options), **options}
    if labelled:
        words = isinstance((learner.labels.classes or (0,))[0], str)
        given.setdefault("labels", "name" if words else "number")
    elif (learner.naming or "").startswith(("kmer", "iupac")):
        # A read need not say what it is to be predicted.
        given |= dict.fromkeys(_LABELS) | {"label_from": "none"}
    else:
        given.setdefault("labels", "name")  # which may be anything: it is not asked for
    given.setdefault("format", _format_like(learner.run, source))
    if given["format"] == "jsonl" and learner.run.get("format") in TABLES:
        given.setdefault("text_columns", ())  # a column called text was none, unless it was named
    needs = {"include_unlabelled": not labelled, "labels_needed": labelled}
    needs |= {"drop_needed": "drop" in options, "weights_needed": "weight_column" in options}
    form = given.pop("format")
    check_names(given, form)
    meant = {"kmer", *options}  # what the model remembers need not apply; but k-mers are sequences
    read = ReadOptions(**{**needs, **given, "seed": learner.config.seed})
    stream = Stream(source, form, read, meant)
    if "n_columns" in learner.run and form == "svmlight":
        stream.warnings.append(Warned("DATA-IDS", "", IDS))
    return stream


def _still_true(record: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Take what a model remembers, but for labels, which are given anew; features must stay."""
    kept = read_options(record)
    defaults = {name: TABLE[name].default for name in FIXED}
    defaults["presence"] = record.get("format") not in ("fasta", "fastq")
    for name in FIXED if "options" in record else ():
        before = kept.get(name, defaults[name])
        now = given.get(name, before)
        if (tuple(now) if isinstance(now, list) else now) != before:
            raise ParameterError(
                f"the model was trained with {name} {before}, got {now}, which makes other "
                "features of the same data",
                hint="Leave the option out: the model remembers it.",
            )
    anew = _LABELS if any(name in given for name in _LABELS) else ()
    return {name: value for name, value in kept.items() if name not in anew}


def _format_like(record: dict[str, Any], source: Any) -> str:
    """Format of the model's data, unless the name of a source tells another.

    Files that are called ``.csv``, ``.tsv`` or ``.txt`` hold lines of any kind, so that to a model
    of no table such a name tells nothing.
    """
    remembered = str(record.get("format", "auto"))
    if remembered == "arrow":  # of a table in memory
        remembered = "auto"
    first = source[0] if isinstance(source, list | tuple) and source else source
    if not isinstance(first, str | PathLike):
        return remembered
    if first == "-":
        return "auto" if remembered in ("fasta", "fastq") else remembered  # the first byte tells
    named = format_named(fspath(first))
    of_tables = remembered in ("auto", *TABLES)
    vague = named is None or (named in ("csv", "tsv", "text") and not of_tables)
    return remembered if vague else str(named)
