"""Winnow as a classifier."""

from __future__ import annotations

from typing import Any

import scipy.sparse
from sklearn.preprocessing import binarize

from onlinear.estimators.online import OnlineLinearClassifier
from onlinear.rules import Winnow


class WinnowClassifier(OnlineLinearClassifier):
    """Winnow: the weights of the features that are on are multiplied or divided by 1 + β on a mistake.

    For many features of which few matter, and two classes. Inputs are 0 or 1: others become so, by `binarize`.

    Parameters
    ----------
    beta : float
        β > 0.
    threshold : float, optional
        Predict the second class where ⟨w,x⟩ is above this. None: the number of features.
    binarize : float or None
        What is above this is 1, the rest 0. None: the inputs are 0 and 1 already, and anything else is an error.
    max_iter, shuffle, random_state, warm_start
        As in `PerceptronClassifier`.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.disjunction(k=5, N=200, n=1000, seed=0)
    >>> onlinear.WinnowClassifier().fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        beta: float = 1.0,
        threshold: float | None = None,
        binarize: float | None = 0.0,
        max_iter: int | None = None,
        shuffle: bool = True,
        random_state: Any = 0,
        warm_start: bool = False,
    ) -> None:
        self.beta = beta
        self.threshold = threshold
        self.binarize = binarize
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A disjunction of features that are on says little about real numbers.
        tags.classifier_tags.poor_score = True
        return tags

    def _takes_many_classes(self) -> bool:
        return False

    def _as_the_rule_reads(self, X: Any) -> Any:
        if self.binarize is None:
            return X
        sparse = scipy.sparse.issparse(X)
        if sparse:
            X = X.copy()
            X.sum_duplicates()  # 0.5 + 0.5 is one entry, and not two
        return binarize(X, threshold=self.binarize, copy=not sparse)

    def _rule(self) -> Winnow:
        return Winnow(self.beta, self.threshold)
