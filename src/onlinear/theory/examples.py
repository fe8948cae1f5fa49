"""Labelled examples, opened once and read as often as a theorem needs them."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.data.checksum import Checksum
from onlinear.data.labels import Classes, declared_classes, found_classes
from onlinear.engine.algebra import length
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block, Row, SparseBlock
from onlinear.errors import AssumptionError, DataError, ParameterError
from onlinear.models.state import weights_of
from onlinear.rounding import UNIT, accurate_norm
from onlinear.rules.perceptron import Perceptron
from onlinear.rules.rule import rule
from onlinear.runs.learner import Learner
from onlinear.runs.learners import new_learner
from onlinear.theory.reading import LabelledData, LabelledRows, as_csr, row_sizes

_LEAST = 2.0**-1074
"""The most that one product can lose to underflow."""


@rule
class Lengths(NamedTuple):
    """Measures ‖x‖ as a score; it learns nothing."""

    def start(self, n: int) -> Floats:
        return np.zeros(n)

    def score(self, w: Floats, x: Row) -> float:
        return length(x)

    def update(self, w: Floats, x: Row, y: float, score: float, mistake: bool) -> bool:
        return False


class ScoredRows(NamedTuple):
    """Consecutive rows from row `first` on: labels ±1, scores, and a bound on each score's rounding error."""

    first: int
    y: NDArray[np.int8]
    scores: Floats
    errors: Floats


class ScoredBlock(NamedTuple):
    """A block from row `first` on, with labels ±1 and the scores of a rule that has not learned anything yet."""

    first: int
    block: Block
    y: NDArray[np.int8]
    scores: Floats


class Opening(TypedDict, total=False):
    """Options with which examples are opened; see `Examples`."""

    fit_intercept: bool
    normalize: bool
    classes: Any
    n_features: int


class Examples:
    """Examples with labels ±1, opened once for any number of bounds.

    Opening reads the data once. Every bound for two classes takes `Examples` instead of X and y. So do the measures,
    `onlinear.max_margin`, `onlinear.separability`, `onlinear.best_comparator`, and `verify` of what they return. Not
    thread-safe.

    Parameters
    ----------
    X, y : matrix and labels
        As in `onlinear.run`; without y, blocks ``(X, y)`` that can be iterated more than once.
    fit_intercept : bool
        Put a constant 1 before the features, as a learner with an intercept does.
    normalize : bool
        Divide each row by its length; zero rows stay as they are.
    classes : pair
        The labels (negative, positive). Default: the two labels in the data, in their order.
    n_features : int
        The number of features, where the data may have fewer columns.

    Attributes
    ----------
    n, width : int
        The number of rows, over all passes, and of features.
    passes : int
        How often they are read, one pass after another: 1, unless they are `repeated`.
    entries : int
        About how many numbers a pass reads.
    layout : {"dense", "sparse", "mixed"}
        How the rows are stored.

    Examples
    --------
    >>> from onlinear.theory import Examples, bounds
    >>> examples = Examples([[1.0, 0.0], [0.0, -1.0]], [1, -1])
    >>> bounds.perceptron(examples, u=[1.0, 1.0]).value, bounds.hinge(examples, u=[0.0, 0.0]).value
    (2.0, 2.0)
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
        check_integers(0, n_features=n_features)
        self._data = data = LabelledData(X, y)
        self.bias = int(bool(fit_intercept))
        self.normalize = bool(normalize)
        self.passes = 1
        self.n, self.entries, self.layout = data.n, data.entries, data.layout
        self.width = max(data.width, n_features)
        self.classes = _two_classes(data.labels) if classes is None else declared_classes(classes)
        self._readers: dict[type, Learner] = {}

    @property
    def seen(self) -> Examples:
        """The examples that the proofs are about: these, where there are two classes (compare `ClassPairs`)."""
        return self

    def repeated(self, passes: int) -> Examples:
        """Return the examples of several passes, one after another."""
        again = copy.copy(self)
        again.passes, again.n = passes, passes * self._data.n
        return again

    @property
    def once(self) -> Examples:
        """The examples of a single pass: enough for what is not counted or added up."""
        return self if self.passes == 1 else self.repeated(1)

    def unscaled(self) -> Examples:
        """Return the examples as they are, not normalised."""
        raw = copy.copy(self)
        raw.normalize, raw._readers = False, {}
        return raw

    def blocks(self) -> Iterator[LabelledRows]:
        """Yield all rows in order, with labels ±1."""
        return self._data.rows(self.classes, self.passes)

    def checksum(self, passes: int) -> str:
        """Return the running checksum of a stream that consists of several passes over these examples."""
        checksum = Checksum()
        for rows in self.repeated(passes).blocks():
            checksum.add(rows.row_sums(), rows.y)
        return str(checksum)

    @property
    def labels(self) -> tuple[Any, Any]:
        """The two labels, negative and positive, as plain Python values."""
        negative, positive = self.classes.labels.tolist()
        return negative, positive

    def vector(self, name: str, given: Any) -> Floats:
        """Return weights, or a pair (weights, intercept), as one vector: the intercept first, if there is one."""
        return self._reader(Perceptron()).vector(name, given)

    def split(self, whole: Floats) -> Any:
        """Return a vector with the intercept first as `vector` takes it: weights, or a pair (weights, intercept)."""
        return (whole[1:], float(whole[0])) if self.bias else whole

    def scores(self, w: Floats) -> Iterator[ScoredRows]:
        """Yield ⟨w,x⟩ of all rows, with a bound on each one's rounding error."""
        size = math.nextafter(accurate_norm(w) * (1.0 + 16.0 * UNIT), math.inf) if w.any() else 0.0
        for rows in self.blocks():
            block = rows.block(self.bias, normalize=self.normalize)
            scores = self._measure(Perceptron(), rows, block, w)
            lengths = self._measure(Lengths(), rows, block)
            # The products with a zero vector are exact; any other may underflow, before the row is scaled.
            # An error bound that overflows decides nothing.
            with np.errstate(over="ignore"):
                lost = self._underflow(rows) if size else 0.0
                errors = self._terms(block) * (UNIT * (size * lengths) + lost)
            yield ScoredRows(rows.first, rows.y, scores, errors)

    def _underflow(self, rows: LabelledRows) -> Floats | float:
        """Return the most that a product can lose to underflow, once the sum over its row is scaled."""
        if not self.normalize:
            return _LEAST
        lengths = self._measure(Lengths(), rows, rows.block())
        # A zero row stays as it is. Not 1/‖x‖ first, which may overflow.
        return np.maximum(_LEAST, 2.0 * _LEAST / np.where(lengths > 0.0, lengths, 2.0))

    def prices(self, w: Floats) -> Iterator[tuple[int, NDArray[np.int8], Floats]]:
        """Yield ⟨w,x⟩ of all rows, in floating point without error bounds."""
        for rows in self.blocks():
            block = rows.block(self.bias, normalize=self.normalize)
            yield rows.first, rows.y, self._measure(Perceptron(), rows, block, w)

    def lengths(self) -> Iterator[tuple[int, Floats, float]]:
        """Yield ‖x‖ of all rows, and a bound on the relative error."""
        for rows in self.blocks():
            block = rows.block(self.bias, normalize=self.normalize)
            yield rows.first, self._measure(Lengths(), rows, block), self._terms(block) * UNIT

    def rows(self, numbers: NDArray[np.intp]) -> tuple[Any, NDArray[np.int8]]:
        """Return some rows as a CSR matrix of float64, and their labels; a normalised row is rounded once."""
        import scipy.sparse

        numbers = np.asarray(numbers, dtype=np.intp)
        outside = numbers[(numbers < 0) | (numbers >= self.n)]
        if outside.size:
            raise DataError(f"there are {self.n} rows; row {int(outside[0])} is not among them")
        if not numbers.size:
            return scipy.sparse.csr_array((0, self.width + self.bias)), np.empty(0, dtype=np.int8)
        order = np.argsort(numbers, kind="stable")
        wanted, parts, codes = numbers[order], [], []
        for rows in self.blocks():
            low, high = np.searchsorted(wanted, [rows.first, rows.first + rows.y.size])
            if low < high:
                chosen = wanted[low:high]
                parts.append(as_csr(rows.choose(chosen, self.bias, normalize=self.normalize), self.width))
                codes.append(rows.y[chosen - rows.first])
        X = parts[0] if len(parts) == 1 else scipy.sparse.vstack(parts, format="csr")
        y = np.concatenate(codes)
        if (wanted == numbers).all():
            return X, y
        back = np.empty(numbers.size, dtype=np.intp)
        back[order] = np.arange(numbers.size)
        return X[back], y[back]

    def count_entries(self, numbers: NDArray[np.intp]) -> int:
        """Return how many numbers some rows hold, and no fewer; their matrix is not made, as it is by `rows`."""
        wanted = np.sort(numbers)
        total = wanted.size * self.bias
        for part in self.blocks():
            low, high = np.searchsorted(wanted, [part.first, part.first + part.y.size])
            if low < high:
                total += int(row_sizes(part.block())[wanted[low:high] - part.first].sum())
        return total

    def learner(self, rule_: Any) -> Learner:
        """Return a fresh learner for these examples."""
        learner = new_learner(rule_, self.classes, fit_intercept=bool(self.bias), normalize=self.normalize)
        learner.begin(self.width)
        return learner

    def feed(self, learner: Learner) -> None:
        """Let a learner learn from all examples once."""
        for rows in self.blocks():
            end = learner.learn(rows.block(self.bias, normalize=self.normalize), rows.y)
            if end < rows.y.size:
                raise rows.refuse(learner, end)

    def score_with(self, rule_: Any) -> Iterator[ScoredBlock]:
        """Yield all blocks with a rule's first scores; raise an `AssumptionError` where it does not accept a row."""
        reader = self.learner(rule_)
        for rows in self.blocks():
            block = rows.block(self.bias, normalize=self.normalize)
            scores, _, end = reader.score(block, rows.y.size, 0)
            if end < rows.y.size:
                raise AssumptionError(str(rows.refuse(reader, end)))
            yield ScoredBlock(rows.first, block, rows.y, scores)

    def _reader(self, rule_: Any) -> Learner:
        kind = type(rule_)
        if kind not in self._readers:
            self._readers[kind] = self.learner(rule_)
        return self._readers[kind]

    def _measure(self, rule_: Any, rows: LabelledRows, block: Block, w: Floats | None = None) -> Floats:
        reader = self._reader(rule_)
        if w is not None:
            weights_of(reader.arrays)[:] = w
        measures, _, end = reader.score(block, rows.y.size, 0)
        if end < rows.y.size:
            raise rows.refuse(reader, end)
        return measures

    def _terms(self, block: Block) -> float:
        """Return the most roundings that a sum over a row takes; the same for all blocks, wherever they are cut."""
        entries = self._data.most_entries if isinstance(block, SparseBlock) else self.width
        return (2.0 if self.normalize else 1.0) * (entries + 16.0)


def _two_classes(labels: list[Any]) -> Classes:
    """Return the two labels that were found in the data."""
    found = found_classes(labels)
    if not isinstance(found, Classes):
        raise DataError(
            f"the labels are {found}; this needs two classes (for several: onlinear.theory.ClassPairs(X, y).seen)"
        )
    return found


def examples_of(X: Any, y: Any = None, **options: Unpack[Opening]) -> Examples:
    """Return X itself where it is `Examples`; otherwise open X and y."""
    if not isinstance(X, Examples):
        return Examples(X, y, **options)
    check_opened_once(X, {"y": y, **options})
    return X


def opened_as(X: Any, y: Any, *, fit_intercept: bool, normalize: bool = False, classes: Any) -> Examples:
    """Return the examples of a witness: X itself if it is `Examples`, which must have been opened with its options."""
    if not isinstance(X, Examples):
        return Examples(X, y, fit_intercept=fit_intercept, normalize=normalize, classes=classes)
    check_opened_once(X, {"y": y})
    for name, mine, theirs in (
        ("fit_intercept", fit_intercept, bool(X.bias)),
        ("normalize", normalize, X.normalize),
        ("classes", list(classes), X.classes.labels.tolist()),
    ):
        if mine != theirs:
            raise ParameterError(f"these Examples were opened with {name}={theirs!r}; the witness needs {mine!r}")
    return X


def check_opened_once(examples: Any, options: Mapping[str, Any]) -> None:
    """Raise if an option of opening examples is passed together with examples that are open."""
    for name, value in options.items():
        if not (value is None or (isinstance(value, int | np.bool_) and value == 0)):
            kind = type(examples).__name__
            hint = "; pass what follows the examples by name" if name == "y" else ""
            raise ParameterError(f"{name} is given, but these {kind} already have it{hint}")
