"""What is wrong with X or y, by column and row, where scikit-learn says less."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.exceptions import ParameterError

_CATEGORIES = (
    "Give a frame (pandas, polars, Arrow), whose columns may hold text, categories and dates; or "
    "encode the column, or leave it out."
)


def check_column_names(X: Any, known: Mapping[int, str]) -> None:
    """Refuse a frame with two columns of one name, or with others than those that are known."""
    names = [str(name) for name in getattr(X, "columns", ())] if hasattr(X, "dtypes") else []
    for place, wanted in known.items():
        if place < len(names) and names[place] != wanted != f"x{place}":
            raise ParameterError(
                f"X must have its columns in the order of fit, got {names[place]!r} as column "
                f"{place}, which was {wanted!r}",
                hint="A saved model knows columns by their place, and names of the selected ones.",
            )
    counts = Counter(names)
    name, n = max(counts.items(), key=lambda item: item[1], default=("", 1))
    if n > 1:
        raise ParameterError(
            f"X must have columns of different names, got {n} columns named {name!r}",
            hint="Rename them, or keep one: X.loc[:, ~X.columns.duplicated()].",
        )


def told_by_column(error: Exception, X: Any) -> Exception:
    """Error about a column of X that holds no numbers, or the error as it is."""
    if "eature names" in str(error):
        return error  # which columns there are comes before what they hold
    for name, column in _columns(X):
        row = 0 if column.dtype.kind in "mM" else _first_word(column)
        if row is not None and len(column):
            return ParameterError(
                f"X must hold numbers, got {str(column[row])!r} in column {name!r}, row {row}",
                hint=_CATEGORIES,
            )
    return error


def _columns(X: Any) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        yield from ((name, np.asarray(X[name])) for name in X.columns)
    elif getattr(X, "ndim", 0) == 2 and isinstance(X, np.ndarray):
        yield from enumerate(X.T)


def _first_word(values: npt.NDArray[Any]) -> int | None:
    """Row of the first text that is not a number."""
    for row, value in enumerate(values.tolist() if values.dtype.kind in "OSTU" else ()):
        if isinstance(value, str | bytes):
            try:
                float(value)
            except ValueError:
                return row
    return None


def check_no_gap(y: npt.NDArray[Any]) -> None:
    """Refuse a target that is missing for some example."""
    gap = np.isnan(y) if y.dtype.kind == "f" else np.array([], dtype=bool)
    if y.dtype.kind == "O":
        gap = np.array([_is_missing(value) for value in y.tolist()], dtype=bool)
    if gap.any():
        row = int(np.argmax(gap))
        raise ParameterError(
            f"y must have a target for each example: Input y contains NaN or None, {gap.sum()} in "
            f"all, first in row {row}",
            hint="Leave such examples out of X and y; fit_stream does so by itself.",
        )


def _is_missing(value: Any) -> bool:
    # pandas.NA and NaT are known by name, so that pandas need not be there.
    empty = value is None or type(value).__name__ in ("NAType", "NaTType")
    return empty or (isinstance(value, float) and math.isnan(value))


def check_no_words(y: npt.NDArray[Any]) -> None:
    """Refuse words where numbers are to be predicted."""
    row = _first_word(y)
    if row is not None:
        raise ParameterError(
            f"y must be numbers for regression, got {str(y[row])!r} in row {row}",
            hint="Words are classes: use SketchClassifier, or task='classification' to select.",
        )
