"""Learning from one example at a time, with the weights in a dict by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from math import isfinite
from typing import Any

from onlinear.engine.passes import MISTAKES, REACH, ROUNDS, STEPS, UPDATES
from onlinear.river.named import NamedRow, NamedWeights, named_dot, named_length
from onlinear.river.values import as_numbers, refusal
from onlinear.rules.rule import TIES


class ByName:
    """A rule for two classes, run as plain Python over the names of features.

    For additive rules that score by ⟨w,x⟩ and update on mistakes only, whose state is a weight vector that starts at 0
    and is changed by `add` only. A round takes the same steps in the same order as `onlinear.engine.passes.learn`, and
    gives the same bits.

    Parameters
    ----------
    rule : a rule
    features, intercept : dict and float
        The weights; features are in the order of their first example, as in the arrays of compiled code.
    bias : int
        Whether an intercept is learned: 1 or 0.
    counts, sums : lists
        The counters and sums of the passes, in their order.

    Attributes
    ----------
    tie : int
        The sign that a score of 0 predicts; 0 for neither.
    """

    def __init__(
        self,
        rule: Any,
        features: Mapping[Hashable, float],
        intercept: float,
        bias: int,
        counts: list[int],
        sums: list[float],
    ) -> None:
        self.rule = rule
        self.bias = bias
        self.counts = counts
        self.sums = sums
        # Looking up a new feature creates its weight. Learning keeps it; those that a prediction has created, beyond
        # the first `_met`, are removed before anything else happens.
        self._weights = NamedWeights(defaultdict(float, features), intercept)
        self._met = len(features)
        self._row = NamedRow(bias)
        self.tie = TIES[rule.tie]
        # The example that was scored last, if nothing has been learned since: mostly it is learned from next.
        self._scored: tuple[list[Any], list[Any]] | None = None
        self._score = 0.0

    def __getstate__(self) -> tuple[Any, ...]:
        return self.rule, dict(self.features), self.intercept, self.bias, self.counts, self.sums

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    @property
    def features(self) -> Mapping[Hashable, float]:
        """The weight of each feature of the examples learned from."""
        self._forget_unmet()
        return self._weights.features

    @property
    def intercept(self) -> float:
        """The intercept; 0 if there is none."""
        return self._weights.intercept

    def score(self, x: Mapping[Any, Any]) -> float:
        """Return the score of an example; a new feature has its initial weight."""
        row, weights = self._row, self._weights
        if len(weights.features) > self._met:
            self._forget_unmet()
        row.features = x
        try:
            score = named_dot(weights, row)
        except (TypeError, OverflowError):
            score = None
        # A float shows that no value was a NumPy number: a float32 would give a different sum.
        if type(score) is float and isfinite(score):
            # Copies: the caller may change the dict before learning from it.
            self._scored = list(x), list(x.values())
        else:
            self._scored = None
            row.features = dict(zip(x, as_numbers(x), strict=True))
            score = float(named_dot(weights, row))
            if not isfinite(score):
                raise refusal(x)
        self._score = score
        return score

    def learn(self, x: Mapping[Any, Any], positive: bool, weight: float = 1.0) -> None:
        """Predict, then learn; an invalid example raises an error, and nothing is learned."""
        row, counts = self._row, self.counts
        try:
            scored_before = self._scored is not None and self._scored == (list(x), list(x.values()))
        except (TypeError, ValueError):  # values that cannot be compared cannot be scored either
            scored_before = False
        if scored_before:
            row.features, score = x, self._score
        else:
            score = self.score(x)
        self._scored = None
        self._met = len(self._weights.features)
        counts[ROUNDS] += 1
        y = 1 if positive else -1
        if ((score > 0.0) - (score < 0.0) or self.tie) == y:
            return
        counts[MISTAKES + positive] += 1
        if scored_before and not _is_plain(x):
            # The values equal those that were scored, but one is a NumPy number.
            row.features = dict(zip(x, as_numbers(x), strict=True))
        row.weight = weight
        row.trial = counts[ROUNDS]
        step = 1.0 * self.rule.update(self._weights, row, float(y), score, True)
        if step > 0.0:
            counts[UPDATES] += 1
            self.sums[STEPS] += step
            self.sums[REACH] += step * named_length(row)

    def _forget_unmet(self) -> None:
        features = self._weights.features
        self._scored = None
        while len(features) > self._met:
            features.popitem()


def _is_plain(x: Mapping[Any, Any]) -> bool:
    """Tell whether Python computes with the values as compiled code does: the type of their sum shows it."""
    try:
        return type(sum(x.values(), 0.0)) is float
    except TypeError:
        return False
