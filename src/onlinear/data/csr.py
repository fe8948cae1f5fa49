"""CSR rows on their way to a pass: three arrays that are known to be in order, without the cost of a SciPy matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Csr:
    """Rows with sorted, unique indices below `shape[1]`, named as SciPy names them; `scipy` makes a matrix of them."""

    format = "csr"
    ndim = 2
    has_canonical_format = True
    __slots__ = ("data", "indices", "indptr", "shape")

    def __init__(self, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], width: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.shape = (indptr.size - 1, width)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.data.size)

    def __getitem__(self, rows: Any) -> Any:
        return self.scipy()[rows]

    def copy(self) -> Csr:
        """Return the same rows in memory of their own."""
        return Csr(self.data.copy(), self.indices.copy(), self.indptr.copy(), self.shape[1])

    def scipy(self) -> Any:
        """Return a matrix of these very arrays."""
        X = csr_matrix(self.data, self.indices, self.indptr, self.shape[1])
        X.has_canonical_format = True
        return X


def csr_matrix(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], width: int) -> Any:
    """Return a SciPy matrix of these very arrays; its own constructor copies views of larger ones."""
    import scipy.sparse

    X = scipy.sparse.csr_array((indptr.size - 1, width), dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    return X
