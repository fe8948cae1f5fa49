"""The indices of sparse matrices, checked before anything follows them: SciPy and compiled code do not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.labels import Place, name_row
from onlinear.errors import DataError


def check_sparse(X: Any) -> None:
    """Refuse a SciPy matrix whose indices are out of range: SciPy follows them unchecked."""
    if X.format == "csr":
        if X.indptr.size != X.shape[0] + 1:
            raise DataError(f"X has {X.shape[0]} row(s), and its indptr {X.indptr.size} entries; X is malformed")
        check_pointers(X.indptr, min(X.indices.size, X.data.size))
        return
    coords = X.coords if X.format == "coo" else ()
    for axis, indices in enumerate(coords):
        if indices.size and not (indices.min() >= 0 and indices.max() < X.shape[axis]):
            k = int(np.argmax((indices < 0) | (indices >= X.shape[axis])))
            where = ", ".join(str(places[k]) for places in coords)
            raise DataError(f"X is malformed: entry {k} is at ({where}), outside its shape {X.shape}")
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
        elif X.format == "dok":
            X.tocoo()
    except ValueError as error:
        raise DataError(f"X is malformed: {error}") from error


def check_pointers(indptr: NDArray[Any], entries: int, place: Place = name_row) -> None:
    """Refuse row pointers that are out of order or out of range: SciPy follows them unchecked."""
    ends = indptr[1:]
    if not ends.size or (indptr[0] >= 0 and int(indptr[-1]) <= entries and (ends >= indptr[:-1]).all()):
        return
    i = int(np.argmax((ends < indptr[:-1]) | (indptr[:-1] < 0) | (ends > entries)))
    raise DataError(
        f"{place(i)}: indptr goes from {indptr[i]} to {indptr[i + 1]}, of {entries} entries;"
        " the matrix is malformed (X.check_format())"
    )


def check_indices(indptr: NDArray[Any], indices: NDArray[Any], width: int, place: Place = name_row) -> None:
    """Refuse column indices out of range; `indices` are those of the rows that `indptr` cuts out."""
    if indices.size and not (indices.min() >= 0 and indices.max() < width):
        k = int(np.argmax((indices < 0) | (indices >= width)))
        i = int(np.searchsorted(indptr - indptr[0], k, side="right")) - 1
        raise DataError(f"{place(i)}: index {indices[k]}; the matrix has {width} columns, from 0 to {width - 1}")


def points_outside(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], width: int, i: int) -> bool:
    """Tell whether the indices of row i, or its pointers, exceed the matrix."""
    first, end = indptr[i], indptr[i + 1]
    if not 0 <= first <= end <= min(indices.size, data.size):
        return True
    columns = indices[first:end]
    return bool(((columns < 0) | (columns >= width)).any())
