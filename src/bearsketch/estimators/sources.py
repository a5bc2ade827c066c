"""Where the batches of an estimator's session come from: rows in memory, or a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.estimators.rows import Rows, Take, batches_of, stream_labels
from bearsketch.estimators.targets import Array
from bearsketch.exceptions import ParameterError
from bearsketch.learners.recipes import minibatch

if TYPE_CHECKING:
    from bearsketch.estimators.base import SketchEstimator
    from bearsketch.reading import Stream

BLOCK_EXAMPLES = 8192  # rows of a matrix that are turned into a batch at a time
STREAM_EXAMPLES = 1000  # of a batch that is read from a stream

Order = npt.NDArray[np.intp] | None


def block_rows(batch_size: int, examples: int = BLOCK_EXAMPLES) -> int:
    """Examples of a batch: a multiple of the minibatch, so that it never matters where it ends."""
    return batch_size * max(examples // batch_size, 1)


class Blocks:
    """Rows in memory as batches, in a new order for each pass.

    Parameters
    ----------
    rows : Rows
    size : int
        Examples of a batch.
    seed : int
        Hashes names.
    labels, weights : array, optional
    order : callable, optional
        Gives the order of the next pass; None is that of the rows.
    """

    def __init__(
        self,
        rows: Rows,
        size: int,
        seed: int,
        labels: Array | None = None,
        weights: npt.NDArray[np.float64] | None = None,
        order: Callable[[], Order] = lambda: None,
    ) -> None:
        self._rows, self._size, self._seed = rows, size, seed
        self._labels, self._weights, self._order = labels, weights, order

    def __iter__(self) -> Iterator[Batch]:
        order = self._order()
        n = len(self._rows) if order is None else len(order)
        for start in range(0, n, self._size):
            part = slice(start, min(start + self._size, n))
            take: Take = part if order is None else order[part]
            yield replace(
                self._rows.batch(take, self._seed),
                labels=None if self._labels is None else self._labels[take],
                weights=None if self._weights is None else self._weights[take],
                trusted=True,
            )


class Examples:
    """Batches that hold examples, with checked labels; anything else than a batch is refused."""

    def __init__(self, source: Iterable[Any], targets: Callable[[Batch], Array]) -> None:
        self._source, self._targets = source, targets

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._source:
            stream_labels(batch)
            if len(batch):
                yield replace(batch, labels=self._targets(batch), trusted=True)


def open_source(
    estimator: SketchEstimator,
    source: Any,
    seed: int,
    options: dict[str, Any],
    classes: Any,
    opened: ExitStack,
) -> tuple[Iterable[Any], Stream | None]:
    """Batches as they are; or those of a stream, which ``opened`` closes."""
    batches, source = batches_of(source)
    if batches is None:
        stream = opened.enter_context(_open(estimator, source, seed, options, classes))
        return stream, stream
    if options:
        raise ParameterError(
            f"reading options have no effect on batches, got {', '.join(sorted(options))}",
            hint="Give them to what made the batches, or a path or frame to fit_stream.",
        )
    if iter(batches) is batches and estimator.passes > 1:
        raise ParameterError(
            f"passes must be 1 for an iterator, which is read once, got {estimator.passes}",
            hint="Give a path, or a list of batches.",
        )
    return batches, None


def _open(
    estimator: SketchEstimator, source: Any, seed: int, options: dict[str, Any], classes: Any
) -> Stream:
    from bearsketch.reading import open_stream
    from bearsketch.reading.labels import labels_for

    labels = labels_for("auto" if estimator._classifies() else "squared", classes)
    given = {
        "include_unlabelled": False,
        "labels": labels,
        "threads": 1,  # another learns
        **read_options(estimator, options),
    }
    return open_stream(source, **{**given, "seed": seed})


def read_options(estimator: SketchEstimator, options: dict[str, Any]) -> dict[str, Any]:
    """Options of the reader, with batches of a multiple of the minibatch."""
    size = minibatch(estimator.learner, estimator.batch_size)
    return {"rows": block_rows(size, STREAM_EXAMPLES), **options}
