"""Labels of the first examples of a stream: which there are, how many of each, and where."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Places
from bearsketch.learners.labels import Label


class Seen:
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
    >>> seen = Seen()
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
