"""The passes over a block: those that learn, those that only score. Every rule and layout runs through these.

They are plain Python, compiled by `onlinear.engine.compile`. The engine owns what is the same for all
rules: the order of events, ties, counters, and the refusal of rows that no rule may learn from.
"""

from __future__ import annotations

import math
from typing import Any, Final

from numpy.typing import NDArray

from onlinear.engine.algebra import class_scores, length
from onlinear.engine.flat import Floats, address
from onlinear.engine.rows import Block, PairRow, open_rows, row, well_formed

ROUNDS: Final = 0
UPDATES: Final = 1
MISTAKES: Final = 2
"""From here on the mistakes on examples of each class; of two classes the negative one is first."""

STEPS: Final = 0
"""Σ λ, the sizes of the steps."""
REACH: Final = 1
"""Σ λ‖x‖: how far the steps could have carried w; bounds the rounding errors in w."""

MISTAKE: Final = 1
UPDATE: Final = 2
PREDICTED: Final = 4
"""What a pass records of a round: a mistake, an update, and this many times the number of the predicted class."""

TOO_LARGE: Final = -math.inf
"""What `update` returns for an example whose values are too large for it; it must not have changed the state."""
BAD_STEP: Final = "update() returned a step that is negative or not finite"


def sign(self: Any, score: float, t: int) -> int:
    """Predict by the sign of the score."""
    return (score > 0.0) - (score < 0.0)


def is_refusal(step: float) -> bool:
    """Tell whether `update` has refused the example; raise for what is no size of a step."""
    if 0.0 < step < math.inf:
        return False
    if step == TOO_LARGE:
        return True
    raise ValueError(BAD_STEP)


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
    learned from it). `counts` and `sums` are continued, so they do not depend on the blocks;
    `scores` and `events` are filled only where they have room (a trace).
    """
    rows = open_rows(X)
    n = y.size
    progress = address(counts)
    labels = address(y)
    before = int(counts[ROUNDS]) - first
    mistakes_positive = 0
    mistakes_negative = 0
    updates = 0
    steps = sums[STEPS]
    reach = sums[REACH]
    i = first
    while i < n and updates != limit:
        t = before + i
        x = row(rows, i, t)
        if not (well_formed(x) and rule.accepts(x)):
            break
        score = float(rule.score(state, x))
        # 0·inf and 0·NaN are NaN, so a bad value shows in the score, and costs nothing to look for.
        if not math.isfinite(score):
            break
        y_i = int(labels[i])
        # ŷ is −1, 0 or +1. No branch on its sign: it would be a coin flip for the processor.
        y_hat = int(rule.predict(score, t))
        y_hat += tie * (y_hat == 0)
        mistake = y_hat != y_i
        step = 1.0 * rule.update(state, x, float(y_i), score, mistake)
        if step != 0.0 and is_refusal(step):
            break
        if mistake:
            mistakes_positive += y_i > 0
            mistakes_negative += y_i < 0
        if step != 0.0:
            updates += 1
            if additive:
                steps += step
                reach += step * length(x)
        if scores.size:
            scores[i] = score
            events[i] = MISTAKE * mistake + UPDATE * (step != 0.0) + PREDICTED * (y_hat > 0)
        i += 1
        progress[ROUNDS] = before + i  # at once: where the rule fails, this is the round
    counts[UPDATES] += updates
    counts[MISTAKES] += mistakes_negative
    counts[MISTAKES + 1] += mistakes_positive
    sums[STEPS] = steps
    sums[REACH] = reach
    return i


def score(rule: Any, state: Any, X: Block, rounds: int, t: int, tie: int, scores: Floats, signs: NDArray[Any]) -> int:
    """Write each row's score and predicted sign; return the first row that was not read.

    `rounds` have been learned from. A rule that draws does so as in the rounds from t on.
    """
    rows = open_rows(X)
    for i in range(scores.size):
        x = row(rows, i, rounds)
        if not (well_formed(x) and rule.accepts(x)):
            return i
        s = float(rule.score(state, x))
        if not math.isfinite(s):
            return i
        y_hat = int(rule.predict(s, t + i))
        scores[i] = s
        signs[i] = y_hat + tie * (y_hat == 0)
    return scores.size


def all_finite(scores: Any, first: int, n: int) -> bool:
    """Tell whether n scores are finite, from scores[first] on."""
    finite = True
    for r in range(n):
        finite &= math.isfinite(scores[first + r])
    return finite


def best_but(scores: Any, classes: int, right: int) -> int:
    """Return the first of the best classes other than the right one; −1 if there is no other class."""
    best = -1
    for r in range(classes):
        if r != right and (best < 0 or scores[r] > scores[best]):
            best = r
    return best


def learn_classes(
    rule: Any,
    state: Any,
    w: Floats,
    X: Block,
    y: NDArray[Any],
    first: int,
    additive: bool,
    limit: int,
    counts: NDArray[Any],
    sums: Floats,
    class_score: Floats,
    scores: Floats,
    events: NDArray[Any],
) -> int:
    """Learn as `learn` does, with a weight vector for each class: y holds the classes' numbers.

    The rule sees the pair of the right class and the best wrong one; its score is how far the right class is ahead,
    and a tie is a mistake. `w` is the weights within the state, `class_score` room for one score per class. A single
    class has no rival, and nothing is learned.
    """
    rows = open_rows(X)
    n = y.size
    classes = class_score.size
    room = address(class_score)
    progress = address(counts)
    before = int(counts[ROUNDS]) - first
    updates = 0
    steps = sums[STEPS]
    reach = sums[REACH]
    i = first
    while i < n and updates != limit:
        x = row(rows, i, before + i)
        if not (well_formed(x) and rule.accepts(x)):
            break
        class_scores(w, x, classes, room, 0)
        if not all_finite(room, 0, classes):
            break
        right = int(y[i])
        wrong = best_but(room, classes, right)
        score = 0.0
        mistake = False
        step = 0.0
        if wrong >= 0:
            score = float(room[right]) - float(room[wrong])
            mistake = not score > 0.0
            step = 1.0 * rule.update(state, PairRow(x, classes, right, wrong), 1.0, score, mistake)
        if step != 0.0 and is_refusal(step):
            break
        if mistake:
            counts[MISTAKES + right] += 1
        if step != 0.0:
            updates += 1
            if additive:
                steps += step
                reach += step * length(PairRow(x, classes, right, wrong))
        if scores.size:
            scores[i] = score
            shown = right if not mistake else wrong if score < 0.0 else min(right, wrong)
            events[i] = MISTAKE * mistake + UPDATE * (step != 0.0) + PREDICTED * shown
        i += 1
        progress[ROUNDS] = before + i
    counts[UPDATES] += updates
    sums[STEPS] = steps
    sums[REACH] = reach
    return i


def score_classes(
    rule: Any, state: Any, w: Floats, X: Block, rounds: int, classes: int, scores: Floats, best: NDArray[Any]
) -> int:
    """Write each row's scores, one per class, and the first of the best classes; return the first row not read."""
    rows = open_rows(X)
    room = address(scores)
    for i in range(best.size):
        x = row(rows, i, rounds)
        if not (well_formed(x) and rule.accepts(x)):
            return i
        first = i * classes
        class_scores(w, x, classes, room, first)
        if not all_finite(room, first, classes):
            return i
        top = 0
        for r in range(classes):
            if room[first + r] > room[first + top]:
                top = r
        best[i] = top
    return best.size
