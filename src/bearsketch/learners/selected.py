"""The selected features, as a user reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from bearsketch.keys import hash_names, key_name
from bearsketch.learners.labels import Label


def keeps_largest(update: str, weights: npt.NDArray[np.float64]) -> bool:
    """Whether of several weights the largest counts, as ``bear+`` selects, and not their norm."""
    return update == "posterior" and weights.shape[1] > 1


def sizes_of(update: str, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Size of the weights of each key, as it counts where features are selected.

    Examples
    --------
    >>> weights = np.array([[3.0, -4.0]])
    >>> sizes_of("posterior", weights), sizes_of("lbfgs", weights)
    (array([3.]), array([5.]))
    """
    if keeps_largest(update, weights):
        return np.asarray(np.maximum(weights.max(axis=1), 0.0))
    return np.asarray(np.linalg.norm(weights, axis=1))


def spoken_for(update: str, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Column of each key whose weight is shown."""
    shown = weights if keeps_largest(update, weights) else np.abs(weights)
    return np.asarray(np.argmax(shown, axis=1))


def classes_of(
    weights: npt.NDArray[np.float64], columns: npt.NDArray[np.intp], *, two: bool
) -> npt.NDArray[np.intp]:
    """Class number that stands beside each weight: of two classes its sign tells, else its column.

    Examples
    --------
    >>> classes_of(np.array([-2.05, 1.5]), np.array([0, 0]), two=True)
    array([0, 1])
    """
    return (weights > 0.0).astype(np.intp) if two else columns


class Feature(NamedTuple):
    """One selected feature; ``label`` is the class of its weight, see :class:`Selected`."""

    name: str
    key: int
    weight: float
    label: Label | None


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """Selected features, best first: by the norm of their weights over the classes.

    Of ``bear+`` by the largest weight, times what a unit of it is worth, as it selects them: with
    values above 1 times their size, for a weight is per unit, and 0.01 per euro of a price moves
    more than 1 for a word; and times the fourth root of how often the feature occurred, the eighth
    with more than two classes.

    Attributes
    ----------
    names : list of str
        Two names that met on one key are shown joined by a bar.
    keys : ndarray of uint64, shape (n,)
    weights : ndarray of float64, shape (n,)
        With classes sharing one heap, the largest weight over the classes; of other learners than
        ``bear+`` that of largest magnitude.
    labels : list
        The class of each weight: with two classes the one its sign speaks for, the second where it
        is positive; regression: None.
    all_weights : ndarray of float64, shape (n, n_weights)
        One weight per class where classes share the heap, else one column.
    worths : ndarray of float64, shape (n,)
        What a unit of each weight is worth; 1 for learners other than ``bear+``.
    fdr : ndarray of float64, shape (n,)
        Least share of false names among those listed with it: a list of all features whose
        ``fdr`` is at most q has on average at most a share q of names that have nothing to do
        with the label. NaN where that is not known: the test has not started, or found nothing.
    log10_e : ndarray of float64, shape (n,)
        Strength of the evidence: log10 of the e-value. NaN where the test has not started.
    odds_ratio : ndarray of float64, shape (n,)
        Of the tested class where the feature is present, against where it is not, from rows that
        were not used to select it. For regression the shift in standard deviations of the ranks.
    rows : ndarray of int64, shape (n,)
        Rows that had the feature since it was selected.
    tested : list
        The class each test is about; regression: None.
    members : list of list of str
        With lines, the names each one stands for, itself first; else empty.
    """

    names: list[str]
    keys: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]
    labels: list[Label | None]
    all_weights: npt.NDArray[np.float64]
    worths: npt.NDArray[np.float64]
    fdr: npt.NDArray[np.float64]
    log10_e: npt.NDArray[np.float64]
    odds_ratio: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    tested: list[Label | None]
    members: list[list[str]] = field(default_factory=list)

    def take(self, places: npt.NDArray[np.intp]) -> Selected:
        """Take some of the features, in the order of their places."""
        found: dict[str, Any] = {"names": [], "labels": [], "tested": []}
        for spec in fields(self):
            held = getattr(self, spec.name)
            if isinstance(held, np.ndarray):
                found[spec.name] = held[places]
            elif held:
                found[spec.name] = [held[i] for i in places.tolist()]
        return replace(self, **found)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Feature]:
        for name, key, weight, label in zip(
            self.names, self.keys, self.weights, self.labels, strict=True
        ):
            yield Feature(name, int(key), float(weight), label)

    @overload
    def __getitem__(self, rank: int) -> Feature: ...
    @overload
    def __getitem__(self, rank: slice) -> list[Feature]: ...
    def __getitem__(self, rank: int | slice) -> Feature | list[Feature]:
        if isinstance(rank, slice):
            return list(self)[rank]
        return Feature(
            self.names[rank], int(self.keys[rank]), float(self.weights[rank]), self.labels[rank]
        )


def joined(selected: Selected, classes: Sequence[Label]) -> Selected:
    """Features that classes selected each for itself, every one once with a weight per class.

    The order is that of the first time a feature comes; a class that did not select it has
    weight 0.

    Parameters
    ----------
    selected : Selected
        Of a learner with a heap per class.
    classes : sequence
        Labels by class number.
    """
    _, first, inverse = np.unique(selected.keys, return_index=True, return_inverse=True)
    places = np.sort(first)
    rows = np.searchsorted(places, first)[inverse]
    number = {label: i for i, label in enumerate(classes)}
    columns = [number[label] for label in selected.labels if label is not None]
    every = np.zeros((len(places), len(classes)))
    every[rows, columns] = selected.weights
    largest = np.argmax(np.abs(every), axis=1)
    return Selected(
        names=[selected.names[i] for i in places],
        keys=selected.keys[places],
        weights=every[np.arange(len(places)), largest],
        labels=[classes[i] for i in largest],
        all_weights=every,
        worths=selected.worths[places],
        **_tests_of(selected, [classes[i] for i in largest], rows),
    )


def _tests_of(
    selected: Selected, labels: list[Label], rows: npt.NDArray[np.intp]
) -> dict[str, Any]:
    """Evidence of each joined feature: that of the class whose weight is shown."""
    places = list(enumerate(zip(rows.tolist(), selected.labels, strict=True)))
    of_label = {key: i for i, key in places}
    first = {row: i for i, (row, _) in reversed(places)}
    chosen = [of_label.get((row, label), first[row]) for row, label in enumerate(labels)]
    names = ("fdr", "log10_e", "odds_ratio", "rows")
    found = {name: getattr(selected, name)[chosen] for name in names}
    return {**found, "tested": [selected.tested[i] for i in chosen]}


def shown_names(group: dict[str, Any], naming: str | None, seed: int) -> list[str]:
    """Names of a core selection: kept ones, or decoded from the key.

    No name is kept of an empty one either, which its key tells.
    """
    shown = []
    empty = int(hash_names([b""], seed)[0]) if naming == "name" else None
    for key, name, alias in zip(group["keys"], group["names"], group["aliases"], strict=True):
        text = _text(name) if name or int(key) == empty else key_name(int(key), naming or "id")
        shown.append(f"{text} | {_text(alias)}" if alias else text)
    return shown


def second_names(groups: Iterable[dict[str, Any]]) -> dict[int, str]:
    """Second names of keys that were seen under two, from the groups of a core selection."""
    return {
        int(key): _text(alias)
        for group in groups
        for key, alias in zip(group["keys"], group["aliases"], strict=True)
        if alias
    }


def _text(name: bytes) -> str:
    return name.decode("utf-8", errors="backslashreplace")
