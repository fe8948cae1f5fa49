"""The passes over advice on more than two classes: each expert names a class, and the heaviest class is predicted.

A rule for experts meets a round as it does with two classes: x is +1 where an expert is right and −1 where it is
wrong, and the label is +1. Only the votes are counted here: class r gets the weight of the experts that name it,
as a share of the whole.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from onlinear.engine.flat import Floats, address
from onlinear.engine.passes import (
    MISTAKE,
    MISTAKES,
    PREDICTED,
    ROUNDS,
    UPDATE,
    UPDATES,
    best_but,
    is_refusal,
)
from onlinear.engine.rows import DenseBlock, open_rows, row


def count_votes(w: Floats, advice: NDArray[Any], i: int, classes: int, votes: Any, first: int) -> None:
    """Write each class's share of the weight, by row i of the advice, into votes[first : first + classes]."""
    total = 0.0
    for r in range(classes):
        votes[first + r] = 0.0
    for n in range(advice.shape[1]):
        votes[first + int(advice[i, n])] += w[n]
        total += w[n]
    for r in range(classes):
        votes[first + r] /= total


def learn_plurality(
    rule: Any,
    state: Any,
    w: Floats,
    advice: NDArray[Any],
    X: DenseBlock,
    y: NDArray[Any],
    first: int,
    draws: bool,
    limit: int,
    counts: NDArray[Any],
    class_votes: Floats,
    scores: Floats,
    events: NDArray[Any],
) -> int:
    """Learn as `onlinear.engine.passes.learn` does, from advice on more than two classes; y holds the classes' numbers.

    `w` is the weights within the state, `advice` the numbers of the named classes, X which of them are right, and
    `class_votes` room for one vote per class. The score of a round is how far the right class is ahead, and a tie is a
    mistake. A rule that draws follows the right experts with the probability that is their share of the weight.
    """
    rows = open_rows(X)
    n = y.size
    classes = class_votes.size
    votes = address(class_votes)
    progress = address(counts)
    before = int(counts[ROUNDS]) - first
    updates = 0
    i = first
    while i < n and updates != limit:
        t = before + i
        x = row(rows, i, t)
        share = float(rule.score(state, x))
        if not math.isfinite(share):
            break
        count_votes(w, advice, i, classes, votes, 0)
        right = int(y[i])
        wrong = best_but(votes, classes, right)
        ahead = float(votes[right]) - (float(votes[wrong]) if wrong >= 0 else 0.0)
        mistake = int(rule.predict(share if draws else ahead, t)) != 1
        step = 1.0 * rule.update(state, x, 1.0, share, mistake)
        if step != 0.0 and is_refusal(step):
            break
        if mistake:
            counts[MISTAKES + right] += 1
        updates += step != 0.0
        if scores.size:
            shown = right if not mistake or wrong < 0 else min(right, wrong) if ahead == 0.0 else wrong
            scores[i] = ahead
            events[i] = MISTAKE * mistake + UPDATE * (step != 0.0) + PREDICTED * shown
        i += 1
        progress[ROUNDS] = before + i
    counts[UPDATES] += updates
    return i


def score_plurality(
    rule: Any, state: Any, w: Floats, advice: NDArray[Any], classes: int, scores: Floats, best: NDArray[Any]
) -> int:
    """Write each row's votes, one per class, and the first of the heaviest classes; return the first row not read."""
    votes = address(scores)
    for i in range(best.size):
        first = i * classes
        count_votes(w, advice, i, classes, votes, first)
        top = 0
        for r in range(classes):
            if votes[first + r] > votes[first + top]:
                top = r
        best[i] = top
    return best.size
