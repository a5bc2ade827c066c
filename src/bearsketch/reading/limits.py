"""Limits: how large the parts of an input may be before reading stops."""

from __future__ import annotations

from dataclasses import dataclass, fields

from bearsketch.exceptions import ParameterError

# Decoded bytes handed to a parser at once, and how many such chunks wait for it at most.
CHUNK_BYTES = 1 << 17
CHUNKS_AHEAD = 4
# Most bytes that the lines of one batch may have to be read side by side with those of the next.
RUN_BYTES = 1 << 21
# Bytes a format is guessed from.
HEAD_BYTES = 1 << 14
# Rows and bytes that fix the type of a column of a text table.
TYPE_ROWS = 1000
TYPE_BYTES = 1 << 22
# Rows so long that fewer fit are looked at all the same, if they are no longer than this in all.
LEAST_TYPE_ROWS = 20
MOST_TYPE_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class Limits:
    """How large the parts of an input may be; anything above is an error, never a crash.

    Parameters
    ----------
    line_bytes : int
        One line, or one record of a table (64 MiB).
    name_bytes : int
        One feature name (64 KiB).
    row_features : int
        Features of one example (10 million).
    batch_entries : int
        Entries of one batch (2^20): a batch that would hold more ends early. An example with
        more than that is a batch of its own.
    batch_text_bytes : int
        Bytes of the names of one batch (64 MiB), bounded in the same way.
    input_bytes : int, optional
        Decoded bytes of all inputs of one pass together; no limit by default.
    window_bytes : int
        Memory a zstd or xz stream may ask of its reader (128 MiB).

    Examples
    --------
    >>> Limits(line_bytes=1 << 20).name_bytes
    65536
    """

    line_bytes: int = 1 << 26
    name_bytes: int = 1 << 16
    row_features: int = 10_000_000
    batch_entries: int = 1 << 20
    batch_text_bytes: int = 1 << 26
    input_bytes: int | None = None
    window_bytes: int = 1 << 27

    def __post_init__(self) -> None:
        for spec in fields(self):
            value = getattr(self, spec.name)
            if value is None and spec.name == "input_bytes":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ParameterError(
                    f"limits.{spec.name} must be an integer of at least 1, got {value!r}"
                )
