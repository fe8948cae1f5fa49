"""Several classes as pairs of two: examples on which the multiclass perceptron is the perceptron."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import Checksum
from onlinear.data.indices import check_indices
from onlinear.data.labels import ManyClasses
from onlinear.data.one_label import show
from onlinear.engine.flat import Floats
from onlinear.engine.rows import SparseBlock
from onlinear.errors import DataError, ParameterError
from onlinear.theory.examples import Examples, check_opened_once
from onlinear.theory.reading import LabelledData, LabelledRows, as_csr

_ENTRIES = 1 << 20
"""About how many entries a block of pairs holds."""


class PairsOpening(TypedDict, total=False):
    """Options with which class pairs are opened; see `ClassPairs`."""

    classes: Any
    fit_intercept: bool


class ClassPair(NamedTuple):
    """An example, by its number, its class, and another class."""

    example: int
    own: Any
    other: Any


class ClassPairs:
    """Kesler's construction: for each example, and each class r other than its own, x ⊗ (e_y − e_r) with label 1.

    A matrix U with a row for each of the k classes has ⟨U_y − U_r, x⟩ ≥ γ for all of them exactly where its rows, laid
    end to end, have that margin on these pairs; and their length is √2‖x‖. So the multiclass perceptron's bound is the
    perceptron's on pairs. Iterating yields blocks of pairs, again and again. Example i has the pairs from i·(k−1) on,
    one for each class that follows its own, in a circle.

    Parameters
    ----------
    X, y : matrix and labels
        The labels may be of any number of classes. Without y, a stream or blocks ``(X, y)`` that can be iterated again;
        all rows are held in memory.
    classes : array
        All labels. Default: those in the data, sorted.
    fit_intercept : bool
        Put a constant 1 before the features.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import ClassPairs, bounds
    >>> pairs = ClassPairs(np.eye(3), ["a", "b", "c"])
    >>> round(bounds.multiclass(pairs, U=np.eye(3)).value, 12)
    6.0
    """

    def __init__(self, X: Any, y: Any = None, classes: Any = None, *, fit_intercept: bool = False) -> None:
        import scipy.sparse

        if isinstance(X, Examples):
            raise ParameterError("Examples have two classes; for several, give X and y themselves, or ClassPairs(X, y)")
        self._data = data = LabelledData(X, y)
        self.n, self.width, self.entries, self.layout = data.n, data.width, data.entries, data.layout
        self.bias = int(fit_intercept)
        self.classes: NDArray[Any] = np.sort(np.array(data.labels)) if classes is None else np.asarray(classes)
        if self.classes.ndim != 1 or np.unique(self.classes).size != self.classes.size or self.classes.size < 2:
            raise ParameterError(f"the classes are {self.classes.tolist()}; there must be at least two, all different")
        read = [(_as_csr(rows, self.bias, self.width), rows.y) for rows in self.blocks()]
        self.rows = scipy.sparse.vstack([part for part, _ in read], format="csr")
        self.codes = np.concatenate([codes for _, codes in read])
        if not np.isfinite(self.rows.data).all():
            bad = int(np.searchsorted(self.rows.indptr, np.argmin(np.isfinite(self.rows.data)), side="right")) - 1
            raise DataError(f"row {bad}: inputs must be finite")

    def __iter__(self) -> Iterator[tuple[Any, Floats]]:
        """Yield pairs, and their labels."""
        import scipy.sparse

        n, d = self.rows.shape
        k = self.classes.size
        step = max(1, _ENTRIES * n // (2 * k * max(1, self.rows.nnz)))
        for first in range(0, n, step):
            codes = np.repeat(self.codes[first : first + step], k - 1)
            example, offset = np.divmod(np.arange(codes.size), k - 1)
            part = self.rows[first : first + step][example]
            pair = np.repeat(np.arange(codes.size), np.diff(part.indptr))
            right, wrong = (part.indices + d * code[pair] for code in (codes, (codes + 1 + offset) % k))
            places = (np.tile(pair, 2), np.concatenate([right, wrong]))
            pairs = scipy.sparse.coo_array((np.concatenate([part.data, -part.data]), places), (codes.size, d * k))
            yield pairs.tocsr(), np.ones(codes.size)

    @functools.cached_property
    def seen(self) -> Examples:
        """The pairs as examples of the perceptron, which the proofs are about."""
        return Examples(self, classes=(-1, 1))

    def blocks(self) -> Iterator[LabelledRows]:
        """Yield the examples themselves, as `Examples.blocks` does, with the numbers of their classes."""
        return self._data.rows(ManyClasses(self.classes))

    def checksum(self, passes: int) -> str:
        """Return the running checksum of a stream that consists of several passes over the examples themselves."""
        checksum = Checksum()
        for rows in self._data.rows(ManyClasses(self.classes), passes):
            checksum.add(rows.row_sums(), rows.y)
        return str(checksum)

    def vector(self, U: Any) -> Floats:
        """Return the rows of a comparator, or of a pair (matrix, intercepts), laid end to end."""
        pair = isinstance(U, tuple) and len(U) == 2 and np.ndim(U[0]) == 2
        matrix = finite_matrix(U[0] if pair else U)
        if matrix is not None and self.bias:
            intercepts = np.asarray(U[1], dtype=np.float64) if pair else np.zeros(len(matrix))
            matrix = np.column_stack([intercepts, matrix]) if intercepts.shape == (len(matrix),) else None
        shape = (self.classes.size, self.width)
        if matrix is None or matrix.shape != (shape[0], self.rows.shape[1]) or (pair and not self.bias):
            wanted = ", or a pair of it and the classes' intercepts" if self.bias else ""
            raise ParameterError(
                f"U must be a matrix of finite numbers, {shape[0]} classes × {shape[1]} features{wanted}"
            )
        return matrix.reshape(-1)

    def split(self, whole: Floats) -> Any:
        """Return rows laid end to end as `vector` takes them: a matrix, or a pair (matrix, intercepts)."""
        matrix = whole.reshape(self.classes.size, -1)
        return (matrix[:, 1:], matrix[:, 0]) if self.bias else matrix

    def pair(self, number: int) -> ClassPair:
        """Return a pair by its number."""
        i, offset = divmod(number, self.classes.size - 1)
        return ClassPair(i, *(self.classes[(self.codes[i] + turn) % self.classes.size] for turn in (0, 1 + offset)))

    def name(self, number: int, places: Mapping[int, str] | None = None) -> str:
        """Return a description of a pair, by its number; places are those of examples, as far as they are known."""
        i, own, other = self.pair(number)
        return f"{(places or {}).get(i, f'row {i}')}, of class {show(own)}, against class {show(other)}"


def _as_csr(rows: LabelledRows, bias: int, width: int) -> Any:
    """Return rows as a CSR matrix, once their indices are known to be in range."""
    block = rows.block(bias)
    if isinstance(block, SparseBlock):
        check_indices(block.indptr, block.indices, width, lambda i: rows.chunk.place(rows.span.start + i))
    return as_csr(block, width)


def pairs_of(X: Any, y: Any = None, **options: Unpack[PairsOpening]) -> ClassPairs:
    """Return X itself where it is `ClassPairs`; otherwise open X and y."""
    if not isinstance(X, ClassPairs):
        return ClassPairs(X, y, **options)
    check_opened_once(X, {"y": y, **options})
    return X


def finite_matrix(given: Any) -> Floats | None:
    """Return a matrix of finite numbers; None where it is something else."""
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return matrix if matrix.ndim == 2 and np.isfinite(matrix).all() else None
