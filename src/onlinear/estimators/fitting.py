"""One call of `fit`: passes over the same examples, until they are separated or for an average."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.display import counted
from onlinear.engine.flat import Floats
from onlinear.estimators.patience import (
    NO_PROGRESS,
    Answer,
    falls_fast,
    has_learned,
    has_stalled,
    is_separable,
    stalls,
    until_separated,
)
from onlinear.models.state import State, sealed, weights_of
from onlinear.rules import MarginPerceptron, Perceptron, Winnow
from onlinear.runs import Convergence, converge
from onlinear.runs.convergence import PassCounts, Stop

_AVERAGED, _ROUNDS = 6, 20_000
"""Passes and rounds after which an average hardly changes. On examples that nothing separates, the rounds will do."""
_MORE_ORDERS, _MORE_PASSES = 3, 5
"""Random orders whose averages are added to the first, and the most passes for each of them."""
_CORRECTED = 100
"""The most passes that correct such a sum until it separates."""

HALTING = (Perceptron, MarginPerceptron, Winnow)
"""Rules that learn until nothing is left to learn; others may take a step on every example."""


@dataclass
class Fitting:
    """The examples of one call of `fit`, the order in which they are read, and how many passes there may be."""

    X: Any
    y: NDArray[Any]
    weights: Floats | None
    max_iter: int | None
    title: str
    """What lines about the progress begin with; empty: there are none."""
    shuffle: bool = False
    seed: int = 0
    early_stopping: bool = False
    """Whether to give up even if the examples may be separable."""
    passes: Sequence[PassCounts] = field(default_factory=list)
    """What happened in each pass of the last loop."""
    _answer: Answer | None = None

    def loop(
        self, rule: Any, state: Any, passes: int, stop: Stop | None = None, seed: int | None = None
    ) -> Convergence:
        """Go over the examples until nothing is left to learn, from a state or a run."""
        return converge(
            rule,
            self.X,
            self.y,
            selection="random" if self.shuffle else "cyclic",
            state=state,
            max_passes=passes,
            seed=self.seed if seed is None else seed,
            sample_weight=self.weights,
            stop=self.watching(stop),
        )

    def separate(self, rule: Any, start: State, *, centred: bool = False) -> tuple[Convergence, str]:
        """Go on until the examples are separated, or until it is clear that they will not be; return what is known.

        If `centred`, it may start again from a separator that a check has found.
        """
        self.say("passes until nothing is left to learn")
        asks = halts_where_separable(rule) and not self.early_stopping
        return until_separated(
            lambda state, passes, stop: self.loop(rule, state, passes, stop),
            start,
            self.max_iter,
            stalls if isinstance(rule, HALTING) else has_learned,
            functools.partial(self.answer, start.classes, start.fit_intercept) if asks else None,
            functools.partial(_started_at, start) if centred else None,
        )

    def average(self, rule: Any, start: State) -> Convergence:
        """Average over the few passes in which that helps."""
        self.say("passes for an average")
        enough = -(-_ROUNDS // self.y.size)
        passes = self._at_most(max(_AVERAGED, enough))
        done = self.loop(rule, start, passes, lambda passes: len(passes) >= enough and has_stalled(passes))
        return done if done.halted else replace(done, reason=f"averaged over {counted(done.passes, 'pass')}")

    def separate_or_average(self, start: State, averaging: State, *, centred: bool) -> Convergence:
        """Return a run that separates the examples, or an average if that is out of reach.

        Parameters
        ----------
        start, averaging : State
            The states before the first example: of the rule, and of the one that takes the same steps and averages.
        centred : bool
            Whether a run may start from other weights: from averages, near the centre of all separators, or from a
            separator that a check has found.
        """
        first = self.average(averaging.rule, averaging)
        stalled = not first.halted and has_stalled(self.passes)
        if centred and (first.halted or (falls_fast(self.passes) and not stalled)):
            corrected = self._correct(first, averaging, start)
            if corrected.halted:
                return corrected
        if self.early_stopping and not first.halted:
            return replace(first, reason=f"{first.reason}; {NO_PROGRESS}")
        if stalled:
            answer = self.answer(start.classes, start.fit_intercept)
            if not answer.separable:
                return replace(first, reason=f"{first.reason}; {answer.words}")
        done, known = self.separate(start.rule, start, centred=centred)
        return done if done.halted else replace(first, reason=f"{first.reason}; {known}")

    def _correct(self, first: Convergence, averaging: State, start: State) -> Convergence:
        """Return a run from the sum of the averages over several orders, the first of which is given.

        That sum is near the centre of all separators, if there are any. Corrected until it separates, it most likely
        predicts other examples better than the separator that a single order leads to (Herbrich, Graepel & Campbell
        (2001), Bayes point machines, JMLR 1).
        """
        self.say("passes for averages over other orders, then to correct their sum")
        seeds = np.random.SeedSequence(self.seed).generate_state(_MORE_ORDERS).tolist()
        passes = min(first.passes, _MORE_PASSES)
        runs = [first, *(self.loop(averaging.rule, averaging, passes, seed=seed) for seed in seeds)]
        centre = np.sum([weights_of(run.state.final) for run in runs], axis=0)
        # The few examples that are left to correct need no random order, and a pass without one takes half the time.
        in_order = replace(self, shuffle=False)
        return in_order.loop(start.rule, _started_at(start, centre), self._at_most(_CORRECTED))

    def answer(self, classes: NDArray[Any], fit_intercept: bool) -> Answer:
        """Tell whether the examples that have a weight are separable; the answer is kept."""
        if self._answer is None:
            rows = slice(None) if self.weights is None else np.flatnonzero(np.asarray(self.weights))
            self._answer = is_separable(self.X[rows], self.y[rows], classes, fit_intercept=fit_intercept)
        return self._answer

    def watching(self, stop: Stop | None) -> Stop | None:
        """Return what stops a loop, keeps what happened in it, and prints the mistakes after 1, 2, 4, … passes."""
        if stop is None and not self.title:
            return None

        def watch(passes: Sequence[PassCounts]) -> bool:
            self.passes = passes
            n, mistakes = len(passes), passes[-1].mistakes
            if n & (n - 1) == 0:
                self.say(f"pass {n:,}: {counted(mistakes, 'mistake')} ({mistakes / self.y.size:.2%})")
            return stop is not None and stop(passes)

        return watch

    def say(self, words: str) -> None:
        """Print a line about the progress, if there is a title."""
        if self.title:
            sys.stdout.write(f"[{self.title}] {words}\n")

    def _at_most(self, passes: int) -> int:
        return passes if self.max_iter is None else min(passes, self.max_iter)


def _started_at(start: State, weights: Floats) -> State:
    """Return a state before the first example, with other weights."""
    held = sealed(weights)
    return replace(start, arrays=held, origin=held)


def halts_where_separable(rule: Any) -> bool:
    """Tell whether a rule is proven to halt on separable examples."""
    # No vector may have the margin that a normalised margin asks for.
    return isinstance(rule, Perceptron) or (isinstance(rule, MarginPerceptron) and not rule.normalized)
