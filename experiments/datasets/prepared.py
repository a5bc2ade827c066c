"""A data set ready for experiments: training and test rows with whole-number features."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.exceptions import SourceError
from bearsketch.files import open_whole

LARGEST_VALIDATION = 5000
VALIDATION_SHARE = 8  # at most one row in so many
VALIDATION_SEED = 1

Numbers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Training and test rows, in the order they are to be learned.

    Attributes
    ----------
    train, test : Batch
        Features are numbers below ``dimension``; labels are class numbers.
    dimension : int
        Possible features: what compression is relative to.
    classes : int
    """

    train: Batch
    test: Batch
    dimension: int
    classes: int

    def split(self) -> tuple[Batch, Batch]:
        """Training rows to fit on and training rows to tune on, always the same ones."""
        n = len(self.train)
        size = max(min(LARGEST_VALIDATION, n // VALIDATION_SHARE), 1)
        aside = np.zeros(n, dtype=bool)
        aside[np.random.default_rng(VALIDATION_SEED).permutation(n)[:size]] = True
        return self.train.keep(~aside), self.train.keep(aside)

    def save(self, path: Path) -> None:
        """Write one file of arrays, whole or not at all."""
        arrays: dict[str, Any] = {"dimension": self.dimension, "classes": self.classes}
        for name, part in (("train", self.train), ("test", self.test)):
            arrays |= {
                f"{name}.indptr": part.indptr,
                f"{name}.keys": part.keys.astype(np.uint32),
                f"{name}.values": part.values,
                f"{name}.labels": part.labels,
            }
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_whole(path) as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path) -> Prepared:
        """Read what :meth:`save` wrote; runs no code from the file."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                train, test = (
                    Batch(
                        arrays[f"{name}.indptr"],
                        arrays[f"{name}.keys"].astype(np.uint64),
                        arrays[f"{name}.values"],
                        arrays[f"{name}.labels"],
                    )
                    for name in ("train", "test")
                )
                return cls(train, test, int(arrays["dimension"]), int(arrays["classes"]))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise SourceError(
                f"{path} is no prepared data set: {error}",
                code="EXP-PREPARED",
                hint="Remove the file; it is made again from the data folder.",
            ) from error


def join(batches: Iterable[Batch]) -> Batch:
    """All rows of some batches as one, names left behind.

    Examples
    --------
    >>> part = Batch([0, 1], [3], [1.0], labels=[1])
    >>> len(join([part, part]))
    2
    """
    parts = list(batches)
    sizes = [np.diff(part.indptr) for part in parts]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    labels = np.concatenate([_labels(part) for part in parts])
    keys = np.concatenate([part.keys for part in parts])
    return Batch(indptr, keys, np.concatenate([part.values for part in parts]), labels)


def _labels(part: Batch) -> Numbers:
    assert part.labels is not None
    return part.labels


def take(batch: Batch, rows: Numbers) -> Batch:
    """Return rows of a batch in a given order.

    Examples
    --------
    >>> take(Batch([0, 2, 3], [7, 9, 8], [1.0, 0.5, 2.0], [0, 1]), np.array([1, 0])).keys
    array([8, 7, 9], dtype=uint64)
    """
    sizes = np.diff(batch.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(indptr[-1]) + np.repeat(batch.indptr[:-1][rows] - indptr[:-1], sizes)
    return Batch(indptr, batch.keys[entries], batch.values[entries], _labels(batch)[rows])


def shuffled(batch: Batch, seed: int = 0) -> Batch:
    """Return the rows in an order that depends on the seed alone."""
    return take(batch, np.random.default_rng(seed).permutation(len(batch)))


def unit_length(batch: Batch, *, logarithm: bool = False) -> Batch:
    """Scale rows to length one, after 1 + log of each value where ``logarithm`` is asked for.

    Examples
    --------
    >>> unit_length(Batch([0, 2], [1, 2], [3.0, 4.0])).values
    array([0.6, 0.8], dtype=float32)
    """
    values = batch.values.astype(np.float64)
    if logarithm:
        values = 1.0 + np.log(values)
    row_of = np.repeat(np.arange(len(batch)), np.diff(batch.indptr))
    length = np.sqrt(np.bincount(row_of, values**2, minlength=len(batch)))
    values /= np.where(length > 0.0, length, 1.0)[row_of]
    return replace(batch, values=values.astype(np.float32))


def numbered(train: Batch, test: Batch) -> tuple[Batch, Batch, int]:
    """Features of both parts as 0, 1, ..., and how many there are.

    Examples
    --------
    >>> one = Batch([0, 1], [900], [1.0], [0])
    >>> numbered(one, Batch([0, 1], [70], [1.0], [1]))[2]
    2
    """
    seen, numbers = np.unique(np.concatenate([train.keys, test.keys]), return_inverse=True)
    keys = numbers.astype(np.uint64)
    cut = train.n_entries
    parts = replace(train, keys=keys[:cut]), replace(test, keys=keys[cut:])
    return *parts, len(seen)
