"""Streams without a single example that has a label: their warnings, and when they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bearsketch.exceptions import DataError
from bearsketch.reading.readers import label_hint
from bearsketch.reading.schema import few_columns

if TYPE_CHECKING:
    from bearsketch.reading.stream import Stream

# Where so many examples have no label, the rest is not waited for: there may be billions of them.
_FIRST = 10_000


def check_labelled(stream: Stream) -> None:
    """Refuse a stream of labelled examples where none of the first ones has a label."""
    counts, options = stream.counts, stream.options
    if options.include_unlabelled or options.allow_empty or counts.examples:
        return
    if counts.unlabelled >= _FIRST:
        field = options.label_column
        named = f"None has the field {field!r}, which label_column (--label-column) names, or a "
        where = named + "label in it." if stream.format == "jsonl" and field else _where(stream)
        raise DataError(
            f"{_name(stream)}: none of the first {counts.read:,} {stream.unit} has a label",
            code="SRC-EMPTY",
            hint=f"{where}\n  If later ones have labels, let them come first.",
        )


def no_example(stream: Stream) -> DataError:
    """Say that a stream came to its end without an example, and the likely reason."""
    counts, hint = stream.counts, ""
    unmet = (stream._shared.unmet or {}).items()
    label = next((name for name, option in unmet if option == "label_column"), None)
    if label is not None:
        hint = f"No line has the field {label!r}, which label_column (--label-column) names."
    elif counts.unlabelled:
        hint = f"{counts.unlabelled} examples have no label. {_where(stream)}"
    return DataError(
        f"{_name(stream)}: no labelled example in {counts.read} {stream.unit}",
        code="SRC-EMPTY",
        hint=hint,
    )


def _name(stream: Stream) -> str:
    return stream.sources[0] if len(stream.sources) == 1 else "the source"


def _where(stream: Stream) -> str:
    schema = None if stream._shared is None else stream._shared.schema
    if schema is None:
        return label_hint(stream.format)
    if schema.label is not None:
        return f"All cells of the label column {schema.shown(schema.label)!r} are empty."
    names = [schema.shown(i) for i in range(len(schema.columns))]
    told = f"{label_hint(stream.format)} None is called 'label'; they are {few_columns(names)}."
    if any(_is_number(name) for name in names):
        told += " If the first line is data, and names no columns: header=False, --no-header."
    return told


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
