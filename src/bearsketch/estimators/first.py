"""The first batches of a stream, kept until their labels tell which classes there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from bearsketch.batch import Batch
from bearsketch.estimators.rows import stream_labels
from bearsketch.estimators.targets import Array, first_classes
from bearsketch.exceptions import DataError
from bearsketch.training.first_rows import PEEK_EXAMPLES
from bearsketch.training.memory import PEEK_BYTES

SIDES = (-1, 0, 1)  # a label that may be one of two


def with_examples(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Batches that hold examples; anything else than a batch is refused."""
    for batch in batches:
        stream_labels(batch)
        if len(batch):
            yield batch


def first_labels(
    batches: Iterator[Batch], targets: Callable[[Batch], Array], enough: Callable[[Array], bool]
) -> tuple[Array, Iterator[Batch]]:
    """Labels of the first batch, and of more until they are enough.

    Parameters
    ----------
    batches : iterator of Batch
    targets : callable
        Gives the labels of a batch, checked.
    enough : callable
        Whether the different labels so far tell the classes. As for ``bearsketch train``, 10,000
        examples are in any case.

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
        if not more or enough(labels):
            break
    if labels is None:
        raise DataError("the stream must hold examples, got none", code="DATA-EMPTY")
    return labels, _drain(kept, batches)


def are_enough(max_classes: int | None) -> Callable[[Array], bool]:
    """Whether labels tell the classes: not while they may be one side of two.

    Without a ``max_classes``, not either before there are both: there may be more of others.

    Examples
    --------
    >>> [are_enough(None)(np.array(seen)) for seen in ([1], [0, 1], ["a", "b", "c"])]
    [False, True, False]
    """

    def enough(labels: Array) -> bool:
        if is_one_side(labels):
            return False
        return max_classes is not None or first_classes(labels) is not None

    return enough


def is_one_side(labels: Array) -> bool:
    """Whether labels are all -1, all 0 or all 1, so that another may follow."""
    return labels.dtype.kind in "biuf" and len(labels) == 1 and labels[0] in SIDES


def _drain(kept: deque[Batch], rest: Iterator[Batch]) -> Iterator[Batch]:
    """Batches that were kept, each let go when it is given, and those that follow."""
    while kept:
        yield kept.popleft()
    yield from rest
