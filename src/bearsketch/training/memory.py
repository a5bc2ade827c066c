"""The memory of a run before it starts: a formula, and limits on what is read that keep to it.

    peak <= program + cells + copy of them to save + selected + names
            + batches in flight * entries * bytes of one + active keys * bytes of one
            + buffers of reading

Everything but the program is known from the configuration once a batch has a bound on its entries.
Where a cap is given, that bound is what the cap leaves room for: a batch that would hold more ends
early, which is counted, and an example that alone would is refused.
"""

from __future__ import annotations

import math
from dataclasses import replace

from bearsketch.exceptions import LimitError
from bearsketch.learners.config import Config
from bearsketch.reading.limits import CHUNK_BYTES, CHUNKS_AHEAD, RUN_BYTES, Limits
from bearsketch.sizes import format_bytes
from bearsketch.training.process import peak_rss_bytes

# Modules that are loaded on the way, stacks of threads, and what an allocator holds back.
PROGRAM_BYTES = 7 << 20
PROGRAM_STEP = 16 << 20
SCORES_BYTES = 3 << 20  # histograms of two classes, of this pass and of the first
PEEK_BYTES = 4 << 20  # first examples, kept until their labels have told what to learn
# Of rows so long that fewer fit, as many as scales are found by, if they take no more than this.
LEAST_PEEK, LONG_PEEK_BYTES = 20, 5 << 27
NAME_BYTES = 96  # of a selected feature whose name has 48, as memory is given out
# Of a selected feature while it is saved: arrays, its names as Python has them, and what is left
# between them of the look at its weights before.
SAVED_BYTES = 240
RECORD_BYTES = 224  # of the evidence about a selected feature
ENTRY_BYTES = 12  # key and value
NAMED_ENTRY_BYTES = 8  # where its name begins
TEXT_BYTES = 24  # of the name of an entry, on average: batches with longer names hold fewer
LINE_BYTES = 32  # of text for each entry, on average: a longer line is refused
BATCHES = 7  # being read, in pieces and joined, waiting (2), handed over, learned (2)
BATCHES_ALONE = 5  # without reading ahead
LEAST_ENTRIES = 4096
LEAST_LINE = 1 << 16
WINDOW_BYTES = 9 << 20  # of zstd and xz at their usual levels


def looks_on(examples: int, size: int, most: int, *, capped: bool = False) -> bool:
    """Whether more first examples are kept, of ``most``, when so many take so many bytes.

    Examples
    --------
    >>> looks_on(480, 1 << 20, 10_000), looks_on(480, 1 << 23, 10_000), looks_on(1, 1 << 25, 10_000)
    (True, False, True)
    """
    few = examples < LEAST_PEEK and size < LONG_PEEK_BYTES and not capped
    return examples < most and (size < PEEK_BYTES or few)


def program_bytes() -> int:
    """Peak of the process so far, in steps of 16 MiB.

    Exact, it would differ a little from run to run, and with it where batches end.
    """
    return -(-peak_rss_bytes() // PROGRAM_STEP) * PROGRAM_STEP


def active_bytes(config: Config) -> int:
    """Bytes of scratch that a learner has for each active key of a minibatch."""
    c, depth = config.columns, 1 if config.storage == "dense" else config.depth
    if config.update == "posterior":
        return _posterior_bytes(c)
    numbering = 48 + 24  # keys, hashes, entries, columns, table; room that vectors keep
    places = 8 * depth + 4 * (c if config.per_class else 1)
    if config.precision == "int8":
        # Amounts of the cells, each written once; a filter, a list and a table of those shared.
        places += depth * (8 * c + 4 + 8 + 4 + 32 + 8)
    # Weights, gradient, direction, step, new weights; candidates, twice to sort them.
    vectors = 8 * c * 5 + 48
    if config.storage.startswith("cached"):
        vectors += 8 * c
    if config.update == "lbfgs":
        vectors += 8 * c * 3  # gradient before, weights after, change of the gradient
        # A pair, its keys numbered, and their places in a map that has just grown.
        vectors += config.history * (16 * c + 4 + 20 + 12 * 18)
    return numbering + places + vectors


def _posterior_bytes(columns: int) -> int:
    """Scratch of ``bear+`` for each entry of a minibatch, which may be a key of its own."""
    lanes = 1 if columns == 1 else -(-columns // 8) * 8
    numbering = 8 + 8 + 4 + 8 + 4 + 4 + 4 + 16  # hashes, places, columns, addresses, lists, table
    coordinate = 4 * (4 + 2 * lanes)
    claim = 2 * (24 + 4 * lanes)  # those that ask to be selected; room that vectors keep
    return numbering + 2 * 8 + coordinate + claim


def selected_bytes(config: Config) -> int:
    """Bytes of the selection in memory: entries with both names, heap and index."""
    if config.k == 0:
        return 0
    groups = config.columns if config.per_class else 1
    width = 1 if config.per_class else config.columns
    index = 14 * (1 << math.ceil(math.log2(max(4 * config.k, 16))))
    return groups * (config.k * (112 + 8 * width + RECORD_BYTES * config.evidence) + index)


def terms(
    config: Config,
    *,
    program: int,
    entries: int,
    active: int,
    text: int,
    line: int,
    window: int = 0,
    threads: int = 2,
) -> dict[str, int]:
    """Terms of the peak, in bytes, by what they are for.

    Parameters
    ----------
    config : Config
    program : int
        What the process has before it starts, see :func:`peak_rss_bytes`.
    entries, active : int
        Entries of a batch; distinct keys of a minibatch.
    text, line, window : int
        Bytes of the names of a batch, of a line, and of a decompressor.
    threads : int
        As of :class:`bearsketch.training.session.Session`.

    Examples
    --------
    >>> from bearsketch import make_learner
    >>> config = make_learner(memory="64KiB", k=100).config
    >>> found = terms(config, program=0, entries=1, active=1, text=0, line=0)
    >>> found["cells"] + found["copy of the model to save it"] < 4 * 2**16
    True
    """
    sizes = config.sizes
    saved = SAVED_BYTES + 2 * RECORD_BYTES * config.evidence
    selected = config.k * (config.columns if config.per_class else 1)
    named = NAMED_ENTRY_BYTES * entries + text if text else 0
    alive = BATCHES if threads > 1 else BATCHES_ALONE
    # Of several that parse, each has a batch, one waits, and so do the lines they are made of.
    parsed = threads if threads > 2 else 0
    scores = SCORES_BYTES if config.loss == "logistic" else 1 << 20
    return {
        "program": program + PROGRAM_BYTES,
        "cells": sizes.cell_bytes,
        "copy of the model to save it": sizes.cell_bytes + saved * selected,
        "selected features": selected_bytes(config),
        "their names": NAME_BYTES * selected,
        "scores and first examples": scores + PEEK_BYTES,
        "buffers of reading": CHUNK_BYTES * (CHUNKS_AHEAD + 4)
        + RUN_BYTES * parsed
        + window
        + 2 * line,
        "batches": (alive + parsed) * (ENTRY_BYTES * entries + named),
        "minibatch": active * active_bytes(config),
    }


def bounded(config: Config, limits: Limits, program: int, threads: int) -> dict[str, int]:
    """Terms of the peak where every batch is as large as the limits allow."""
    return terms(
        config,
        program=program,
        entries=limits.batch_entries,
        active=limits.batch_entries,
        text=limits.batch_text_bytes,
        line=limits.line_bytes,
        window=limits.window_bytes,
        threads=threads,
    )


def fit_limits(
    config: Config, cap: int, *, program: int, threads: int = 2, windowed: bool = False
) -> Limits:
    """Limits on what is read that keep a run under a cap.

    Parameters
    ----------
    config : Config
    cap : int
        Bytes the process may have.
    program, threads
        As in :func:`terms`.
    windowed : bool
        Whether an input is zstd or xz, whose reader needs memory of its own.

    Raises
    ------
    LimitError
        With the terms, where the cap leaves no room for batches.
    """
    fewest = _limits(LEAST_ENTRIES, windowed)
    least = bounded(config, fewest, program, threads)
    check_cap(least, cap)
    more = bounded(config, _limits(2 * LEAST_ENTRIES, windowed), program, threads)
    each = (sum(more.values()) - sum(least.values())) / LEAST_ENTRIES
    room = LEAST_ENTRIES + int((cap - sum(least.values())) / each)
    found = _limits(min(room, Limits().batch_entries), windowed)
    check_cap(bounded(config, found, program, threads), cap)
    return found


def _limits(entries: int, windowed: bool) -> Limits:
    usual = Limits()
    return replace(
        usual,
        batch_entries=entries,
        row_features=min(entries, usual.row_features),
        batch_text_bytes=min(TEXT_BYTES * entries, usual.batch_text_bytes),
        line_bytes=min(max(LINE_BYTES * entries, LEAST_LINE), usual.line_bytes),
        window_bytes=WINDOW_BYTES if windowed else 1 << 20,
    )


def check_cap(found: dict[str, int], cap: int) -> None:
    """Refuse terms that add up to more than a cap, naming them."""
    total = sum(found.values())
    if total <= cap:
        return
    listed = "\n".join(f"  {format_bytes(n):>10}  {name}" for name, n in found.items() if n)
    raise LimitError(
        f"max_memory must be at least {format_bytes(total)} for this run, got "
        f"{format_bytes(cap)}:\n{listed}",
        code="MEM-CAP",
        hint="Allow more memory, or give a smaller model, fewer classes or a smaller k.",
    )
