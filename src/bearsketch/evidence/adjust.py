"""Adjusting for a known column: rows are compared only with rows of the same value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.evidence.lines import row_hashes
from bearsketch.exceptions import ParameterError

# What stands between a column and its value, a namespace and its feature.
_BETWEEN = (b"=", b"^")


def set_aside(batch: Batch, columns: Sequence[str], *, first: bool) -> Batch:
    """Take the features of some columns out of a batch: their values become its strata.

    Parameters
    ----------
    batch : Batch
        With names.
    columns : sequence of str
        A categorical column or field, whose features are called ``column=value``, or a namespace
        (``namespace^feature``).
    first : bool
        Whether it is the first batch: a column that no row of it has is refused.

    Examples
    --------
    >>> batch = Batch.from_rows([["site=a", "x"], ["site=b", "x"], ["site=a"]], [1, 0, 1])
    >>> found = set_aside(batch, ["site"], first=True)
    >>> found.n_entries, found.strata[0] == found.strata[2], found.strata[0] == found.strata[1]
    (2, np.True_, np.False_)
    """
    if batch.names is None:
        raise ParameterError(
            "{adjust} needs features with names, and these are numbered",
            code="EVIDENCE-ADJUST",
            hint="Give the strata of a Batch instead.",
        )
    taken = np.zeros(batch.n_entries, dtype=bool)
    row_of = np.repeat(np.arange(len(batch)), np.diff(batch.indptr))
    strata = np.zeros(len(batch), dtype=np.uint64)
    for number, column in enumerate(columns):
        mine = _starting_with(batch, column.encode())
        if first and len(batch) and not mine.any():
            raise ParameterError(
                f'no feature of the first {len(batch):,} rows is of "{column}"',
                code="EVIDENCE-ADJUST",
                hint="Name a categorical column (a numeric one: {categorical}), a field or a "
                "namespace.",
            )
        values = row_hashes(batch.keys[mine] + np.uint64(number))
        np.add.at(strata, row_of[mine], values)
        taken |= mine
    kept = ~taken
    data, offsets = batch.names
    sizes = offsets[1:].astype(np.int64) - offsets[:-1].astype(np.int64)
    inside = np.repeat(kept, sizes)
    ends = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.uint64)
    own = data[int(offsets[0]) : int(offsets[-1])][inside]
    counts = np.bincount(row_of[kept], minlength=len(batch))
    return replace(
        batch,
        indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        keys=batch.keys[kept],
        values=batch.values[kept],
        names=type(batch.names)(own, ends),
        strata=strata,
        trusted=True,
    )


def _starting_with(batch: Batch, column: bytes) -> npt.NDArray[np.bool_]:
    """Whether each entry's name is the column, then ``=`` or ``^``."""
    assert batch.names is not None
    data, offsets = batch.names
    starts, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64)
    found = np.asarray(ends - starts > len(column))
    for between in _BETWEEN:
        wanted = np.frombuffer(column + between, dtype=np.uint8)
        at = np.flatnonzero(found)
        for i, letter in enumerate(wanted):
            at = at[data[starts[at] + i] == letter]
        if between == _BETWEEN[0]:
            matched = np.zeros(len(found), dtype=bool)
        matched[at] = True
    return matched
