"""The first batches of a stream, kept until their labels tell which classes there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from bearsketch.batch import Batch
from bearsketch.estimators.rows import stream_labels
from bearsketch.estimators.targets import Array
from bearsketch.exceptions import DataError
from bearsketch.training.loop import PEEK_EXAMPLES
from bearsketch.training.memory import PEEK_BYTES

SIDES = (-1, 0, 1)  # a label that may be one of two


def with_examples(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Batches that hold examples; anything else than a batch is refused."""
    for batch in batches:
        stream_labels(batch)
        if len(batch):
            yield batch


def first_labels(
    batches: Iterator[Batch], targets: Callable[[Batch], Array], *, undecided: bool
) -> tuple[Array, Iterator[Batch]]:
    """Labels of the first batch, and of more while they are all -1, all 0 or all 1.

    Parameters
    ----------
    batches : iterator of Batch
    targets : callable
        Gives the labels of a batch, checked.
    undecided : bool
        Whether labels are to tell the classes; else the first batch is enough.

    Returns
    -------
    labels : array
        Those that are different.
    batches : iterator of Batch
        All of them, those looked at first.
    """
    kept: deque[Batch] = deque()
    labels: Array | None = None
    examples = size = 0
    for batch in batches:
        found = np.unique(targets(batch))
        labels = found if labels is None else np.unique(np.concatenate([labels, found]))
        kept.append(batch)
        examples, size = examples + len(batch), size + batch.nbytes
        more = examples < PEEK_EXAMPLES and size < PEEK_BYTES
        if not (undecided and more and is_one_side(labels)):
            break
    if labels is None:
        raise DataError("the stream must hold examples, got none", code="DATA-EMPTY")
    return labels, _drain(kept, batches)


def is_one_side(labels: Array) -> bool:
    """Whether labels are all -1, all 0 or all 1, so that another may follow."""
    return labels.dtype.kind in "biuf" and len(labels) == 1 and labels[0] in SIDES


def _drain(kept: deque[Batch], rest: Iterator[Batch]) -> Iterator[Batch]:
    """Batches that were kept, each let go when it is given, and those that follow."""
    while kept:
        yield kept.popleft()
    yield from rest
