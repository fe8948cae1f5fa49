"""How long `fit` goes on: until it separates the examples, if anything does, and no longer than makes sense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from onlinear.models.state import weights_of
from onlinear.runs import Convergence
from onlinear.runs.converge import Beginning, Outcome, reason_at_limit
from onlinear.theory import ClassPairs, Examples, Inseparable, Separable, separability

_PASSES = 1000
"""After so many passes it is asked whether there is anything to hope for."""
_MOST = 1_000_000
"""No more passes than this, whatever is to be hoped for."""
_ENTRIES, _PAIRED, _WIDTH = 3_000_000, 300_000, 100
"""How many entries examples, or pairs of classes, may have for that question, and how many features: it takes a few
seconds at most then."""

C = TypeVar("C", bound=Convergence)


def until_separated(
    go_on: Callable[[Any, int], C], start: Any, max_iter: int | None, separable: Callable[[], bool | str] | None
) -> tuple[C, str]:
    """Return the outcome of a halting loop, and what is known where it has come to a limit.

    Parameters
    ----------
    go_on : callable
        Goes on from a start, or from an outcome, for at most so many passes.
    start : Any
        What to begin with.
    max_iter : int or None
        The limit of passes. None: 1,000; and a million, where it is certain that the loop will halt.
    separable : callable or None
        Returns True where the loop is certain to halt; otherwise what there is to say. None: nobody knows.
    """
    if max_iter is not None:
        finds_out = "" if separable is None else ", or max_iter=None, which finds out"
        done = go_on(start, max_iter)
        return done, f"more passes (max_iter) may help{finds_out}" if done.outcome is Outcome.PASS_LIMIT else ""
    done = go_on(start, _PASSES)
    if done.outcome is not Outcome.PASS_LIMIT:
        return done, ""
    answer = "it may never come to an end" if separable is None else separable()
    if isinstance(answer, str):
        return done, answer
    more = go_on(done, _MOST - _PASSES)
    # The same as a single loop: the order of a pass depends on its number.
    whole = replace(more, passes=done.passes + more.passes, max_passes=_MOST)
    if more.outcome is not Outcome.PASS_LIMIT:
        return whole, ""
    bound = Beginning(weights_of(done.state.arrays), done.updates, done.state.steps).margin_upper_bound(more.state)
    whole = replace(whole, reason=reason_at_limit(Outcome.PASS_LIMIT, _MOST, bound))
    return whole, "some vector separates them, but with a margin so small that it takes too long; scale the features"


def some_vector_separates(X: Any, y: NDArray[Any], classes: NDArray[Any], *, fit_intercept: bool) -> bool | str:
    """Tell whether it is proven that examples can be separated; if it is not, return what is known instead."""
    others = classes.size - 1 if classes.size > 2 else 0
    stored = X.nnz if hasattr(X, "nnz") else X.size
    entries_fit = 2 * stored * others <= _PAIRED if others else stored <= _ENTRIES
    if not entries_fit or X.shape[1] * (others + 1) > _WIDTH:
        return "whether any vector separates them is not known; certificate(X, y) can find out"
    seen = (
        ClassPairs(X, y, classes, fit_intercept=fit_intercept).seen
        if others
        else Examples(X, y, fit_intercept=fit_intercept, classes=classes)
    )
    verdict = separability(seen)
    if isinstance(verdict, Separable):
        return True
    if isinstance(verdict, Inseparable):
        rows = np.unique(verdict.rows // max(1, others)).tolist()
        few = ", ".join(map(str, rows[:6])) + (", …" if len(rows) > 6 else "")
        return f"no vector separates these examples: those in rows {few} cancel exactly"
    return "whether any vector separates them could not be decided"
