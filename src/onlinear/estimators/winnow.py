"""Winnow as a classifier."""

from __future__ import annotations

from typing import Any

import scipy.sparse
from sklearn.preprocessing import binarize

from onlinear.estimators.online import OnlineLinearClassifier
from onlinear.rules import Winnow


class WinnowClassifier(OnlineLinearClassifier):
    """Winnow: on a mistake, the weights of the active features are multiplied or divided by 1 + β.

    For two classes, and many features of which few are relevant. Inputs must be 0 or 1; `binarize` converts others.

    Parameters
    ----------
    beta : float
        β > 0.
    threshold : float, optional
        The second class is predicted if ⟨w,x⟩ exceeds it. The default is the number of features.
    binarize : float or None
        Values above this become 1, others 0. None: the inputs must be 0 or 1, and anything else is an error.
    max_iter : int, optional
        The maximum number of passes of `fit`, which also stops once more passes hardly help: see `OnlineClassifier`.
    early_stopping, shuffle, random_state, verbose, warm_start
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
        early_stopping: bool = False,
        shuffle: bool = True,
        random_state: Any = 0,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.beta = beta
        self.threshold = threshold
        self.binarize = binarize
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A disjunction of active features is a poor model of real numbers.
        tags.classifier_tags.poor_score = True
        return tags

    def _only_two_classes(self) -> str:
        return "Winnow supports only two classes"

    def _as_rule_inputs(self, X: Any) -> Any:
        if self.binarize is None:
            return X
        sparse = scipy.sparse.issparse(X)
        if sparse:
            X = X.copy()
            X.sum_duplicates()  # 0.5 + 0.5 is a single entry of 1
        return binarize(X, threshold=self.binarize, copy=not sparse)

    def _rule(self) -> Winnow:
        return Winnow(self.beta, self.threshold)
