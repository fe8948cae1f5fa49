"""Learning from one example at a time, with the weights in a dict by name."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from onlinear.engine.named import NamedRow, NamedWeights
from onlinear.engine.passes import MISTAKES, REACH, ROUNDS, STEPS, UPDATES
from onlinear.river.values import as_numbers, refusal
from onlinear.rules.rule import TIES


class ByName:
    """What a rule has learned of two classes, by its own plain Python over the names of features.

    For rules whose state is the weights alone, and which touch them by `dot` and `add` alone. What happens in a round,
    and in which order, is what `onlinear.engine.passes.learn` does; so are the bits.

    Attributes
    ----------
    weights : NamedWeights
        The features are in the order in which learning met them, as in the arrays that compiled code works on.
    counts, sums : lists
        What the passes count and sum up, in their order.
    """

    def __init__(self, rule: Any, weights: NamedWeights, bias: int, counts: list[int], sums: list[float]) -> None:
        self.rule = rule
        self.weights = weights
        self.bias = bias
        self.counts = counts
        self.sums = sums
        self._row = NamedRow(bias)
        self._tie = TIES[rule.tie]
        self._first_weight = float(rule.start(1)[0])
        # The example that was scored last, while nothing has been learned since: who predicts mostly learns next.
        self._scored: tuple[list[Any], list[Any]] | None = None
        self._last_score = 0.0

    def __getstate__(self) -> tuple[Any, ...]:
        return self.rule, self.weights, self.bias, self.counts, self.sums

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def score(self, x: Mapping[Any, Any]) -> float:
        """Return the score of an example; a feature that is new counts with the weight that it would start with."""
        row = self._row
        row.features = x
        try:
            score = self.rule.score(self.weights, row)
        except (KeyError, TypeError, OverflowError):
            return self._careful_score(x)
        if type(score) is not float or not isfinite(score):
            return self._careful_score(x)
        # Copies: the caller's dict may change before it is learned from.
        self._scored = list(x), list(x.values())
        self._last_score = score
        return score

    def _careful_score(self, x: Mapping[Any, Any]) -> float:
        row, weights = self._row, self.weights
        row.features = dict(zip(x, as_numbers(x), strict=True))
        known = {name: weights.features.get(name, self._first_weight) for name in x}
        score = float(self.rule.score(NamedWeights(known, weights.intercept), row))
        if not isfinite(score):
            raise refusal(x)
        return score

    def predict(self, x: Mapping[Any, Any]) -> bool:
        """Tell whether the prediction is the positive class."""
        score = self.score(x)
        return score > 0.0 or (score == 0.0 and self._tie > 0)

    def learn(self, x: Mapping[Any, Any], positive: bool, weight: float = 1.0) -> None:
        """Predict, then learn."""
        row, weights = self._row, self.weights
        row.features, row.weight = x, weight
        if self._scored is not None and self._scored == (list(x), list(x.values())):
            score = self._last_score
        else:
            try:
                score = self.rule.score(weights, row)
            except (KeyError, TypeError, OverflowError):
                score = self._score_to_learn(x)
            if type(score) is not float or not isfinite(score):
                score = self._score_to_learn(x)
        self._scored = None
        y = 1 if positive else -1
        y_hat = (score > 0.0) - (score < 0.0) or self._tie
        mistake = y_hat != y
        counts = self.counts
        if mistake:
            counts[MISTAKES + positive] += 1
        step = 1.0 * self.rule.update(weights, row, float(y), score, mistake)
        if step > 0.0:
            counts[UPDATES] += 1
            self.sums[STEPS] += step
            self.sums[REACH] += step * row.length()
        counts[ROUNDS] += 1

    def _score_to_learn(self, x: Mapping[Any, Any]) -> float:
        """Take new features in, leave the row with plain floats, and return its score; all or nothing."""
        known, row = self.weights.features, self._row
        row.features = dict(zip(x, as_numbers(x), strict=True))
        new = [name for name in x if name not in known]
        known.update(dict.fromkeys(new, self._first_weight))
        score = float(self.rule.score(self.weights, row))
        if isfinite(score):
            return score
        for name in new:
            del known[name]
        raise refusal(x)
