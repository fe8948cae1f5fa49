"""The slow, obvious oracle: every rule as it stands in the notes, over lists of Python floats.

Nothing here is shared with the library. Scores are summed left to right, so the oracle and a dense
pass agree bit for bit only where sums are exact; the strategies draw such data.
"""

import math
from dataclasses import dataclass, field


@dataclass
class Outcome:
    weights: list
    mistakes: list = field(default_factory=list)
    updates: list = field(default_factory=list)
    scores: list = field(default_factory=list)
    positive: int = 0
    negative: int = 0
    expert_mistakes: list | None = None
    expected_mistakes: float = 0.0

    def record(self, t, y, score, mistake, update):
        self.scores.append(score)
        if mistake:
            self.mistakes.append(t)
            self.positive += y > 0
            self.negative += y < 0
        if update:
            self.updates.append(t)


def dot(u, v):
    return math.fsum(a * b for a, b in zip(u, v, strict=True))


def rows(X, *, intercept=False, normalize=False):
    """Examples as lists; the intercept's 1 stands last."""
    for entries in X:
        x = [float(v) for v in entries]
        length = math.sqrt(math.fsum(v * v for v in x))
        scale = 1 / length if normalize and length > 0 else 1.0
        yield [v * scale for v in x] + [1.0] * intercept


def wrong(score, y, tie):
    if score == 0:
        return {"mistake": True, "negative": y > 0, "positive": y < 0}[tie]
    return (score > 0) != (y > 0)


def perceptron(X, y, *, tie="mistake", start=None, **options):
    X = list(rows(X, **options))
    out = Outcome(list(start) if start is not None else [0.0] * len(X[0]))
    for t, (x, answer) in enumerate(zip(X, y, strict=True)):
        score = dot(out.weights, x)
        mistake = wrong(score, answer, tie)
        if mistake:
            out.weights = [w + answer * v for w, v in zip(out.weights, x, strict=True)]
        out.record(t, answer, score, mistake, mistake)
    return out


def margin_perceptron(X, y, *, margin, normalized, tie="mistake", **options):
    X = list(rows(X, **options))
    out = Outcome([0.0] * len(X[0]))
    for t, (x, answer) in enumerate(zip(X, y, strict=True)):
        score = dot(out.weights, x)
        bar = margin * math.sqrt(dot(out.weights, out.weights)) if normalized else margin
        update = answer * score <= bar
        if update:
            out.weights = [w + answer * v for w, v in zip(out.weights, x, strict=True)]
        out.record(t, answer, score, wrong(score, answer, tie), update)
    return out


def winnow(X, y, *, beta, threshold):
    out = Outcome([1.0] * len(X[0]))
    threshold = len(X[0]) if threshold is None else threshold
    for t, (x, answer) in enumerate(zip(rows(X), y, strict=True)):
        score = dot(out.weights, x) - threshold
        mistake = (score > 0) != (answer > 0)
        if mistake:
            out.weights = [w * (1 + beta) ** (answer * v) for w, v in zip(out.weights, x, strict=True)]
        out.record(t, answer, score, mistake, mistake)
    return out


def experts(X, y, *, weight, predict):
    """Any rule of experts: `weight(m, t)` of an expert with m mistakes in round t = 1, 2, …"""
    m = [0] * len(X[0])
    out = Outcome([])
    for t, (advice, answer) in enumerate(zip(rows(X), y, strict=True)):
        best = min(m)
        w = [weight(k - best, t + 1) for k in m]
        score = dot(w, advice) / math.fsum(w)
        out.expected_mistakes += math.fsum(a for a, v in zip(w, advice, strict=True) if v != answer) / math.fsum(w)
        mistake = predict(score, t) != answer
        errs = [v != answer for v in advice]
        m = [k + e for k, e in zip(m, errs, strict=True)]
        out.record(t, answer, score, mistake, any(errs))
    out.expert_mistakes = m
    best = min(m)
    out.weights = [weight(k - best, len(X) + 1) for k in m]
    return out


def sign(score, tie):
    return (score > 0) - (score < 0) or {"mistake": 0, "negative": -1, "positive": 1}[tie]


def multiclass(X, y, classes, *, margin=None, sizes=None, intercept=False):
    """One weight vector a class: on a mistake, or ahead by too little, the right and the best wrong one move.

    `margin` is b for all examples, or None: mistakes only. `sizes` are the steps' sizes.
    """
    X = list(rows(X, intercept=intercept))
    weights = [[0.0] * len(X[0]) for _ in range(classes)]
    mistakes, updates, scores, predictions, moved = [], [], [], [], 0.0
    for t, (x, right) in enumerate(zip(X, y, strict=True)):
        totals = [dot(w, x) for w in weights]
        best = max(total for r, total in enumerate(totals) if r != right)
        wrong = next(r for r, total in enumerate(totals) if r != right and total == best)
        ahead = totals[right] - best
        scores.append(ahead)
        predictions.append(totals.index(max(totals)))
        if ahead <= 0:
            mistakes.append(t)
        size = 1.0 if sizes is None else sizes[t]
        if ahead <= (0 if margin is None else margin) and size > 0:
            updates.append(t)
            moved += size
            weights[right] = [w + size * v for w, v in zip(weights[right], x, strict=True)]
            weights[wrong] = [w - size * v for w, v in zip(weights[wrong], x, strict=True)]
    return weights, mistakes, updates, scores, predictions, moved


def fixed_share(X, y, *, eta, share, tie="mistake"):
    """Weighted majority in which every expert passes a share of its weight on, in rounds with an error."""
    n = len(X[0])
    w, m = [1.0] * n, [0] * n
    out = Outcome([])
    for t, (advice, answer) in enumerate(zip(rows(X), y, strict=True)):
        score = dot(w, advice) / math.fsum(w)
        errs = [v != answer for v in advice]
        w = [a * (1 - eta) if e else a for a, e in zip(w, errs, strict=True)]
        if any(errs) and n > 1:
            total = math.fsum(w)
            w = [(1 - share) * a + share * (total - a) / (n - 1) for a in w]
        m = [k + e for k, e in zip(m, errs, strict=True)]
        out.record(t, answer, score, wrong(score, answer, tie), any(errs))
    out.weights, out.expert_mistakes = w, m
    return out


def plurality(advice, y, classes, *, eta):
    """Weighted majority over advice on several classes, in exact arithmetic."""
    m = [0] * len(advice[0])
    mistakes, predictions, ahead = [], [], []
    for t, (named, right) in enumerate(zip(advice, y, strict=True)):
        w = [(1 - eta) ** (k - min(m)) for k in m]
        votes = [sum(a for a, r in zip(w, named, strict=True) if r == c) for c in range(classes)]
        ahead.append((votes[right] - max(v for c, v in enumerate(votes) if c != right)) / sum(w))
        predictions.append(votes.index(max(votes)))
        if ahead[-1] <= 0:
            mistakes.append(t)
        m = [k + (r != right) for k, r in zip(m, named, strict=True)]
    return mistakes, predictions, m, ahead
