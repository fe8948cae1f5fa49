"""Labelled examples that a theorem speaks of: read again and again, block by block, or a few rows exactly."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.labels import Classes, declared_classes, distinct, found_classes
from onlinear.engine.algebra import length
from onlinear.engine.flat import Floats, inverse_norm
from onlinear.engine.rows import Block, Row, SparseBlock
from onlinear.errors import DataError
from onlinear.models.state import weights_of
from onlinear.rules.perceptron import Perceptron
from onlinear.rules.rule import rule
from onlinear.runs.beginning import open_arrays, open_chunks
from onlinear.runs.learner import Learner
from onlinear.runs.margin import norm

UNIT = 2.0**-53
"""What one rounding costs, relative to its result."""
_LEAST = 2.0**-1074
"""What one product may lose to underflow."""


@rule
class Lengths(NamedTuple):
    """Measures ‖x‖, by way of a score; it learns nothing."""

    def start(self, n: int) -> Floats:
        return np.zeros(n)

    def score(self, w: Floats, x: Row) -> float:
        return length(x)

    def update(self, w: Floats, x: Row, y: float, score: float, mistake: bool) -> bool:
        return False


class Part(NamedTuple):
    """Some rows in their order, from row `first` on: labels ±1, scores, and how wrong the scores may be."""

    first: int
    y: NDArray[np.int8]
    scores: Floats
    errors: Floats


class Examples:
    """Examples with labels ±1: a matrix and its labels, or blocks that can be iterated again and again.

    The theorems speak of rows as the learner sees them: with `fit_intercept` a 1 stands before the
    features, with `normalize` the features are x/‖x‖. `entries` says about how many numbers a pass reads.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        fit_intercept: bool = False,
        normalize: bool = False,
        classes: Any = None,
        n_features: int = 0,
    ) -> None:
        if y is None and isinstance(X, Iterator):
            raise DataError("these blocks can be read only once; give a list, or an object that can be iterated again")
        self._blocks: Iterable[Any] | None = X if y is None else None
        self._arrays = None if y is None else open_arrays(X, y)
        self.bias = int(bool(fit_intercept))
        self.normalize = bool(normalize)
        self._passes = 1
        self.n = self.width = self.entries = 0
        layouts: set[str] = set()
        labels: list[Any] = []
        for chunk in self._chunks():
            labels = distinct(chunk.y, labels, chunk.place)
            sparse = chunk.matrix.sparse
            if self.n and chunk.width != self.width and not sparse:
                raise DataError(
                    f"{chunk.place(0)} has {chunk.width} features, but {self.width} are known; dense rows need them all"
                )
            self.n += chunk.n
            self.entries += chunk.nbytes // 8
            layouts.add("sparse" if sparse else "dense")
            self.width = max(self.width, chunk.width)
        if self.n == 0:
            raise DataError("no examples")
        self.width = max(self.width, n_features)
        self.layout = layouts.pop() if len(layouts) == 1 else "mixed"
        self.classes: Classes = found_classes(labels) if classes is None else declared_classes(classes)
        self._readers: dict[type, Learner] = {}

    @property
    def seen(self) -> Examples:
        """What the proofs speak of: these examples, where there are two classes."""
        return self

    def repeated(self, passes: int) -> Examples:
        """Return the examples as they pass by when they are read so many times, one after another."""
        again = copy.copy(self)
        again._passes, again.n = passes, passes * self.n
        return again

    def unscaled(self) -> Examples:
        """Return the examples as they are, not normalised."""
        raw = copy.copy(self)
        raw.normalize, raw._readers = False, {}
        return raw

    def _chunks(self) -> Iterator[Chunk]:
        for _ in range(self._passes):
            yield from open_chunks(self._blocks) if self._arrays is None else [self._arrays]

    def blocks(self) -> Iterator[tuple[int, Chunk, slice, NDArray[np.int8]]]:
        """Yield blocks in order: the number of the chunk's first row, the chunk, the rows in it, labels ±1."""
        first = 0
        for chunk in self._chunks():
            for span in chunk.spans():
                yield first, chunk, span, chunk.codes(self.classes, span)
            first += chunk.n

    @property
    def labels(self) -> tuple[Any, Any]:
        """The two labels, negative and positive, as plain Python values."""
        negative, positive = self.classes.labels.tolist()
        return negative, positive

    def vector(self, name: str, given: Any) -> Floats:
        """Return weights, or a pair (weights, intercept), as one vector: the intercept first, if there is one."""
        return self._reader(Perceptron()).vector(name, given)

    def scores(self, w: Floats) -> Iterator[Part]:
        """Yield ⟨w,x⟩ of all rows, with a bound on each one's rounding error."""
        size = math.nextafter(norm(w) * (1.0 + 16.0 * UNIT), math.inf) if w.any() else 0.0
        for first, chunk, span, y in self.blocks():
            block = chunk.block(span, self.bias, self.normalize)
            terms = self._terms(block)
            scores = self._measured(Perceptron(), block, chunk, first, span, w)
            lengths = self._measured(Lengths(), block, chunk, first, span)
            # Of a zero vector nothing is rounded; any other product may also underflow, before the row is scaled.
            # An error bound that overflows decides nothing.
            with np.errstate(over="ignore"):
                lost = self._underflow(chunk, first, span) if size else 0.0
                errors = terms * (UNIT * (size * lengths) + lost)
            yield Part(first + span.start, y, scores, errors)

    def _underflow(self, chunk: Chunk, first: int, span: slice) -> Floats | float:
        """Return what a product may lose to underflow, once the sum over its row is scaled."""
        if not self.normalize:
            return _LEAST
        lengths = self._measured(Lengths(), chunk.block(span, 0, normalize=False), chunk, first, span)
        # A zero row stays as it is. Not 1/‖x‖ first, which may overflow.
        return np.maximum(_LEAST, 2.0 * _LEAST / np.where(lengths > 0.0, lengths, 2.0))

    def prices(self, w: Floats) -> Iterator[tuple[int, NDArray[np.int8], Floats]]:
        """Yield ⟨w,x⟩ of all rows as they come out, for those who need no more."""
        for first, chunk, span, y in self.blocks():
            block = chunk.block(span, self.bias, self.normalize)
            yield first + span.start, y, self._measured(Perceptron(), block, chunk, first, span, w)

    def lengths(self) -> Iterator[tuple[int, Floats, float]]:
        """Yield ‖x‖ of all rows, and a bound on the relative error."""
        for first, chunk, span, _ in self.blocks():
            block = chunk.block(span, self.bias, self.normalize)
            lengths = self._measured(Lengths(), block, chunk, first, span)
            yield first + span.start, lengths, self._terms(block) * UNIT

    def rows(self, numbers: NDArray[np.intp]) -> tuple[Any, NDArray[np.int8]]:
        """Return some rows as a CSR matrix of float64, and their labels; a normalised row is rounded once."""
        import scipy.sparse

        numbers = np.asarray(numbers, dtype=np.intp)
        outside = numbers[(numbers < 0) | (numbers >= self.n)]
        if outside.size:
            raise DataError(f"there are {self.n} rows; row {int(outside[0])} is not among them")
        order = np.argsort(numbers, kind="stable")
        wanted, parts, codes = numbers[order], [], []
        for first, chunk, span, y in self.blocks():
            low, high = np.searchsorted(wanted, [first + span.start, first + span.stop])
            if low < high:
                chosen = wanted[low:high] - first
                parts.append(_as_csr(chunk.block(chosen, self.bias, self.normalize), self.width))
                codes.append(y[chosen - span.start])
        back = np.empty(numbers.size, dtype=np.intp)
        back[order] = np.arange(numbers.size)
        if not numbers.size:
            return scipy.sparse.csr_array((0, self.width + self.bias)), np.empty(0, dtype=np.int8)
        return scipy.sparse.vstack(parts, format="csr")[back], np.concatenate(codes)[back]

    def learner(self, rule_: Any) -> Learner:
        """Return a fresh learner for these examples."""
        learner = Learner(rule_, self.classes, fit_intercept=bool(self.bias), normalize=self.normalize)
        learner.begin(self.width)
        return learner

    def feed(self, learner: Learner) -> None:
        """Let a learner go over all examples once."""
        for _, chunk, span, y in self.blocks():
            end = learner.learn(chunk.block(span, self.bias, self.normalize), y)
            if end < y.size:
                raise learner.refuse(chunk, span.start + end)

    def _reader(self, rule_: Any) -> Learner:
        kind = type(rule_)
        if kind not in self._readers:
            self._readers[kind] = self.learner(rule_)
        return self._readers[kind]

    def _measured(
        self, rule_: Any, block: Block, chunk: Chunk, first: int, span: slice, w: Floats | None = None
    ) -> Floats:
        reader = self._reader(rule_)
        if w is not None:
            weights_of(reader.arrays)[:] = w
        n = span.stop - span.start
        measured, _, end = reader.score(block, n, 0)
        if end < n:
            raise reader.refuse(chunk, span.start + end)
        return measured

    def _terms(self, block: Block) -> float:
        """Return how many roundings a sum over a row takes, at most."""
        entries = int(np.diff(block.indptr).max()) if isinstance(block, SparseBlock) else self.width
        return (2.0 if self.normalize else 1.0) * (entries + 16.0)


def _as_csr(block: Block, width: int) -> Any:
    """Return a block as a CSR matrix of float64, with the constant 1 of an intercept in column 0."""
    import scipy.sparse

    rows: Any
    if isinstance(block, SparseBlock):
        shape = (block.indptr.size - 1, width)
        rows = scipy.sparse.csr_array((block.values, block.indices, block.indptr), shape=shape).astype(np.float64)
        rows.eliminate_zeros()
    else:
        rows = scipy.sparse.csr_array(block.values.astype(np.float64))
    if block.normalize:
        rows = scipy.sparse.diags_array(_inverse_norms(rows)) @ rows
    if block.bias:
        ones: Any = scipy.sparse.csr_array(np.ones((rows.shape[0], 1)))
        rows = scipy.sparse.hstack([ones, rows])
    return scipy.sparse.csr_array(rows)


def _inverse_norms(rows: Any) -> Floats:
    return np.array([inverse_norm(rows.data, a, b - a) for a, b in pairwise(rows.indptr.tolist())])
