"""Slow, obvious answers in fractions, for few examples: separability, the largest margin."""

from fractions import Fraction
from itertools import combinations


def signed_rows(X, y, *, intercept=False):
    """The vectors y·x as lists of fractions; the intercept's 1 stands last."""
    return [
        [int(a) * Fraction(float(v)) for v in [*x, *([1.0] if intercept else [])]] for x, a in zip(X, y, strict=True)
    ]


def is_separable(X, y, *, intercept=False):
    """By Carathéodory: inseparable just where some d + 1 rows or fewer have 0 strictly inside their hull."""
    z = signed_rows(X, y, intercept=intercept)
    return not any(
        _cancels([z[i] for i in chosen])
        for size in range(1, len(z[0]) + 2)
        for chosen in combinations(range(len(z)), size)
    )


def _cancels(rows):
    """Whether the rows have just one linear relation, and it has positive coefficients throughout."""
    relation = _only_relation(rows)
    return relation is not None and (all(c > 0 for c in relation) or all(c < 0 for c in relation))


def _only_relation(rows):
    m = len(rows)
    equations = [list(column) for column in zip(*rows, strict=True)]
    pivots = []
    for j in range(m):
        k = len(pivots)
        found = next((i for i in range(k, len(equations)) if equations[i][j] != 0), None)
        if found is None:
            continue
        equations[k], equations[found] = equations[found], equations[k]
        equations[k] = [v / equations[k][j] for v in equations[k]]
        for i in range(len(equations)):
            if i != k and equations[i][j] != 0:
                factor = equations[i][j]
                equations[i] = [a - factor * b for a, b in zip(equations[i], equations[k], strict=True)]
        pivots.append(j)
    free = [j for j in range(m) if j not in pivots]
    if len(free) != 1:
        return None
    relation = [Fraction(0)] * m
    relation[free[0]] = Fraction(1)
    for i, j in enumerate(pivots):
        relation[j] = -equations[i][free[0]]
    return relation


def squared_distance_to_hull(points):
    """The squared distance from 0 to the hull of points in the plane, where 0 is not inside it."""
    best = min(p[0] ** 2 + p[1] ** 2 for p in points)
    for p, q in combinations(points, 2):
        step = (q[0] - p[0], q[1] - p[1])
        length = step[0] ** 2 + step[1] ** 2
        if length:
            s = min(max(-(p[0] * step[0] + p[1] * step[1]) / length, Fraction(0)), Fraction(1))
            best = min(best, (p[0] + s * step[0]) ** 2 + (p[1] + s * step[1]) ** 2)
    return best


def squared_largest_margin(X, y):
    """γ*² for separable examples with two features."""
    return squared_distance_to_hull(signed_rows(X, y))


def squared_affine_margin(X, y):
    """The square of the affine maximum margin for two features: half the distance between the classes' hulls."""
    z = [(Fraction(float(x[0])), Fraction(float(x[1]))) for x in X]
    positive = [p for p, a in zip(z, y, strict=True) if a > 0]
    negative = [p for p, a in zip(z, y, strict=True) if a < 0]
    return squared_distance_to_hull([((p[0] - q[0]) / 2, (p[1] - q[1]) / 2) for p in positive for q in negative])
