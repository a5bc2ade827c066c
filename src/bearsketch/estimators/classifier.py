"""Classification from streams and wide matrices in a memory budget."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin

from bearsketch.estimators.base import SketchEstimator
from bearsketch.learners.selected import classes_of
from bearsketch.training.checkpoint import Checkpoints


class SketchClassifier(ClassifierMixin, SketchEstimator):
    """Linear classifier that learns from a stream and names the k most predictive features.

    Its memory is fixed by ``memory`` and does not depend on the number of columns: a matrix may
    have 2**63 - 1 of them, and features may come by name. Two classes are learned with logistic
    loss, more with softmax.

    Parameters
    ----------
    learner : str, default="bear+"
        ``bear+`` (best per byte, nothing to tune), ``bear``, ``mission``, ``newton``, ``awm``;
        or ``fh``, ``sgd`` and ``olbfgs``, which predict but name no features. The last two keep
        a weight per column.
    k : int, default=None
        Features to select. None: as many as a quarter of the memory holds, at most 1,000.
    memory : str or int, default="256KiB"
        Bytes the model keeps, names not counted. With ``bear+`` and two classes the default
        holds 1,000 selected features and 250,000 one-byte cells, enough for text of 50,000 words.
    passes : int, default=1
        Passes over the data. One, because streams cannot be read twice; two or three help where
        examples are few for their features.
    batch_size : int, optional
        Examples in a minibatch. 20 is where curvature is measured well enough.
    step_size : "auto", float or step, default="auto"
        A number is a constant step. ``auto`` follows the curvature and needs no tuning.
    l2 : float, default=0.0
        Strength of L2 decay, per unit of step. 0, because one pass hardly overfits.
    fit_intercept : bool, default=True
        Learn a constant per class, as scikit-learn's linear models do.
    max_classes : int, default=None
        Classes to leave room for when they are not known at the start (``partial_fit`` or
        ``fit_stream`` without ``classes``). Each takes its share of ``memory``: give ``classes``
        where they are known. None: 20 for ``partial_fit``, which fits common text collections;
        none beside the labels that the first examples of a stream have.
    shuffle : bool, default=True
        Visit the examples in a new order in each pass of ``fit``. On, because examples sorted
        by class would be unlearned one class at a time. Streams and a ``Batch`` keep their order.
    random_state : int, RandomState instance or None, default=0
        Seed of hashes and of the order of examples. A number, so that two runs give the same
        model and models of several machines can be merged.
    feature_names : sequence or mapping, default=None
        Names of the columns of matrices that carry none, or of some of them by column number.
        None: the names of a frame, or ``x0``, ``x1``, ...
    selected_only : bool, default=False
        Predict with the selected features alone, as ``bearsketch predict --selected-only`` does.
        Off, because on text the others help. On dense columns of which few matter they are
        noise, most of all with ``mission`` and ``newton``: compare both on data held out. It does
        not change what is learned, so it may be set on a fitted estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    selected_names_, selected_indices_, selected_weights_, selected_classes_ : ndarray
        The selected features, best first, each of shape (n_selected,).
    coef_ : sparse matrix of shape (1, n_features) or (n_classes, n_features)
        Weights of the selected features; needs a known number of columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    learner_ : Learner
        The learner itself: sizes, counters, merging. Its labels are class numbers.
    n_features_in_ : int
        Columns of a matrix; not there for features by name and streams.
    feature_names_in_ : ndarray of str
        Names of the columns of a frame.

    See Also
    --------
    SketchSelector : Selects features for another estimator.

    Examples
    --------
    >>> from bearsketch import SketchClassifier
    >>> mails = [["buy", "now"], ["meet", "now"]] * 50
    >>> spam = ["yes", "no"] * 50
    >>> clf = SketchClassifier(k=2, memory="4KiB").fit(mails, spam)
    >>> clf.predict([["buy"], ["meet"]])
    array(['yes', 'no'], dtype='<U3')
    >>> sorted(clf.selected_names_)
    ['buy', 'meet']
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
        max_classes: int | None = None,
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
        self.max_classes = max_classes
        self.shuffle = shuffle
        self.random_state = random_state
        self.feature_names = feature_names
        self.selected_only = selected_only

    def _classifies(self) -> bool:
        return True

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn some more examples, once and in their order.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array-like of shape (n_classes,), optional
            All classes, in the first call. Without it up to ``max_classes`` may come, at the
            price of the memory reserved for them.

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
            All classes. Without it, numbers -1 or 0 and 1 in the first batch mean two classes,
            and else the labels of the first 10,000 examples are the classes, unless
            ``max_classes`` is given, for which room is left then.
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

        Examples
        --------
        >>> from bearsketch import Batch, SketchClassifier
        >>> batches = [Batch.from_rows([["buy"], ["meet"]], [1, 0])] * 20
        >>> SketchClassifier(k=2, memory="4KiB").fit_stream(batches).classes_
        array([0, 1])
        """
        self._fit_stream(source, options, classes, checkpoint, client)
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Margins: of the second of two classes, shape (n_samples,); else one per class.

        Of two classes they are above 0 where ``predict`` names the second.

        Parameters
        ----------
        X : as for ``fit``
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _calibrated(self, X: Any) -> npt.NDArray[np.float64]:
        """Margins that probabilities are made of."""
        margins = self._margins(X)
        only = bool(self.selected_only)
        return self._by_class(self.learner_.calibrated(margins, selected_only=only))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Most probable class of each example, with all features unless ``selected_only``.

        It is the one that ``predict_proba`` gives the largest probability.

        Parameters
        ----------
        X : as for ``fit``
        """
        scores = self._calibrated(X)
        if len(self.classes_) == 2:
            found: npt.NDArray[Any] = self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        else:
            found = self.classes_[np.argmax(scores, axis=1)]
        return found

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probability of each class, shape (n_samples, n_classes), in the order of ``classes_``.

        Probabilities are calibrated: what each example was predicted before it was learned, in the
        first pass, says how often predictions come true. Below 200 examples they are not.

        Parameters
        ----------
        X : as for ``fit``
        """
        scores = self._calibrated(X)
        if len(self.classes_) == 2:
            return np.hstack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithm of ``predict_proba``; of what is nearly 0, too, it is exact.

        Parameters
        ----------
        X : as for ``fit``
        """
        scores = self._calibrated(X)
        if len(self.classes_) == 2:
            return np.hstack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))

    @property
    def selected_classes_(self) -> npt.NDArray[Any]:
        """Class of each of ``selected_weights_``; of two the one that its sign speaks for."""
        weights = self._by_class(self._selected().all_weights)
        two = len(self.classes_) == 2
        numbers = classes_of(weights[:, 0], self._shown(weights), two=two)
        found: npt.NDArray[Any] = self.classes_[numbers]
        return found
