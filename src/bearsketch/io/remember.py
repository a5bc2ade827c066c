"""How a stream was read, as a model remembers it, so that a later stream reads alike."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from bearsketch.io.options import ReadOptions

if TYPE_CHECKING:
    from bearsketch.io.stream import Stream

# What decides which features an example has, and where its label is.
REMEMBERED = """
label_column weight_column categorical numeric drop header columns separator decimal text_columns
duplicates kmer
alphabet canonical presence window stride label_from label_regex ngrams char_ngrams lowercase
""".split()

MOST_SOURCES = 100


def read_record(stream: Stream) -> dict[str, Any]:
    """Format, options that differ from their defaults, and inputs by base name, not too many."""
    defaults = {spec.name: spec.default for spec in fields(ReadOptions)}
    chosen = {name: getattr(stream.options, name) for name in REMEMBERED}
    # Columns whose kind was found out are declared, so that other data cannot change it.
    chosen |= {name: columns for name, columns in stream.columns.items() if columns}
    options = {name: value for name, value in chosen.items() if value != defaults[name]}
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
