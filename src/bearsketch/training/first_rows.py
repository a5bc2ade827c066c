"""The first examples of a stream, kept until their labels tell what to learn."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch, Places
from bearsketch.exceptions import ParameterError
from bearsketch.learners.labels import Label
from bearsketch.training.memory import PEEK_BYTES, looks_on

# The first examples are kept until so many of their labels have told what to learn.
PEEK_EXAMPLES = 10_000


class FirstLabels:
    """Distinct labels of the first examples of a stream.

    Attributes
    ----------
    examples : int
    words : bool
        Whether labels are strings.
    counts : Counter
        Examples of each label.
    places : dict
        Source and line of the first example of each label, as far as they are known.

    Examples
    --------
    >>> seen = FirstLabels()
    >>> seen.add(np.array([1.0, 0.0, 1.0]))
    >>> seen.values, seen.examples, seen.whole
    ([0, 1], 3, True)
    """

    def __init__(self) -> None:
        self.examples = 0
        self.words = False
        self.counts: Counter[Any] = Counter()
        self.places: dict[Any, tuple[str, int]] = {}

    def add(self, labels: npt.NDArray[Any], places: Places | None = None) -> None:
        """Look at labels: numbers, or strings."""
        self.examples += len(labels)
        self.words = labels.dtype.kind not in "biuf"
        values, rows, counts = np.unique(labels, return_index=True, return_counts=True)
        for value, row, n in zip(values.tolist(), rows.tolist(), counts.tolist(), strict=True):
            if places is not None and value not in self.counts:
                self.places[value] = places.of(row)
            self.counts[value] += n

    @property
    def values(self) -> list[Label]:
        """Distinct labels in order; whole numbers as int."""
        return [plain_label(label) for label in sorted(self.counts)]

    @property
    def whole(self) -> bool:
        """Whether all labels are whole numbers."""
        return not self.words and all(isinstance(label, int) for label in self.values)


class FirstRows(NamedTuple):
    """Labels of the first examples of a stream, and the batches these came in."""

    labels: FirstLabels
    batches: deque[Batch]


def read_first_rows(
    batches: Iterator[Batch],
    enough: Callable[[FirstRows], bool] = lambda first: False,
    *,
    capped: bool = False,
) -> FirstRows:
    """Take batches until their labels are enough, 10,000 examples at most, in 4 MiB.

    Of rows that are longer 20 are taken, unless the memory of the process is ``capped``.
    """
    found, size = FirstRows(FirstLabels(), deque()), 0
    seen = found.labels
    while looks_on(seen.examples, size, PEEK_EXAMPLES, capped=capped):
        batch = next(batches, None)
        if batch is None:
            break
        if batch.labels is None:
            raise ParameterError("labels must be given to learn, got a batch without")
        seen.add(batch.labels, batch.places)
        size += batch.nbytes
        found.batches.append(batch)
        if enough(found) and size < PEEK_BYTES:  # of rows that are longer, scales need more
            break
    return found


def plain_label(label: Any) -> Label:
    """Label as it is shown and kept: whole numbers as int.

    Examples
    --------
    >>> plain_label(3.0), plain_label(0.5), plain_label("no")
    (3, 0.5, 'no')
    """
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return int(label)
    plain: Label = label
    return plain
