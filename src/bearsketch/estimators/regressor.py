"""Regression from streams and wide matrices in a memory budget."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from bearsketch.estimators.base import SketchEstimator
from bearsketch.training.checkpoint import Checkpoints


class SketchRegressor(RegressorMixin, SketchEstimator):
    """Linear regression that learns from a stream and names the k most predictive features.

    Squared loss. Its memory is fixed by ``memory`` and does not depend on the number of columns.

    Parameters
    ----------
    learner, k, memory, passes, batch_size, step_size, l2 : optional
        As in :class:`SketchClassifier`.
    fit_intercept, shuffle, random_state, feature_names, selected_only : optional
        As in :class:`SketchClassifier`.

    Attributes
    ----------
    selected_names_, selected_indices_, selected_weights_ : ndarray of shape (n_selected,)
        The selected features, best first.
    coef_ : sparse matrix of shape (1, n_features)
        Weights of the selected features; needs a known number of columns.
    intercept_ : ndarray of shape (1,)
    learner_ : Learner
        The learner itself: sizes, counters, merging.
    n_features_in_ : int
        Columns of a matrix; not there for features by name and streams.
    feature_names_in_ : ndarray of str
        Names of the columns of a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from bearsketch import SketchRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 50))
    >>> y = 3 * X[:, 7] - 2 * X[:, 11]
    >>> SketchRegressor(k=2, memory="4KiB").fit(X, y).selected_names_
    array(['x7', 'x11'], dtype=object)
    """

    def __init__(
        self,
        learner: str = "bear+",
        *,
        k: int | None = None,
        memory: str | int = "256KiB",
        passes: int = 1,
        batch_size: int | None = None,
        step_size: Any = "auto",
        l2: float = 0.0,
        fit_intercept: bool = True,
        shuffle: bool = True,
        random_state: Any = 0,
        feature_names: Any = None,
        selected_only: bool = False,
    ) -> None:
        self.learner = learner
        self.k = k
        self.memory = memory
        self.passes = passes
        self.batch_size = batch_size
        self.step_size = step_size
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.feature_names = feature_names
        self.selected_only = selected_only

    def _classifies(self) -> bool:
        return False

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn some more examples, once and in their order.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)

    def fit_stream(
        self,
        source: Any,
        *,
        checkpoint: Checkpoints | None = None,
        client: Any = None,
        **options: Any,
    ) -> Self:
        """Learn from a stream, from scratch, in bounded memory.

        Parameters
        ----------
        source : path, list of paths, file object, or iterable of Batch
            Anything :func:`bearsketch.reading.open_stream` takes.
        checkpoint : Checkpoints, optional
            Where to write checkpoints (:class:`bearsketch.training.checkpoint.Checkpoints`), how
            often, and whether to continue from one; needs an integer ``random_state``. They stay
            until ``checkpoint.forget()``, to be called once the model is saved.
        client : distributed.Client or bearsketch.distributed.Pool, optional
            Learn with the workers of a Dask cluster, or with local processes. The source is then
            files that every worker can open, or a Dask bag, data frame, or (X, y) of two arrays.
            ``shards`` and ``rounds`` may be given as well; see the page on several workers.
        **options
            Passed on to :func:`bearsketch.reading.open_stream`; refused for batches.

        Returns
        -------
        self
        """
        self._fit_stream(source, options, checkpoint=checkpoint, client=client)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predicted number of each example, with all features unless ``selected_only``.

        Parameters
        ----------
        X : as for ``fit``
        """
        return self._scores(X)[:, 0]
