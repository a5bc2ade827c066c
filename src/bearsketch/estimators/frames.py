"""Frames whose columns are read as those of any table: by name, with categories and gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import _check_feature_names

from bearsketch.batch import Batch
from bearsketch.estimators.faults import check_column_names
from bearsketch.estimators.rows import Take
from bearsketch.exceptions import ParameterError
from bearsketch.reading import Limits, Stream
from bearsketch.reading.frames import column_names, is_frame, is_matrix
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.remember import read_options

if TYPE_CHECKING:
    from bearsketch.learners import Learner

_ALL = 1 << 62  # a frame is one batch: it is in memory as it is
_EMPTY = {"allow_empty": True, "names": True, "labels_needed": False, "drop_needed": False}


@dataclass(frozen=True, slots=True)
class FrameRows:
    """Rows of a frame, by name.

    Attributes
    ----------
    whole : Batch
    stream : Stream
        What read it: how columns were read, and what was odd about them.
    """

    whole: Batch
    stream: Stream

    @property
    def columns(self) -> None:
        """None: features come by name."""
        return None

    def __len__(self) -> int:
        return len(self.whole)

    def batch(self, take: Take, seed: int) -> Batch:
        """Give some rows as a batch."""
        if isinstance(take, slice):
            start, stop, _ = take.indices(len(self))
            return self.whole.rows(start, stop)
        return self.whole.take(take)

    @property
    def seed(self) -> int:
        """Seed that names were hashed with."""
        return self.stream.options.seed


def is_table(X: Any, learner: Learner | None) -> bool:
    """Whether X is a frame that is read by name.

    That is one with a column of another kind than numbers, or with gaps; and any frame, once a
    model knows features by name.
    """
    if not is_frame(X):
        return False
    return learner.naming == "name" if learner is not None and learner.naming else not is_matrix(X)


def read_frame(estimator: Any, X: Any, *, seed: int, learner: Learner | None) -> FrameRows:
    """Read a frame as the command reads a table; like that of the model, where there is one."""
    check_column_names(X, {})
    options = {} if learner is None else read_options(learner.run)
    if learner is None or hasattr(estimator, "feature_names_in_"):
        options = {**options, "labels": "none"}  # y holds the labels, whatever columns are called
        _check_names(estimator, X, reset=learner is None)
    else:
        options = {**options, "labels": "name"}  # which may be anything: it is not asked for
    limits = Limits(batch_entries=_ALL, batch_text_bytes=_ALL)
    rows = ReadOptions(**{**options, **_EMPTY, "seed": seed, "rows": 10**7, "limits": limits})
    with Stream(X, "auto", rows) as stream:
        batches = list(stream)
    return FrameRows(_joined(batches, seed), stream)


def _check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Keep or compare names and number of columns, as scikit-learn does for any estimator."""
    _check_feature_names(estimator, X, reset=reset)
    n = len(column_names(X))
    if reset:
        estimator.n_features_in_ = n
    elif n != estimator.n_features_in_:
        raise ParameterError(
            f"X has {n} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


def _joined(batches: list[Batch], seed: int) -> Batch:
    if not batches:
        return Batch.from_rows([], seed=seed)
    if len(batches) > 1:
        raise ParameterError("a frame must have at most 10 million rows: give it to fit_stream")
    return replace(batches[0], places=None, position=None, labels=None)
