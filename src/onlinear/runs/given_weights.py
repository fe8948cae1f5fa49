"""Weights that a user gives: to start from, or to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError


def weights_and_intercept(name: str, given: Any, n: int, bias: int) -> Floats:
    """Return n weights, or a pair (weights, intercept), as one vector with the intercept first, if there is a bias."""
    pair = isinstance(given, tuple)
    if pair and not bias:
        raise ParameterError(f"{name} has an intercept, but fit_intercept is False")
    if pair and len(given) != 2:
        raise ParameterError(f"{name} must be weights, or a pair (weights, intercept)")
    weights, intercept = given if pair else (given, 0.0)
    try:
        weights, intercept = np.asarray(weights, dtype=np.float64), float(intercept)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} is not a vector of numbers: {error}") from error
    if weights.shape != (n,):
        raise ParameterError(f"{name} has shape {weights.shape}; there are {n} features")
    return _finite(name, np.concatenate([[intercept] * bias, weights]))


def class_weights(name: str, given: Any, shape: tuple[int, int], bias: int) -> Floats:
    """Return weights (a row per class), or a pair (weights, intercepts), as one vector, feature by feature."""
    pair = isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 2
    if pair and not bias:
        raise ParameterError(f"{name} has intercepts, but fit_intercept is False")
    k, n = shape
    weights, intercepts = given if pair else (given, np.zeros(k))
    try:
        weights, intercepts = (np.asarray(part, dtype=np.float64) for part in (weights, intercepts))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} is not a matrix of numbers: {error}") from error
    if weights.shape != shape or intercepts.shape != (k,):
        raise ParameterError(f"{name} must have a row for each of the {k} classes, of {n} weights")
    return _finite(name, np.vstack([*([intercepts] * bias), weights.T]).reshape(-1))


def _finite(name: str, whole: Floats) -> Floats:
    if not np.isfinite(whole).all():
        raise ParameterError(f"{name} has an entry that is not finite")
    return whole
