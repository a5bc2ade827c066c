"""Estimators as bytes: pickles, and the model file every part of the package reads."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bearsketch import model_file
from bearsketch.batch import pack_names
from bearsketch.estimators.columns import looked_up
from bearsketch.exceptions import IncompatibleError, ModelFileError, ParameterError
from bearsketch.learners import Learner, load, state
from bearsketch.learners.describe import class_labels
from bearsketch.learners.labels import Labels
from bearsketch.learners.narrow import narrow_arrays


class KeepsModel(BaseEstimator):
    """Pickle as parameters and the bytes of a model file; save and load that file."""

    learner_: Learner
    classes_: npt.NDArray[Any]
    _class_numbers: npt.NDArray[np.intp]
    _named_columns: dict[int, str]
    feature_names: Any
    n_features_in_: int
    selected_only: bool
    task: str

    @abstractmethod
    def _classifies(self) -> bool:
        """Whether labels are classes."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which :func:`bearsketch.load` and the command line read too.

        It holds weights, selected features with their names, classes, the number of columns of a
        matrix and ``selected_only``: what it takes to predict and to learn on. Pairs of L-BFGS are
        left out, as in a pickle.

        Parameters
        ----------
        path : str or path
            Written whole or not at all.
        """
        model_file.save(os.fspath(path), *self._whole_model())

    def to_learner(self) -> Learner:
        """Give a learner of its own that knows the classes and the names of the columns.

        It is what :func:`bearsketch.load` gives for a saved model: :mod:`bearsketch.export` takes
        it, for one. ``learner_`` itself knows numbers only.
        """
        return Learner.from_bytes(model_file.pack(*self._whole_model()))

    def merge(self, other: Self) -> Self:
        """Average in another estimator of the same kind, weighted by examples seen.

        Parameters
        ----------
        other : estimator
            With the same parameters, classes and columns, fitted to other examples.

        Returns
        -------
        self
        """
        if type(self) is not type(other):
            raise IncompatibleError(
                f"estimators must be of one kind to be merged, got {type(other).__name__}"
            )
        for estimator in (self, other):
            check_is_fitted(estimator)
        for what in ("classes_", "_class_numbers", "feature_names_in_", "n_features_in_"):
            mine, theirs = (np.asarray(getattr(part, what, None)) for part in (self, other))
            # A file has the names of selected columns only.
            unknown = what == "feature_names_in_" and None in (mine.tolist(), theirs.tolist())
            if not (unknown or np.array_equal(mine, theirs)):
                raise IncompatibleError(
                    f"estimators must agree to be merged, and {what.strip('_')} differs: "
                    f"{mine.tolist()} and {theirs.tolist()}",
                    hint="Give classes=, the same in the same order, to the first partial_fit or "
                    "fit_stream of each, and columns in the same order.",
                )
        self.learner_.merge(other.learner_)
        return self

    def _whole_model(self) -> tuple[model_file.Arrays, dict[str, Any]]:
        check_is_fitted(self)
        arrays, record = state.dump(self.learner_)
        if self._classifies():
            self._settle_classes(arrays, record)
        self._settle_names(arrays)
        more: dict[str, Any] = {"selected_only": True} if self.selected_only else {}
        if hasattr(self, "n_features_in_") and self.learner_.naming != "name":
            more |= {"n_columns": self.n_features_in_}
        record["run"] = {**record["run"], **more}
        return arrays, record

    def _settle_classes(self, arrays: model_file.Arrays, record: dict[str, Any]) -> None:
        """Label the classes; leave out the weights of those that never came."""
        if len(self.classes_) < 2:
            raise ParameterError(
                f"a saved classifier needs at least 2 classes, got {self.classes_.tolist()}"
            )
        order = np.argsort(self._class_numbers)
        record["classes"] = [_plain(label) for label in self.classes_[order]]
        if len(order) == self.learner_.config.n_classes:
            return
        record["config"]["n_classes"] = len(order)
        narrow_arrays(arrays, self.learner_, self._class_numbers[order])

    def _settle_names(self, arrays: model_file.Arrays) -> None:
        """Give columns that have a name theirs; those of a stream are there already."""
        names = getattr(self, "feature_names_in_", self.feature_names)
        if names is None or self.learner_.naming != "id":
            return
        for heap in [name.removesuffix(".keys") for name in arrays if name.endswith(".keys")]:
            found = looked_up(names, arrays[f"{heap}.keys"], "x")
            packed = pack_names([name.encode() for name in found])
            arrays[f"{heap}.names.data"], arrays[f"{heap}.names.offsets"] = packed

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Make a fitted estimator from a model file.

        Its parameters are those the model was made with, as far as the file tells: ``memory`` is
        the model's size, ``passes`` is 1. Of the names of columns the file has those of the
        selected ones.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        estimator
        """
        learner = load(path)
        config = learner.config
        estimator = cls(
            learner=config.learner,
            k=config.k,
            memory=config.sizes.model_bytes,
            batch_size=config.batch_size,
            step_size=config.step,
            l2=config.l2,
            fit_intercept=config.intercept,
            random_state=config.seed,
        )
        estimator._adopt(learner)
        return estimator

    def _adopt(self, learner: Learner) -> None:
        """Take over a learner that was made elsewhere."""
        regression = learner.config.loss == "squared"
        if "selected_only" in vars(self):
            self.selected_only = learner.run.pop("selected_only", False) is True
        if "task" in vars(self):
            self.task = "regression" if regression else "classification"
        if regression == self._classifies():
            kind = "regression" if regression else "classification"
            raise IncompatibleError(
                f"{type(self).__name__} cannot take a model of {kind} (loss "
                f"{learner.config.loss!r})",
                hint="Load it with the other estimator.",
            )
        columns = _columns_in(learner)
        if columns is not None:
            self.n_features_in_ = columns
        self._named_columns = _named_columns(learner)
        if not regression:
            classes = np.array(class_labels(learner))
            self._class_numbers = np.argsort(classes)
            self.classes_ = classes[self._class_numbers]
            learner.labels = Labels(learner.config.loss, len(classes))
        self.learner_ = learner

    def __getstate__(self) -> dict[str, Any]:
        kept = dict(super().__getstate__())
        if "learner_" in kept:
            kept["learner_"] = kept["learner_"].to_bytes()
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        if "learner_" in kept:
            kept = {**kept, "learner_": Learner.from_bytes(kept["learner_"])}
        super().__setstate__(kept)


def _named_columns(learner: Learner) -> dict[int, str]:
    """Names of the columns of a matrix, of those that are selected, where the file has them."""
    if learner.naming != "id":
        return {}
    groups = [learner._core.selected(g) for g in range(learner._core.groups)]
    pairs = [pair for group in groups for pair in zip(group["keys"], group["names"], strict=True)]
    return {int(key): name.decode("utf-8", "replace") for key, name in pairs if name}


def _columns_in(learner: Learner) -> int | None:
    """Columns of the matrix a learner was fitted to; None where features had none."""
    if "n_columns" not in learner.run:
        return learner.config.dimension or None
    columns = learner.run.pop("n_columns")
    if type(columns) is not int or not 0 < columns < 2**63:
        raise ModelFileError(
            f"a model must say how many columns its matrix had, 1 to 2**63 - 1, got {columns!r}",
            code="MODEL-CONTENTS",
        )
    return columns


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
