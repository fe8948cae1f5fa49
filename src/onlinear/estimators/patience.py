"""When `fit` stops: once the examples are separated, or once that is out of the question."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.models.state import weights_of
from onlinear.runs import Convergence
from onlinear.runs.converge import Beginning, reason_at_limit
from onlinear.runs.convergence import Outcome, PassCounts, Stop
from onlinear.theory import ClassPairs, Examples, Inseparable, Separable, separability

_PASSES = 1000
"""After this many passes, check whether the data are separable."""
_MOST = 1_000_000
"""The limit of passes for separable data."""
_ENOUGH = 100
"""Updates from which a trend can be read."""
_FEWER, _RISING, _HARDLY_FEWER = 0.6, 0.7, 0.8
"""The mistakes of the second half of the passes in proportion to those of the first. On separable data that falls, and
is mostly below the first of these; on other data it tends to 1."""
_TREND = 32
"""Passes from which it counts that this rises."""
_SAMPLED, _NARROW = 10_000, 200
"""The largest number of entries of a sample, and of weights, for a check that takes tenths of a second at most."""
_ENTRIES, _PAIRED, _WIDTH = 3_000_000, 300_000, 100
"""The largest number of entries of the examples, or of pairs of classes, and of weights for a check of all examples: it
takes a few seconds at most."""

C = TypeVar("C", bound=Convergence)


class Answer(NamedTuple):
    """Whether examples are separable (None: not known), and a sentence that says so."""

    separable: bool | None
    words: str
    separator: Floats | None = None
    """Weights that separate them, as a state holds them, if such are known."""


NO_PROGRESS = "more passes would hardly help"
UNKNOWN = Answer(separable=None, words="whether any vector separates these examples is not known")


def stalls(passes: Sequence[PassCounts]) -> bool:
    """Tell, after 2, 4, 8, … passes, whether the steps do not become fewer, or ever more slowly so."""
    n = len(passes)
    if not _is_due(n) or sum(one.updates for one in passes[: n // 2]) < _ENOUGH:
        return False
    steps = [one.steps for one in passes]
    share = _share(steps)
    return share > _HARDLY_FEWER or (n >= _TREND and share > max(_RISING, _share(steps[: n // 2])))


def has_stalled(passes: Sequence[PassCounts]) -> bool:
    """Tell whether the passes have stalled at any time."""
    return any(stalls(passes[: n + 1]) for n in range(len(passes)))


def has_learned(passes: Sequence[PassCounts]) -> bool:
    """Tell, after 2, 4, 8, … passes, whether the second half of them made no mistakes, or hardly fewer than the first.

    For rules that take a step on every example, and never halt.
    """
    n = len(passes)
    if not _is_due(n):
        return False
    mistakes = [one.mistakes for one in passes]
    return not any(mistakes[n // 2 :]) or (sum(mistakes[: n // 2]) >= _ENOUGH and _share(mistakes) > _HARDLY_FEWER)


def falls_fast(passes: Sequence[PassCounts]) -> bool:
    """Tell whether the steps become fewer so fast that a few passes more will separate the examples."""
    return _share([one.steps for one in passes]) < _FEWER


def _is_due(n: int) -> bool:
    """Tell whether n, the number of passes, is 2, 4, 8 or the like: then progress is looked at."""
    return n > 1 and n & (n - 1) == 0


def _share(counts: Sequence[float]) -> float:
    """Return the sum of the second half in proportion to that of the first."""
    half = len(counts) // 2
    first = math.fsum(counts[:half])
    return math.fsum(counts[half:]) / first if first else math.inf


def until_separated(
    go_on: Callable[[Any, int, Stop | None], C],
    start: Any,
    max_iter: int | None,
    stop: Stop | None,
    ask: Callable[[], Answer] | None,
    start_at: Callable[[Floats], Any] | None = None,
) -> tuple[C, str]:
    """Run a halting loop; return its outcome, and what is known if it did not halt.

    Parameters
    ----------
    go_on : callable
        Runs the loop from a start, or from an outcome, for at most this many passes, or until it is told to stop.
    start : Any
        The start.
    max_iter : int or None
        The limit of passes. None: 1,000, or a million if the loop is certain to halt.
    stop : callable or None
        Tells whether the loop should stop, unless it is certain to halt.
    ask : callable or None
        Tells whether the examples are separable, so that the loop is certain to halt. None: there is no such check for
        this rule.
    start_at : callable or None
        Returns the start with other weights. If a separator is known, the loop then starts again from it, and most
        likely has nothing left to learn. None: the loop goes on from where it is, as long as it takes.
    """
    limit = _PASSES if max_iter is None else max_iter
    done = go_on(start, limit, stop)
    if done.outcome is not Outcome.PASS_LIMIT:
        return done, ""
    if done.passes == max_iter or ask is None:
        return done, "more passes (max_iter) may help" if done.passes == max_iter else NO_PROGRESS
    answer = ask()
    if not answer.separable:
        return done, answer.words
    if start_at is not None and answer.separator is not None:
        # Rounding may make a tie of a score that is above 0: then there is something to correct.
        corrected = go_on(start_at(answer.separator), limit, None)
        if corrected.halted:
            return corrected, ""
    limit = _MOST if max_iter is None else max_iter
    more = go_on(done, limit - done.passes, None)
    # The same as a single loop: the order of a pass depends on its number.
    whole = replace(more, passes=done.passes + more.passes, max_passes=limit)
    if more.outcome is not Outcome.PASS_LIMIT:
        return whole, ""
    bound = Beginning(weights_of(done.state.arrays), done.updates, done.state.steps).margin_upper_bound(more.state)
    whole = replace(whole, reason=reason_at_limit(Outcome.PASS_LIMIT, limit, bound))
    remedy = "more passes (max_iter) will" if max_iter is not None else "it takes too long; scale the features"
    return whole, f"some vector separates them, but with a small margin: {remedy}"


def is_separable(X: Any, y: NDArray[Any], classes: NDArray[Any], *, fit_intercept: bool) -> Answer:
    """Tell whether some vector separates the examples, if that can be found out in a few seconds.

    If a part of them is inseparable, so are all; parts are checked first, which takes less time.
    """
    for rows, labels in _parts(X, y, classes):
        pairs = labels.size - 1 if labels.size > 2 else 0
        examples = (
            ClassPairs(X[rows], y[rows], labels, fit_intercept=fit_intercept).seen
            if pairs
            else Examples(X[rows], y[rows], fit_intercept=fit_intercept, classes=labels)
        )
        verdict = separability(examples)
        if isinstance(verdict, Inseparable):
            listed = np.unique(rows[verdict.rows // max(1, pairs)]).tolist()
            few = ", ".join(map(str, listed[:6])) + (", …" if len(listed) > 6 else "")
            return Answer(False, f"no vector separates these examples: those in rows {few} cancel exactly")
        if rows.size == y.size and isinstance(verdict, Separable):
            return Answer(True, "some vector separates these examples", _as_weights(verdict, labels.size))
    return UNKNOWN


def _as_weights(verdict: Separable, classes: int) -> Floats | None:
    """Return a separator as the weights of a state: intercepts first, and of several classes, feature by feature."""
    if verdict.weights.dtype == object:
        return None
    if classes > 2:
        return verdict.weights.reshape(classes, -1).T.ravel()
    return np.concatenate([[verdict.intercept] * verdict.fit_intercept, verdict.weights])


def _parts(X: Any, y: NDArray[Any], classes: NDArray[Any]) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
    """Yield rows to check, with their classes: samples of two similar classes and of all, then all, if they are few."""
    n, width = X.shape
    if width > _NARROW:
        return
    entries = max(1, X.nnz if hasattr(X, "nnz") else X.size)
    shuffled, many = np.random.default_rng(0).permutation(n), classes.size > 2
    if many:
        pair = _most_similar(X, y)
        if pair.size == 2:
            yield shuffled[np.isin(y[shuffled], pair)][: max(1, _SAMPLED * n // entries)], pair
        # With a vector for each class, an example stands for a pair of its class and each other one.
        width, entries = width * classes.size, entries * 2 * (classes.size - 1)
    if width > _NARROW:
        return
    sample = shuffled[: max(1, _SAMPLED * n // entries)]
    if sample.size < n:
        yield sample, classes
    if sample.size == n or (entries <= (_PAIRED if many else _ENTRIES) and width <= _WIDTH):
        yield np.arange(n), classes


def _most_similar(X: Any, y: NDArray[Any]) -> NDArray[Any]:
    """Return the two labels whose examples have the nearest means; a single one, if there is no other."""
    labels = np.unique(y)
    means = np.vstack([np.asarray(X[np.flatnonzero(y == label)].mean(axis=0)).ravel() for label in labels])
    squares = (means**2).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * means @ means.T
    np.fill_diagonal(distances, np.inf)
    return labels[np.unique(np.unravel_index(np.argmin(distances), distances.shape))]
