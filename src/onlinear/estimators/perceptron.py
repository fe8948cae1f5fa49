"""The perceptron, the margin perceptron and the batch perceptron as classifiers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.data.labels import show
from onlinear.errors import DataError
from onlinear.estimators.base import LinearClassifier, all_or_nothing, distinct_labels
from onlinear.estimators.online import OnlineLinearClassifier
from onlinear.estimators.patience import some_vector_separates, until_separated
from onlinear.rules import MarginPerceptron, Perceptron
from onlinear.rules.rule import Tie
from onlinear.runs import batch_perceptron
from onlinear.runs.batch import Schedule


class PerceptronClassifier(OnlineLinearClassifier):
    """The perceptron: ``w ← w + y·x`` on a mistake; with more than two classes, one vector for each.

    `fit` ends when the examples are separated, and not before: on separable data its training accuracy is 1.
    `partial_fit` makes at most (R/γ)² mistakes over all its calls, where some vector separates with margin γ.

    Parameters
    ----------
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts: neither label, the first or the second; the latter for two classes only.
    fit_intercept : bool
        Learn as if every example had a further feature 1; the theorems then speak of those longer examples.
    max_iter : int, optional
        `fit` gives up after this many passes. None: after 1,000, unless it is proven then that some vector separates
        the examples; it goes on in that case, up to a million passes. (Where there are too many examples or features
        to find out in a few seconds, nobody asks.)
    shuffle : bool
        Whether `fit` draws a new order for each pass; `partial_fit` never does.
    random_state : int, RandomState or None
        For `shuffle`.
    warm_start : bool
        Whether `fit` goes on from what was learned, counters included.
    new_classes : bool
        Whether labels may turn up that the first call did not name. There is then a vector of weights for each class
        from the start, also of two.

    Attributes
    ----------
    run_ : Run
        What was learned: to look at, to save, to go on from with `onlinear.run`.
    coef_, intercept_ : arrays
        The weights and what is added: of two classes one row, (1, d) and (1,); of k classes (k, d) and (k,).
    classes_ : array
        The labels, in order.
    n_features_in_, feature_names_in_
        The number of features, and their names where X was a frame.
    n_iter_, t_ : int
        The passes of the last `fit` (1 after `partial_fit`), and the examples read so far.
    mistakes_, updates_ : int
        The wrong predictions, each made before its answer was told; and the steps taken.
    margin_upper_bound_ : float
        No separator of the examples seen has a larger margin than this.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> model = onlinear.PerceptronClassifier().fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.mistakes_ <= (1 + 1) / 0.1**2
    True
    """

    def __init__(
        self,
        *,
        tie: Tie = "mistake",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        shuffle: bool = True,
        random_state: Any = 0,
        warm_start: bool = False,
        new_classes: bool = False,
    ) -> None:
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start
        self.new_classes = new_classes

    def _rule(self) -> Perceptron:
        return Perceptron(self.tie)


class MarginPerceptronClassifier(OnlineLinearClassifier):
    """The margin perceptron: ``w ← w + y·x`` while ``y⟨w,x⟩ ≤ margin`` (or ``≤ margin·‖w‖``).

    It also steps where an example is right by too little, so where `fit` ends by itself the examples are separated
    with a margin above bγ*/(R² + 2b), for b = `margin` and γ* the largest that there is; normalised, with a margin
    above `margin`.

    Parameters
    ----------
    margin : float
        b in the units of the score; normalised, the margin asked for, in the units of ‖x‖. At least 0.
    normalized : bool
        Whether the margin is multiplied by ‖w‖. `fit` then ends only where the examples have such a margin, and gives
        up as soon as it is proven that they have not.
    tie, fit_intercept, max_iter, shuffle, random_state, warm_start, new_classes
        As in `PerceptronClassifier`; and so are the attributes.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> model = onlinear.MarginPerceptronClassifier(margin=0.05, normalized=True, fit_intercept=False).fit(X, y)
    >>> bool((y * model.decision_function(X) > 0.05 * (model.coef_**2).sum() ** 0.5).all())
    True
    """

    def __init__(
        self,
        *,
        margin: float = 1.0,
        normalized: bool = False,
        tie: Tie = "mistake",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        shuffle: bool = True,
        random_state: Any = 0,
        warm_start: bool = False,
        new_classes: bool = False,
    ) -> None:
        self.margin = margin
        self.normalized = normalized
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start
        self.new_classes = new_classes

    def _rule(self) -> MarginPerceptron:
        return MarginPerceptron(self.margin, self.normalized, self.tie)


class BatchPerceptronClassifier(LinearClassifier):
    """The batch perceptron: ``w ← w + η_k·Σ y·x`` over the misclassified examples, until none is left.

    It needs all examples for each step, so there is no `partial_fit`. The order of the examples does not matter (but
    for rounding), and neither does it whether an example is repeated or has a weight.

    Parameters
    ----------
    schedule : {"constant", "1/k"} or callable
        η_k: always 1; 1/k (which may take exponentially long); or a function of k = 1, 2, …
    tie, fit_intercept
        As in `PerceptronClassifier`.
    max_iter : int, optional
        `fit` gives up after this many passes, each of which ends in one step; None: as in `PerceptronClassifier`.
    warm_start : bool
        Whether `fit` goes on from what was learned, counters and k included.

    The attributes are those of `PerceptronClassifier`.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.2, n=100, d=5, seed=0)
    >>> onlinear.BatchPerceptronClassifier().fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        schedule: Schedule = "constant",
        tie: Tie = "mistake",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.schedule = schedule
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Step until the examples are separated, or for `max_iter` passes; then there is a ``ConvergenceWarning``.

        It says what is known: of every separator's margin, and whether there is a separator at all.

        Parameters
        ----------
        X, y : matrix and labels
            The examples.
        sample_weight : array, optional
            Numbers, at least 0: an example of weight 2 steps as two would, and one of weight 0 takes no step.
        """
        check_integers(1, max_iter=1 if self.max_iter is None else self.max_iter)
        with all_or_nothing(self):
            start = self._so_far() if self.warm_start and hasattr(self, "run_") else None
            X, y = self._examples(X, y, reset=start is None)
            labels = distinct_labels(y)
            if start is None:
                self._check_classes(labels)
            if sample_weight is not None:
                _check_weighted_classes(y, sample_weight)
            options = {"tie": self.tie, "fit_intercept": self.fit_intercept, "sample_weight": sample_weight}
            weighed = slice(None) if sample_weight is None else np.flatnonzero(np.asarray(sample_weight))
            done, known = until_separated(
                lambda state, passes: batch_perceptron(
                    X,
                    y,
                    schedule=self.schedule,
                    state=state,
                    max_passes=passes,
                    classes=None if state else labels,
                    **options,
                ),
                start,
                self.max_iter,
                (lambda: some_vector_separates(X[weighed], y[weighed], labels, fit_intercept=self.fit_intercept))
                if self.schedule == "constant"
                else None,
            )
            self._keep(done)
        return self._ended(known)


def _check_weighted_classes(y: NDArray[Any], sample_weight: Any) -> None:
    """Raise where the examples that have a weight are all of one class: there is nothing to tell apart."""
    weights = np.asarray(sample_weight)
    if weights.shape != y.shape:
        return  # the batch perceptron itself refuses them
    labels = distinct_labels(y[weights != 0])
    if labels.size == 0:
        raise DataError("sample_weight is zero for every example; at least two classes must have a weight")
    if labels.size == 1:
        raise DataError(
            f"sample_weight is zero but for one class, {show(labels[0])}; at least two classes must have a weight"
        )
