"""The passes over a block: one that learns, one that only scores. Every rule and layout runs through these.

They are plain Python, compiled by `onlinear.engine.compile`. The engine owns what is the same for all
rules: the order of events, ties, counters, and the refusal of rows that no rule may learn from.
"""

from __future__ import annotations

import math
from typing import Any, Final

from numpy.typing import NDArray

from onlinear.engine.rows import Block, Floats, length, open_rows, row, well_formed

ROUNDS: Final = 0
MISTAKES_POSITIVE: Final = 1
MISTAKES_NEGATIVE: Final = 2
UPDATES: Final = 3

STEPS: Final = 0
"""Σ λ, the sizes of the steps."""
REACH: Final = 1
"""Σ λ‖x‖: how far the steps could have carried w; bounds the rounding errors in w."""

MISTAKE: Final = 1
UPDATE: Final = 2

NEGATIVE_STEP: Final = "update() returned a step that is negative or not a number"


def learn(
    rule: Any,
    state: Any,
    X: Block,
    y: NDArray[Any],
    first: int,
    tie: int,
    additive: bool,
    limit: int,
    counts: NDArray[Any],
    sums: Floats,
    scores: Floats,
    events: NDArray[Any],
) -> int:
    """Predict, then learn, row by row from row `first`; return the first row that was not read.

    It ends at the block's end, after `limit` updates, or at a row that must be refused (with nothing
    learned from it). `counts` and `sums` go on from what they hold, so blocks do not show in them;
    `scores` and `events` are filled only where they have room (a trace).
    """
    rows = open_rows(X)
    n = y.size
    t = counts[ROUNDS]
    mistakes_positive = 0
    mistakes_negative = 0
    updates = 0
    steps = sums[STEPS]
    reach = sums[REACH]
    i = first
    while i < n and updates != limit:
        x = row(rows, i)
        if not (well_formed(x) and rule.accepts(x)):
            break
        score = float(rule.score(state, x))
        # 0·inf and 0·NaN are NaN, so a bad value shows in the score, and costs nothing to look for.
        if not math.isfinite(score):
            break
        y_i = int(y[i])
        # ŷ is −1, 0 or +1. No branch on its sign: it would be a coin flip for the processor.
        y_hat = int(rule.predict(score, t))
        y_hat += tie * (y_hat == 0)
        mistake = y_hat != y_i
        if mistake:
            mistakes_positive += y_i > 0
            mistakes_negative += y_i < 0
        step = 1.0 * rule.update(state, x, float(y_i), score, mistake)
        if not step >= 0.0:
            raise ValueError(NEGATIVE_STEP)
        if step > 0.0:
            updates += 1
            if additive:
                steps += step
                reach += step * length(x)
        if scores.size:
            scores[i] = score
            events[i] = MISTAKE * mistake + UPDATE * (step > 0.0)
        t += 1
        i += 1
    counts[ROUNDS] = t
    counts[MISTAKES_POSITIVE] += mistakes_positive
    counts[MISTAKES_NEGATIVE] += mistakes_negative
    counts[UPDATES] += updates
    sums[STEPS] = steps
    sums[REACH] = reach
    return i


def score(rule: Any, state: Any, X: Block, t: int, tie: int, scores: Floats, signs: NDArray[Any]) -> int:
    """Write each row's score and predicted sign; return the first row that was not read."""
    rows = open_rows(X)
    for i in range(scores.size):
        x = row(rows, i)
        if not (well_formed(x) and rule.accepts(x)):
            return i
        s = float(rule.score(state, x))
        if not math.isfinite(s):
            return i
        y_hat = int(rule.predict(s, t + i))
        scores[i] = s
        signs[i] = y_hat + tie * (y_hat == 0)
    return scores.size
