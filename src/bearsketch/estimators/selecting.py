"""The selected features as scikit-learn's selectors give them, at O(k) cost for any width."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from bearsketch.batch import Batch
from bearsketch.estimators.columns import expand_columns, looked_up, take_columns
from bearsketch.estimators.frames import is_table
from bearsketch.estimators.rows import named_rows
from bearsketch.estimators.user_warnings import warn_of_ids
from bearsketch.exceptions import IncompatibleError, LimitError, ParameterError
from bearsketch.learners import RECIPES
from bearsketch.learners.faults import naming_hint
from bearsketch.learners.narrow import keep_classes
from bearsketch.learners.proof import proven_among
from bearsketch.learners.selected import Selected, joined, spoken_for

if TYPE_CHECKING:
    from bearsketch.learners import Learner

LARGEST_MASK = 1 << 24  # columns of a dense mask, a byte each


class SelectsFeatures(SelectorMixin):
    """Selector interface by index instead of by mask.

    ``selected_*_`` list the selected features best first; everything that stands for columns of
    ``transform`` has them in ascending order of column (of key, for features by name).
    """

    learner: str
    learner_: Learner
    feature_names: Any
    n_features_in_: int

    @property
    def selected_names_(self) -> npt.NDArray[Any]:
        """Names of the selected features, best first."""
        selected = self._selected()
        return self._names_of(selected, np.arange(len(selected)))

    @property
    def selected_indices_(self) -> npt.NDArray[np.int64]:
        """Columns of the selected features, best first; not there for features by name."""
        return self._columns_of(self._selected())

    @property
    def selected_weights_(self) -> npt.NDArray[np.float64]:
        """Weights of the selected features, best first.

        With several classes the largest of a feature's weights; of learners other than ``bear+``
        that of largest magnitude.
        """
        weights = self._by_class(self._selected().all_weights)
        found: npt.NDArray[np.float64] = weights[np.arange(len(weights)), self._shown(weights)]
        return found

    @property
    def fdr_(self) -> npt.NDArray[np.float64]:
        """Least share of false names at which each selected feature is listed, best first.

        NaN where that is not known, see :class:`bearsketch.learners.selected.Selected`.
        """
        return self._selected().fdr

    def _shown(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Column of each feature that is shown; classes that select alone have zeros elsewhere."""
        config = self.learner_.config
        return spoken_for("" if config.per_class else config.update, weights)

    @property
    def coef_(self) -> Any:
        """Weights of the selected features as a sparse matrix with a column per feature.

        One row for two classes and for regression, else one per class. Of learners that keep
        every weight, all of them.
        """
        recipe = self._fitted_recipe()
        if not recipe.selects and recipe.storage != "dense":
            raise AttributeError(f"learner {self.learner!r} cannot name features: it has no coef_")
        if not hasattr(self, "n_features_in_") or self.learner_.naming not in (None, "id"):
            raise AttributeError("coef_ needs a known number of columns; use selected_weights_")
        if recipe.selects:
            selected = self._selected()
            order = np.argsort(selected.keys)
            columns, weights = selected.keys[order], selected.all_weights[order]
        else:
            columns = np.arange(self.n_features_in_, dtype=np.uint64)
            weights = self.learner_.weights_of(columns)
        return expand_columns(
            self._by_class(weights).T, columns.astype(np.int64), self.n_features_in_
        )

    def get_support(self, indices: bool = False, *, fdr: float | None = None) -> npt.NDArray[Any]:
        """Columns of the selected features, or a mask over all columns.

        Parameters
        ----------
        indices : bool
            True: ascending column numbers, O(k). False: a mask of bool, only for up to 2**24
            columns.
        fdr : float, optional
            Only proven features, of which on average at most this share is false.
        """
        selected = self._selected()
        if fdr is not None:
            selected = proven_among(self.learner_, selected, fdr)
        columns = np.sort(self._columns_of(selected))
        return columns if indices else self._mask(columns)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        return self._mask(self.selected_indices_)

    def _mask(self, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        n = getattr(self, "n_features_in_", None)
        if n is None or n > LARGEST_MASK:
            raise LimitError(
                f"a mask needs a known number of columns, at most {LARGEST_MASK}, got "
                f"{'an unknown number' if n is None else n}",
                hint="Use get_support(indices=True).",
            )
        mask = np.zeros(n, dtype=bool)
        mask[columns] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_selected)
            Sparse for sparse input and for features by name, unless ``set_output`` asks for
            frames.
        """
        keys = np.sort(self._selected().keys)
        if not len(keys):
            warnings.warn("No features were selected.", UserWarning, stacklevel=2)
        by_name = named_rows(X)
        if is_table(X, self.learner_):
            X = self._rows(X, reset=False).whole
        if by_name is None and not isinstance(X, Batch):
            X = validate_data(
                self, X, dtype=None, accept_sparse="csr", accept_large_sparse=True, reset=False
            )
            self._check_naming("id")
            warn_of_ids(self.learner_, X)
            return take_columns(self, X, keys.astype(np.int64))
        seed = self.learner_.config.seed
        batch = X if by_name is None else Batch.from_rows(by_name, seed=seed)
        self._check_naming(batch.naming, batch.seed)
        return take_columns(self, batch, keys)

    def _check_naming(self, naming: str, seed: int | None = None) -> None:
        mine = (self.learner_.naming, self.learner_.config.seed)
        if naming != mine[0] or seed not in (None, mine[1]):
            raise IncompatibleError(
                f"features must be of naming {mine[0]!r} and seed {mine[1]}, as learned, got "
                f"{naming!r} and {seed}",
                hint=naming_hint(str(mine[0]), naming) if naming != mine[0] else "",
            )

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back in their places among all columns, the rest zero.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_selected)

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_features)
            Sparse for sparse input, and for more than 2**24 columns.
        """
        columns = self.get_support(indices=True)
        if not hasattr(self, "n_features_in_"):
            raise ParameterError("inverse_transform needs a known number of columns")
        X = check_array(X, dtype=None, accept_sparse="csr", ensure_min_features=0)
        if X.shape[1] != len(columns):
            raise ParameterError(
                f"X must have {len(columns)} columns, one per selected feature, got {X.shape[1]}"
            )
        if isinstance(X, np.ndarray) and self.n_features_in_ <= LARGEST_MASK:
            wide = np.zeros((len(X), self.n_features_in_), dtype=X.dtype)
            wide[:, columns] = X
            return wide
        return expand_columns(X, columns, self.n_features_in_)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns of ``transform``.

        Parameters
        ----------
        input_features : sequence of str, mapping or array of int, optional
            Names of all columns; or a mapping from column to name, asked for the selected only;
            or some of the selected columns, whose names are wanted. Default: the names X came
            with, those of ``feature_names``, or ``x0``, ``x1``, ...

        Returns
        -------
        ndarray of str objects
        """
        selected = self._selected()
        order = np.argsort(selected.keys)
        if input_features is None:
            return self._names_of(selected, order)
        columns = np.sort(self._columns_of(selected))
        if isinstance(input_features, Mapping):
            return looked_up(input_features, columns, "x")
        given = np.asarray(input_features)
        if given.dtype.kind in "iu":
            return self._names_of(selected, order[_places(columns, given)])
        self._check_input_names(given)
        return looked_up(given, columns, "x")

    def _check_input_names(self, given: Any) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and not np.array_equal(known, given):
            raise ValueError("input_features is not equal to feature_names_in_")
        n = getattr(self, "n_features_in_", None)
        if n is not None and len(given) != n:
            raise ValueError(
                f"input_features should have length equal to number of features ({n}), "
                f"got {len(given)}"
            )

    def _selected(self) -> Selected:
        recipe = self._fitted_recipe()
        if not recipe.selects:
            raise AttributeError(f"learner {self.learner!r} selects no features")
        if self.learner_.config.k == 0:
            raise AttributeError("no features are selected with k=0: give k of at least 1 to fit")
        config = self.learner_.config
        if config.per_class:
            return joined(self.learner_.selected(), range(config.columns))
        numbers = getattr(self, "_class_numbers", np.empty(0, dtype=np.intp))
        if config.loss == "softmax" and 2 <= len(numbers) < config.n_classes:
            # As a saved model has them: room for classes that did not come counts for nothing.
            return keep_classes(self.learner_, range(len(numbers))).selected()
        return self.learner_.selected()

    def _fitted_recipe(self) -> Any:
        check_is_fitted(self)
        return RECIPES[self.learner_.config.learner]

    def _columns_of(self, selected: Selected) -> npt.NDArray[np.int64]:
        if self.learner_.naming not in (None, "id"):
            raise AttributeError(
                "features came by name, not by column; use selected_names_ and selected_weights_"
            )
        return selected.keys.astype(np.int64)

    def _names_of(self, selected: Selected, order: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Names of some selected features: from the frame, the parameter, the file, or the key."""
        names = getattr(self, "feature_names_in_", self.feature_names)
        matrix = hasattr(self, "n_features_in_")
        kept = [selected.names[i] for i in order]
        if self.learner_.naming == "id" and names is not None:
            return looked_up(names, selected.keys[order], "x" if matrix else "")
        if self.learner_.naming == "id" and matrix:
            # Columns of a loaded model have what they were called, others scikit-learn's x3; an
            # id of a stream has its digits as a name.
            keys = selected.keys[order].tolist()
            kept = [f"x{k}" if name == str(k) else name for k, name in zip(keys, kept, strict=True)]
        return np.array(kept, dtype=object)


def _places(columns: npt.NDArray[np.int64], wanted: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where the wanted columns are among the ascending ones, or a refusal."""
    place = np.searchsorted(columns, wanted)
    known = place < len(columns)
    known[known] = columns[place[known]] == wanted[known]
    if not known.all():
        raise ParameterError(
            f"columns must be selected ones, got {wanted[int(np.argmin(known))]}",
            hint="See get_support(indices=True).",
        )
    return place


def can_select(estimator: SelectsFeatures) -> bool:
    """Whether the learner names features; True for an unknown one, which fit refuses."""
    recipe = RECIPES.get(estimator.learner)
    return recipe is None or recipe.selects


# Hidden for learners that cannot name features. After the class, because SelectorMixin wraps
# transform for set_output when the class is made, and a wrapped method is always there.
for _name in ("transform", "inverse_transform", "get_support", "get_feature_names_out"):
    setattr(SelectsFeatures, _name, available_if(can_select)(getattr(SelectsFeatures, _name)))
SelectsFeatures.fit_transform = available_if(can_select)(TransformerMixin.fit_transform)
