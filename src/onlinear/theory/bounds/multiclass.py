"""The multiclass perceptron: P13 of the theory sheet."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.data.labels import show
from onlinear.data.matrices import Source, spans
from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError, DataError, ParameterError
from onlinear.runs.online import read_arrays
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.bounds.geometry import measured, separator
from onlinear.theory.check.exact import float_up, root_down, root_up, squared
from onlinear.theory.examples import Examples

_ENTRIES = 1 << 20
"""How many entries a block of pairs holds, about."""
ALL_FROM_ZERO = "the first weights of all classes are 0"


class ClassPairs:
    """Kesler's construction: for each example, and each class r that is not its own, x ⊗ (e_y − e_r), with label 1.

    A matrix U with a row for each of the k classes has ⟨U_y − U_r, x⟩ ≥ γ for all of them exactly where
    its rows, laid end to end, have that margin on these pairs; and their length is √2‖x‖. So the
    multiclass perceptron's bound is the perceptron's on pairs. Iterating yields blocks of them, again
    and again; example i has the pairs from i·(k−1) on, with the classes that follow its own, in a circle. With
    `fit_intercept` x has a constant 1 before its features.
    """

    def __init__(self, X: Any, y: Any, classes: Any = None, *, fit_intercept: bool = False) -> None:
        import scipy.sparse

        source, labels = read_arrays(X, y)
        self.source, self.n, self.width = source, source.n, source.width
        self.layout = "sparse" if source.sparse else "dense"
        self.bias = int(fit_intercept)
        self.rows = scipy.sparse.csr_array(X if source.sparse else np.asarray(X, dtype=np.float64), dtype=np.float64)
        if not np.isfinite(self.rows.data).all():
            bad = int(np.searchsorted(self.rows.indptr, np.argmin(np.isfinite(self.rows.data)), side="right")) - 1
            raise DataError(f"row {bad}: inputs must be finite")
        self.classes: NDArray[Any] = np.unique(labels) if classes is None else np.asarray(classes)
        if self.classes.ndim != 1 or np.unique(self.classes).size != self.classes.size or self.classes.size < 2:
            raise ParameterError(f"the classes are {self.classes.tolist()}; there must be at least two, all different")
        matches = labels[:, None] == self.classes
        if not matches.any(axis=1).all():
            bad = int(np.argmin(matches.any(axis=1)))
            raise DataError(f"row {bad}: label {show(labels[bad])} is not among the classes")
        self.codes = np.argmax(matches, axis=1)
        if fit_intercept:
            ones: Any = scipy.sparse.csr_array(np.ones((self.n, 1)))
            self.rows = scipy.sparse.csr_array(scipy.sparse.hstack([ones, self.rows]))

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
        """The pairs as examples of the perceptron: what the proofs speak of."""
        return Examples(self, classes=(-1, 1))

    def blocks(self) -> Iterator[tuple[int, Source, slice, NDArray[np.intp]]]:
        """Yield blocks of the examples themselves, as `Examples.blocks` does, with the numbers of their classes."""
        for span in spans(self.source):
            yield 0, self.source, span, self.codes[span]

    def vector(self, U: Any) -> Floats:
        """Return the rows of a comparator, or of a pair (matrix, intercepts), laid end to end."""
        pair = isinstance(U, tuple) and len(U) == 2 and np.ndim(U[0]) == 2
        matrix = _finite_matrix(U[0] if pair else U)
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

    def names(self, pair: int) -> str:
        """Return in words which pair this is."""
        i, offset = divmod(pair, self.classes.size - 1)
        own, other = (show(self.classes[(self.codes[i] + turn) % self.classes.size]) for turn in (0, 1 + offset))
        return f"row {i}, of class {own}, against class {other}"


def _finite_matrix(given: Any) -> Floats | None:
    """Return a matrix of finite numbers; None where it is something else."""
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return matrix if matrix.ndim == 2 and np.isfinite(matrix).all() else None


def multiclass(X: Any, y: Any, U: Any = None, *, fit_intercept: bool = False, classes: Any = None) -> Bound:
    """Return the bound on the mistakes of the multiclass perceptron, which has a vector for each class.

    M ≤ 2R²/γ² where ⟨U_y − U_r, x⟩ ≥ γ‖U‖_F for every class r other than the right one, y. On a mistake,
    and a tie with the right class is one, x is added to the right class's vector and taken from the
    wrongly best one's.

    Parameters
    ----------
    X, y : matrix and labels
        The labels may be of any number of classes.
    U : matrix
        A row for each class, in the order of `classes`; with an intercept a pair (matrix, intercepts). Default:
        nearly the best there is.
    fit_intercept : bool
        Whether an intercept is learned, as if every example had a further feature 1.
    classes : array
        All labels. Default: those in y, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> round(bounds.multiclass(np.eye(3), ["a", "b", "c"], np.eye(3)).value, 12)
    6.0
    """
    pairs = ClassPairs(X, y, classes, fit_intercept=fit_intercept)
    return multiclass_of(pairs, separator(pairs.seen) if U is None else pairs.vector(U))


def multiclass_of(pairs: ClassPairs, u: Floats) -> Bound:
    """Return P13 for class pairs and the rows of U, laid end to end."""
    geometry = measured(pairs.seen, u)
    if geometry.least.value <= 0:
        raise AssumptionError(f"U does not separate the classes: see {pairs.names(geometry.least.row)}")
    return Bound(
        float_up(geometry.difficulty),
        "P13 multiclass perceptron",
        checked=(f"U separates the classes on all {pairs.codes.size:,} examples, and ‖x‖ ≤ R on them",),
        declared=(ALL_FROM_ZERO, EXACT),
        quantities={
            "radius": root_up(geometry.squared_radius / 2),
            "margin": root_down(geometry.squared_margin),
            "classes": pairs.classes.size,
        },
    )


def multiclass_backward(W: Any, mistakes: int) -> Bound:
    """Return the bound on every multiclass margin of what has been seen: the proof read backwards.

    γ ≤ ‖W‖_F/M after M mistakes, where ⟨U_y − U_r, x⟩ ≥ γ for all r ≠ y and ‖U‖_F = 1; infinite for M = 0.

    Parameters
    ----------
    W : matrix
        The weights, a row for each class.
    mistakes : int
        M, all of them from weights 0.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bounds.multiclass_backward([[1.0, -1.0], [-1.0, 1.0]], 4).value
    0.5
    """
    check_integers(0, mistakes=mistakes)
    mistakes = int(mistakes)
    matrix = _finite_matrix(W)
    if matrix is None:
        raise ParameterError("W must be a matrix of finite numbers, with a row for each class")
    square = squared(matrix.reshape(-1))
    return Bound(
        root_up(square / Fraction(mistakes) ** 2) if mistakes else math.inf,
        "P13 multiclass, the proof read backwards",
        declared=(ALL_FROM_ZERO, "W is the sum of the steps, which no rounding has changed"),
        quantities={"norm": root_up(square), "mistakes": mistakes},
        of="margin",
    )
