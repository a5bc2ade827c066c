"""What the estimators share: parameters to a learner, examples to batches, fit to passes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bearsketch.batch import Batch
from bearsketch.estimators.callbacks import CallbackSupportMixin, Tasks, with_callbacks
from bearsketch.estimators.columns import looked_up
from bearsketch.estimators.failing import all_or_nothing
from bearsketch.estimators.faults import check_column_names, told_by_column
from bearsketch.estimators.files import KeepsModel
from bearsketch.estimators.frames import FrameRows, is_table, read_frame
from bearsketch.estimators.labelling import EstimatorLabels
from bearsketch.estimators.parameters import (
    check_feature_names,
    check_parameters,
    dense_dimension,
)
from bearsketch.estimators.rows import (
    BatchRows,
    NamedRows,
    Rows,
    matrix_rows,
    named_rows,
    plain,
)
from bearsketch.estimators.selecting import SelectsFeatures, can_select
from bearsketch.estimators.sources import Blocks, Examples, block_rows, open_source, read_options
from bearsketch.estimators.targets import (
    Array,
    ClassMap,
    check_targets,
    check_weights,
    stream_targets,
)
from bearsketch.estimators.user_warnings import UserWarnings, warn_of_ids
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner, make_learner
from bearsketch.learners.recipes import minibatch
from bearsketch.reading.remember import read_record
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.labelling import ModelLabels
from bearsketch.training.scaling import LEAST_EXAMPLES
from bearsketch.training.session import Session

LARGEST_SEED = 2**31 - 1

Weights = npt.NDArray[np.float64] | None


class SketchEstimator(SelectsFeatures, KeepsModel, CallbackSupportMixin, BaseEstimator):
    """Base of the three estimators; see :class:`SketchClassifier` for the parameters."""

    # Set by the constructors of subclasses.
    learner: str
    k: int | None
    memory: str | int
    passes: int
    batch_size: int | None
    step_size: Any
    l2: float
    fit_intercept: bool
    shuffle: bool
    random_state: Any
    feature_names: Any
    max_classes: int | None = 2
    selected_only: bool = False

    learner_: Learner
    classes_: Array
    _class_numbers: npt.NDArray[np.intp]
    _named_columns: dict[int, str]
    _first_batches: list[Batch] | None  # of partial_fit, until they are enough to scale by

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from examples in memory, from scratch, in ``passes`` passes.

        Parameters
        ----------
        X : array, sparse matrix, frame, list of dict, list of list of str or Batch
            Of shape (n_samples, n_features): NumPy, any SciPy sparse format with up to
            2**63 - 1 columns, pandas, polars, or a table of any library that gives Arrow streams;
            or features by name, as one mapping (name to value) or list of names per example.
            Columns of a frame may hold text, categories, dates and missing values: they are read
            as ``fit_stream`` and the command read them, and features have names such as
            ``city=paris``. A frame of numbers alone is learned as an array is.
        y : array-like of shape (n_samples,)
            Labels or numbers; not needed for a Batch that carries labels.
        sample_weight : array-like of shape (n_samples,), optional
            Importance of each example relative to the others of its minibatch. An example of
            weight 0 is left out.

        Returns
        -------
        self
        """
        rows, labels, weights = self._examples(X, y, sample_weight, reset=True)
        counted = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
        known = None
        if self._classifies():
            ClassMap.fixed(labels[counted])  # refuses less than two classes
            known = ClassMap.fixed(labels)
        seed = self._seed_of(rows)
        labelling = EstimatorLabels(
            self, seed, known=known, columns=rows.columns, numbered=known is not None
        )
        numbers = labels if known is None else known.encode(labels)
        ordered = isinstance(rows, BatchRows)
        whole = None if len(counted) == len(labels) or ordered else counted
        rng = np.random.default_rng(seed)

        def order() -> npt.NDArray[np.intp] | None:
            return rng.permutation(counted) if self.shuffle and not ordered else whole

        blocks = Blocks(rows, self._block, seed, numbers, weights, order)
        n_blocks = -(-len(labels if whole is None else whole) // self._block)
        tasks = Tasks(self, n_blocks, X, y, sample_weight)
        self._run(blocks, labelling, tasks, _stream_of(rows))
        return self

    def _run(
        self,
        source: Any,
        labelling: EstimatorLabels,
        tasks: Tasks,
        stream: Any = None,
        checkpoint: Checkpoints | None = None,
    ) -> None:
        how = {"threads": 1, "naming": self._column_name, "stream": stream}
        sinks = [UserWarnings(), tasks]
        Session(
            source, labelling, passes=plain(self.passes), checkpoint=checkpoint, sinks=sinks, **how
        ).run()

    @all_or_nothing
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        first = not self.__sklearn_is_fitted__()
        rows, labels, weights = self._examples(X, y, sample_weight, reset=first)
        if first:
            self._start(self._class_map(classes), rows.columns, self._seed_of(rows))
            self._first_batches = []
            self._remember(rows)
        elif classes is not None:
            self._check_same_classes(classes)
        self.learner_.expect_new_rows()
        whole = weights is None or isinstance(rows, BatchRows)
        counted = None if whole else np.flatnonzero(np.asarray(weights))
        seed = self.learner_.config.seed
        numbers = self._encode(labels)
        batches = Blocks(rows, self._block, seed, numbers, weights, lambda: counted)
        self._learn_more(batches)
        return self

    def _learn_more(self, batches: Iterable[Batch]) -> None:
        """Learn batches; with the first ones, begin anew until all of them tell how to scale.

        Few examples, and often a single one, come in a call; scaled by none, columns of numbers
        would be learned badly for good. What a model has learned so far is the same in any case.
        """
        first: list[Batch] | None = getattr(self, "_first_batches", None)
        if first is not None:
            batches = first = [*first, *batches]
            enough = sum(map(len, first)) >= LEAST_EXAMPLES
            self._first_batches = None if enough else first
            fresh = Learner(self.learner_.config, self.learner_.labels)
            fresh.run, self.learner_ = self.learner_.run, fresh
        labelling = ModelLabels(self.learner_)
        session = Session(batches, labelling, threads=1, naming=self._column_name)
        session.begin()
        if first is None or self._first_batches is not None:
            session.learn_pass()
            return
        session.sinks.append(UserWarnings())
        session.scale(first)
        session.learn_pass()
        session.conclude()

    def _check_same_classes(self, classes: Any) -> None:
        declared = self._class_map(classes)
        if declared is not None and not np.array_equal(declared.classes, self.classes_):
            known, given = self.classes_.tolist(), declared.classes.tolist()
            raise ParameterError(f"classes must be those of the first call, {known}, got {given}")

    @with_callbacks
    @all_or_nothing
    def _fit_stream(
        self,
        source: Any,
        options: dict[str, Any],
        classes: Any = None,
        checkpoint: Checkpoints | None = None,
        client: Any = None,
    ) -> Self:
        self._check_parameters()
        _check_seeded(checkpoint, self.random_state)
        seed = self._draw_seed()
        if client is not None:
            if checkpoint is not None:
                raise ParameterError("checkpoint cannot be combined with client: give one of them")
            from bearsketch.estimators.sharded import fit_sharded

            fit_sharded(self, source, client, read_options(self, options), classes, seed)
            return self
        with contextlib.ExitStack() as opened:
            batches, stream = open_source(self, source, seed, options, classes, opened)
            self._forget_columns()
            examples = Examples(batches, self._targets_of)
            tasks = Tasks(self, None)
            self._run(examples, EstimatorLabels(self, seed, classes), tasks, stream, checkpoint)
        return self

    def _targets_of(self, batch: Batch) -> Array:
        return stream_targets(type(self).__name__, batch, self._classifies())

    def _class_map(self, classes: Any) -> ClassMap | None:
        """Classes as declared, or open to new ones; None for regression."""
        if not self._classifies():
            if classes is not None:
                raise ParameterError(f"classes must not be given for regression, got {classes!r}")
            return None
        return ClassMap.open(self.max_classes) if classes is None else ClassMap.fixed(classes)

    def _start(self, classes: ClassMap | None, columns: int | None, seed: int) -> None:
        """Make a new learner; ``columns`` are those of a matrix, None for features by name."""
        check_feature_names(self.feature_names, columns)
        self._first_batches = None
        loss, n_classes, n_weights = "squared", None, 1
        if classes is None:
            self.__dict__.pop("classes_", None)  # of an earlier fit to another task
        else:
            loss, n_classes = classes.loss, classes.n_classes
            n_weights = n_classes if loss == "softmax" else 1
            self._set_classes(classes)
        self.learner_ = make_learner(
            self.learner,
            k=plain(self.k),
            memory=plain(self.memory),
            dimension=dense_dimension(self, columns, n_weights),
            loss=loss,
            classes=n_classes,
            step_size=plain(self.step_size),
            l2=plain(self.l2),
            intercept=bool(self.fit_intercept),
            batch_size=plain(self.batch_size),
            seed=seed,
        )

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _seed_of(self, rows: Rows) -> int:
        return rows.seed if isinstance(rows, FrameRows) else self._draw_seed()

    def _remember(self, rows: Rows) -> None:
        """Keep how the columns of a frame were read, so that others are read alike."""
        if isinstance(rows, FrameRows):
            self.learner_.run = read_record(rows.stream)

    def _draw_seed(self) -> int:
        given = plain(self.random_state)
        if isinstance(given, int) and given >= 0:
            return given
        return int(check_random_state(given).randint(LARGEST_SEED))

    @property
    def _block(self) -> int:
        return block_rows(minibatch(self.learner, plain(self.batch_size)))

    def _examples(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Rows, Array, Weights]:
        self._check_parameters()
        if isinstance(X, Batch):
            y = X.labels if y is None else y
            sample_weight = X.weights if sample_weight is None else sample_weight
        rows = self._rows(X, reset=reset)
        labels = check_targets(type(self).__name__, y, len(rows), self._classifies())
        return rows, labels, check_weights(sample_weight, labels)

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        """Examples of any kind, checked against those seen before unless ``reset``."""
        by_name = named_rows(X)
        learner = None if reset else self.learner_
        if is_table(X, learner):
            if reset:
                self._forget_columns()
            seed = self._draw_seed() if learner is None else learner.config.seed
            return read_frame(self, X, seed=seed, learner=learner)
        if by_name is None and not isinstance(X, Batch):
            X = self._checked(X, reset=reset)
            if not reset:
                warn_of_ids(self.learner_, X)
            return matrix_rows(X)
        if reset:
            self._forget_columns()
        return BatchRows(X) if by_name is None else NamedRows(by_name)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if reset:
            self._named_columns = {}
        check_column_names(X, getattr(self, "_named_columns", {}))
        how: Any = {"accept_sparse": "csr", "accept_large_sparse": True, "reset": reset}
        try:
            checked = validate_data(self, X, **how)
            # Categories and strings of some frames come through.
            return checked if checked.dtype.kind in "biuf" else checked.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise told_by_column(error, X) from None

    def _forget_columns(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    @property
    def _column_name(self) -> Any:
        """Function from a column to its name, where examples are rows of a matrix."""
        if not hasattr(self, "n_features_in_"):
            return None
        names = getattr(self, "feature_names_in_", self.feature_names)
        return lambda key: str(looked_up({} if names is None else names, np.array([key]), "x")[0])

    def _encode(self, labels: Array) -> npt.NDArray[np.float64]:
        """Labels as the numbers the learner takes; may add classes."""
        known = self._known_classes()
        if known is None:
            return np.asarray(labels, dtype=np.float64)
        known = known.grown(labels)
        self._set_classes(known)
        return known.encode(labels)

    def _known_classes(self) -> ClassMap | None:
        if not self._classifies():
            return None
        config = self.learner_.config
        return ClassMap(self.classes_, self._class_numbers, config.n_classes, config.loss)

    def _set_classes(self, classes: ClassMap) -> None:
        self.classes_, self._class_numbers = classes.classes, classes.numbers

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        """Margins of shape (n_samples, 1) or (n_samples, n_classes)."""
        return self._by_class(self._margins(X) + self._threshold)

    @property
    def _threshold(self) -> float:
        """What margins of two labels lack where both are as probable, once calibrated.

        With it, ``decision_function`` is above 0 where ``predict`` names the second label.
        """
        found = self.learner_.calibration["selected_only" if self.selected_only else "all"]
        return 0.0 if found is None else found.offset / found.slope

    def _margins(self, X: Any) -> npt.NDArray[np.float64]:
        """Margins as the learner has them."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        only = bool(self.selected_only)
        blocks = Blocks(rows, self._block, self.learner_.config.seed)
        margins = [self.learner_.predict_margin(batch, selected_only=only) for batch in blocks]
        return np.concatenate([self._no_margins, *margins])

    @property
    def _no_margins(self) -> npt.NDArray[np.float64]:
        return np.empty((0, self.learner_.config.columns))

    def _by_class(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        known = self._known_classes()
        return weights if known is None else known.scores(weights)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.dict = True
        tags.input_tags.string = True  # in frames
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        if not can_select(self):
            tags.transformer_tags = None
        return tags

    @property
    def intercept_(self) -> npt.NDArray[np.float64]:
        """Constant of each row of ``coef_``.

        Of two labels it makes ``decision_function`` 0 where both are as probable.
        """
        check_is_fitted(self)
        learner = self.learner_
        own = learner.selected_intercept if self.selected_only else learner.intercept
        found: npt.NDArray[np.float64] = self._by_class(own[None, :] + self._threshold)[0]
        return found


def _stream_of(rows: Rows) -> Any:
    """Give what read the rows, and may have warnings; None for those that nothing read."""
    return rows.stream if isinstance(rows, FrameRows) else None


def _check_seeded(checkpoint: Checkpoints | None, random_state: Any) -> None:
    """Refuse a run that could not be repeated."""
    if checkpoint is not None and not isinstance(random_state, int | np.integer):
        raise ParameterError(
            f"random_state must be a whole number with checkpoints, got {random_state!r}",
            hint="The run that continues must hash names as the one that stopped did.",
        )
