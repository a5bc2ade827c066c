"""Few columns out of many, and back, without an array as long as all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config

from bearsketch.batch import Batch


def take_columns(estimator: Any, X: Any, columns: npt.NDArray[Any]) -> Any:
    """Columns of an array, CSR matrix or batch, given in ascending order.

    A model of a stream may know columns that X does not have: they are empty.
    """
    if isinstance(X, np.ndarray):
        here = columns < X.shape[1]
        found = np.zeros((len(X), len(columns)), dtype=X.dtype)
        found[:, here] = X[:, columns[here]]
        return found
    keys = X.keys if isinstance(X, Batch) else X.indices
    values = X.values if isinstance(X, Batch) else X.data
    place = np.searchsorted(columns, keys)
    kept = place < len(columns)
    kept[kept] = columns[place[kept]] == keys[kept]
    indptr = np.concatenate(([0], np.cumsum(kept)))[X.indptr]
    rows = len(X.indptr) - 1
    found = sparse_matrix((values[kept], place[kept], indptr), (rows, len(columns)))
    return found.toarray() if _wants_frame(estimator) else found


def expand_columns(X: Any, columns: npt.NDArray[np.int64], n_columns: int) -> Any:
    """CSR matrix with the columns of X at their places among ``n_columns``, the rest empty."""
    import scipy.sparse

    narrow = scipy.sparse.csr_array(X)
    return sparse_matrix(
        (narrow.data, columns[narrow.indices], narrow.indptr), (narrow.shape[0], n_columns)
    )


def sparse_matrix(parts: tuple[Any, Any, Any], shape: tuple[int, int]) -> Any:
    """CSR of the kind that scikit-learn's ``sparse_interface`` setting asks for."""
    import scipy.sparse

    as_array = get_config().get("sparse_interface", "spmatrix") == "sparray"
    made = scipy.sparse.csr_array if as_array else scipy.sparse.csr_matrix
    return made(parts, shape=shape)


def looked_up(names: Any, columns: npt.NDArray[Any], prefix: str) -> npt.NDArray[Any]:
    """Names of columns; those a mapping does not know get their number."""
    if isinstance(names, Mapping):
        found = [str(names.get(column, f"{prefix}{column}")) for column in columns.tolist()]
    else:
        found = [str(names[column]) for column in columns.tolist()]
    return np.array(found, dtype=object)


def _wants_frame(estimator: Any) -> bool:
    asked = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    return bool((asked or get_config()["transform_output"]) != "default")
