"""The source of ``fit_stream`` as batches."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bearsketch.estimators.rows import batches_of
from bearsketch.exceptions import ParameterError
from bearsketch.learners.recipes import minibatch
from bearsketch.training.task import named_labels

if TYPE_CHECKING:
    from bearsketch.estimators.base import SketchEstimator

STREAM_EXAMPLES = 1000  # of a batch that is read from a stream


def open_batches(
    estimator: SketchEstimator,
    source: Any,
    seed: int,
    options: dict[str, Any],
    classes: Any,
    opened: ExitStack,
) -> Any:
    """Batches as they are, or a stream that ``opened`` closes."""
    batches, source = batches_of(source)
    if batches is None:
        return opened.enter_context(_open(estimator, source, seed, options, classes))
    if options:
        raise ParameterError(
            "options of a reader do not go with batches, which are read already, got "
            f"{', '.join(sorted(options))}",
            hint="Give them to what made the batches, or a path or frame to fit_stream.",
        )
    if iter(batches) is batches and estimator.passes > 1:
        raise ParameterError(
            f"passes must be 1 for an iterator, which is read once, got {estimator.passes}",
            hint="Give a path, or a list of batches.",
        )
    return batches


def _open(
    estimator: SketchEstimator, source: Any, seed: int, options: dict[str, Any], classes: Any
) -> Any:
    from bearsketch.reading import open_stream
    from bearsketch.reading.labels import labels_for

    loss = "auto" if estimator._classifies() else "squared"
    labels = labels_for(loss, classes)
    given = {
        "include_unlabelled": False,
        "labels": labels,
        "threads": 1,  # another learns
        **read_options(estimator, options),
    }
    stream = open_stream(source, **{**given, "seed": seed})
    stream.expect(named_labels(loss, classes))
    return stream


def read_options(estimator: SketchEstimator, options: dict[str, Any]) -> dict[str, Any]:
    """Options of the reader, with batches of a multiple of the minibatch."""
    size = minibatch(estimator.learner, estimator.batch_size)
    return {"rows": size * max(STREAM_EXAMPLES // size, 1), **options}
