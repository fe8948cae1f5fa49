"""One pass of scikit-learn's linear classifiers, with the prediction of every round.

`partial_fit` with one row at a time takes 0.2 ms a row (3 ms with 26 classes), and from call to call it loses the
intercept of an averaged model. So its loop is written out here, with the settings of the estimator. At the end of each
pass the weights are compared with those of the estimator itself after one call of `partial_fit` with all rows.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numba
import numpy as np
import scipy.sparse
from sklearn.linear_model._base import SPARSE_INTERCEPT_DECAY

HINGE, PERCEPTRON, LOGISTIC = range(3)
LOSSES = {"hinge": HINGE, "perceptron": PERCEPTRON, "log_loss": LOGISTIC}


class Settings(NamedTuple):
    """What the loop needs to know of an estimator."""

    loss: int
    passive_aggressive: bool
    penalty: bool
    """If there is one, steps decrease like 1/t, and weights shrink."""
    average: bool
    alpha: float
    eta0: float


def settings(estimator):
    if (estimator.penalty, estimator.learning_rate) not in {("l2", "optimal"), (None, "constant"), (None, "pa1")}:
        raise ValueError(f"the loop below does not do what {estimator} does")
    return Settings(
        LOSSES[estimator.loss],
        estimator.learning_rate == "pa1",
        estimator.penalty == "l2",
        bool(estimator.average),
        estimator.alpha,
        estimator.eta0,
    )


def count_mistakes(estimator, X, codes, n_classes):
    """Return the mistakes of one pass; warn if the estimator itself ends with other weights."""
    rows = scipy.sparse.csr_array(X)
    vectors = 1 if n_classes == 2 else n_classes
    # With sparse rows scikit-learn takes smaller steps for the intercept.
    decay = SPARSE_INTERCEPT_DECAY if scipy.sparse.issparse(X) else 1.0
    mistakes, weights, intercepts = one_pass(
        rows.indptr, rows.indices, rows.data, codes, rows.shape[1], vectors, settings(estimator), decay
    )
    estimator.set_params(shuffle=False).partial_fit(X, codes, classes=np.arange(n_classes))
    for ours, theirs in ((weights, estimator.coef_), (intercepts, estimator.intercept_)):
        if not np.allclose(ours, theirs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max()):
            warnings.warn(f"{estimator} itself rounds differently, or does something else by now", stacklevel=2)
    return mistakes


@numba.njit
def one_pass(indptr, indices, values, codes, n_features, vectors, settings, decay):
    """Return the mistakes, and the weights and intercepts to predict with at the end.

    With large steps the logistic loss is chaotic: a rounding error grows until all digits differ. So everything that
    is learned from is computed as scikit-learn computes it, in the same order. The weights are ``scale * w``.
    """
    w, b, scale = np.zeros((vectors, n_features)), np.zeros(vectors), 1.0
    mean_w, mean_b = np.zeros_like(w), np.zeros_like(b)
    # The steps decrease as if so many rounds had gone before.
    before = 1.0 / (math.sqrt(1.0 / math.sqrt(settings.alpha)) * settings.alpha)
    mistakes = 0
    for i in range(codes.size):
        x, at = values[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        if settings.average:
            mistakes += predicted(mean_w, mean_b, 1.0, x, at) != codes[i]
        else:
            mistakes += predicted(w, b, scale, x, at) != codes[i]
        eta, shrunk = settings.eta0, scale
        if settings.penalty:
            eta = 1.0 / (settings.alpha * (before + (i + 1) - 1.0))
            shrunk = scale * max(0.0, 1.0 - eta * settings.alpha)
        for c in range(vectors):
            positive = codes[i] == (c if vectors > 1 else 1)
            step = signed_step(settings, score(w[c], b[c], scale, x, at), positive, x, eta)
            for j in range(x.size):
                w[c, at[j]] += x[j] * (step / shrunk)
            b[c] += step * decay
        scale = shrunk
        if settings.average:
            mean_w += (scale * w - mean_w) / (i + 1)
            mean_b += (b - mean_b) / (i + 1)
    return (mistakes, mean_w, mean_b) if settings.average else (mistakes, scale * w, b)


@numba.njit
def score(w, b, scale, x, at):
    total = 0.0
    for j in range(x.size):
        total += w[at[j]] * x[j]
    return total * scale + b


@numba.njit
def predicted(w, b, scale, x, at):
    """Return the class that scikit-learn predicts: of two the negative one at 0, of more the first best."""
    if b.size == 1:
        return 1 if score(w[0], b[0], scale, x, at) > 0.0 else 0
    best, most = 0, -np.inf
    for c in range(b.size):
        s = score(w[c], b[c], scale, x, at)
        if s > most:
            best, most = c, s
    return best


@numba.njit
def signed_step(settings, score, positive, x, eta):
    """Return what x is multiplied by before it is added to the weights."""
    sign = 1.0 if positive else -1.0
    if settings.passive_aggressive:
        squared_norm = (x * x).sum()
        return sign * min(settings.eta0, max(0.0, 1.0 - sign * score) / squared_norm) if squared_norm > 0.0 else 0.0
    if settings.loss == LOGISTIC:
        y = 1.0 if positive else 0.0
        if score <= -37.0:
            return eta * (y - math.exp(score))
        e = math.exp(-score)
        return eta * ((y * e - (1.0 - y)) / (1.0 + e))
    return sign * eta if sign * score <= (1.0 if settings.loss == HINGE else 0.0) else 0.0
