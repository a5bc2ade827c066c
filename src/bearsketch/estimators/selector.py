"""Feature selection from streams and wide matrices in a memory budget."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bearsketch.estimators.base import SketchEstimator
from bearsketch.estimators.rows import plain
from bearsketch.exceptions import ParameterError
from bearsketch.learners import RECIPES
from bearsketch.learners.parts import check_choice
from bearsketch.learners.proof import check_fdr
from bearsketch.learners.selected import Selected
from bearsketch.training.checkpoint import Checkpoints

TASKS = ("classification", "regression")


class SketchSelector(SketchEstimator):
    """Selects the k most predictive features for the estimator that follows it.

    Nothing it does costs more than O(k), whatever the number of columns: ``transform`` gives the
    selected columns in ascending order, as scikit-learn's selectors do.

    Parameters
    ----------
    learner : str, default="bear+"
        ``bear+`` (best per byte, nothing to tune), ``bear``, ``mission``, ``newton`` or ``awm``.
    k : int, default=None
        Features to select. None: as many as a quarter of the memory holds, at most 1,000.
    task : {"classification", "regression"}, default="classification"
        What the target is. Never guessed: whole numbers may be either.
    fdr : float, default=None
        Keep only proven features, of which on average at most this share has nothing to do with
        the target. Where none is proven ``transform`` gives no columns, with a warning.
    memory, passes, batch_size, step_size, l2, fit_intercept : optional
        As in :class:`SketchClassifier`.
    max_classes, shuffle, random_state, feature_names : optional
        As in :class:`SketchClassifier`.

    Attributes
    ----------
    selected_names_, selected_indices_, selected_weights_ : ndarray of shape (n_selected,)
        The selected features, best first.
    coef_ : sparse matrix of shape (1, n_features) or (n_classes, n_features)
        Weights of the selected features; needs a known number of columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
        For classification.
    learner_ : Learner
        The learner itself: sizes, counters, merging.
    n_features_in_ : int
        Columns of a matrix; not there for features by name and streams.
    feature_names_in_ : ndarray of str
        Names of the columns of a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from bearsketch import SketchSelector
    >>> X = np.random.default_rng(0).normal(size=(500, 50))
    >>> y = X[:, 7] > X[:, 11]
    >>> selector = SketchSelector(k=2, memory="4KiB").fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 7, 11])
    >>> selector.transform(X).shape
    (500, 2)
    """

    def __init__(
        self,
        learner: str = "bear+",
        *,
        k: int | None = None,
        task: str = "classification",
        fdr: float | None = None,
        memory: str | int = "256KiB",
        passes: int = 1,
        batch_size: int | None = None,
        step_size: Any = "auto",
        l2: float = 0.0,
        fit_intercept: bool = True,
        max_classes: int | None = None,
        shuffle: bool = True,
        random_state: Any = 0,
        feature_names: Any = None,
    ) -> None:
        self.learner = learner
        self.k = k
        self.task = task
        self.fdr = fdr
        self.memory = memory
        self.passes = passes
        self.batch_size = batch_size
        self.step_size = step_size
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.max_classes = max_classes
        self.shuffle = shuffle
        self.random_state = random_state
        self.feature_names = feature_names

    def _classifies(self) -> bool:
        return self.task == "classification"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("task", self.task, TASKS)
        if self.fdr is not None:
            check_fdr(plain(self.fdr))
        if plain(self.k) == 0:
            raise ParameterError(
                "k must be at least 1 to select features, got 0",
                hint="Leave it out to select as many as the memory holds.",
            )
        if not RECIPES[self.learner].selects:
            able = ", ".join(name for name, recipe in RECIPES.items() if recipe.selects)
            raise ParameterError(
                f"learner must be one that selects features ({able}), got {self.learner!r}"
            )

    def _selected(self) -> Selected:
        selected = super()._selected()
        if self.fdr is None:
            return selected
        return selected.take(np.flatnonzero(selected.fdr <= self.fdr))

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn some more examples, once and in their order.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array-like of shape (n_classes,), optional
            As in :meth:`SketchClassifier.partial_fit`; not for regression.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight, classes)

    def fit_stream(
        self,
        source: Any,
        *,
        classes: Any = None,
        checkpoint: Checkpoints | None = None,
        client: Any = None,
        **options: Any,
    ) -> Self:
        """Learn from a stream, from scratch, in bounded memory.

        Parameters
        ----------
        source : path, list of paths, file object, or iterable of Batch
            Anything :func:`bearsketch.reading.open_stream` takes.
        classes : array-like of shape (n_classes,), optional
            As in :meth:`SketchClassifier.fit_stream`; not for regression.
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
        self._fit_stream(source, options, classes, checkpoint, client)
        return self
