"""The perceptron, the margin perceptron and the batch perceptron as classifiers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.data.one_label import show
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

    `fit` halts when the examples are separated: on separable data its training accuracy is 1. Over all its calls,
    `partial_fit` makes at most (R/γ)² mistakes if some vector separates the examples with margin γ.

    Parameters
    ----------
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts: neither label, the first, or the second. With more than two classes it
        must be "mistake".
    fit_intercept : bool
        Whether to learn an intercept, as the weight of an additional feature 1. The theorems then apply to the
        examples with that feature.
    max_iter : int, optional
        The maximum number of passes of `fit`. None: after 1,000 passes, `fit` checks whether the examples are
        separable (unless there are too many examples or features to do so in a few seconds). If they are, it continues
        up to a million passes.
    shuffle : bool
        Whether `fit` shuffles the examples before each pass; `partial_fit` never does.
    random_state : int, RandomState or None
        The seed for `shuffle`.
    warm_start : bool
        Whether `fit` resumes from the previous state, counters included.
    new_classes : bool
        Whether labels may appear that the first call did not name. Each class then has a weight vector from the start,
        even if there are two.

    Attributes
    ----------
    run_ : Run
        The result of training, for inspecting, saving, and resuming with `onlinear.run`.
    coef_, intercept_ : arrays
        The weights and intercepts: of shapes (1, d) and (1,) for two classes, (k, d) and (k,) for k classes.
    classes_ : array
        The labels, in order.
    n_features_in_, feature_names_in_
        The number of features, and their names if X was a frame.
    n_iter_, t_ : int
        The number of passes of the last `fit` (1 after `partial_fit`), and of examples read so far.
    mistakes_, updates_ : int
        The number of wrong predictions, each made before its label was known, and of updates.
    margin_upper_bound_ : float
        An upper bound on the margin of every separator of the examples seen.

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

    It also updates on examples that are classified correctly by too small a margin. When `fit` halts, the examples are
    separated with a margin above bγ*/(R² + 2b), where b is `margin` and γ* the largest possible margin; or, if
    `normalized`, with a margin above `margin`.

    Parameters
    ----------
    margin : float
        b, in the units of the score; if `normalized`, the margin to reach, in the units of ‖x‖. At least 0.
    normalized : bool
        Whether the margin is multiplied by ‖w‖. `fit` then halts only if the examples have such a margin, and gives up
        as soon as it is proven that they do not.
    tie, fit_intercept, max_iter, shuffle, random_state, warm_start, new_classes
        As in `PerceptronClassifier`, which also lists the attributes.

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

    Each step needs all examples, so there is no `partial_fit`. The order of the examples does not matter (except for
    rounding), and an example with weight 2 is the same as the example twice.

    Parameters
    ----------
    schedule : {"constant", "1/k"} or callable
        η_k: 1; 1/k (which may take exponentially long); or a function of k = 1, 2, …
    tie, fit_intercept
        As in `PerceptronClassifier`.
    max_iter : int, optional
        The maximum number of passes of `fit`, each with one step; None: as in `PerceptronClassifier`.
    warm_start : bool
        Whether `fit` resumes from the previous state, counters and k included.

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
        """Learn until the examples are separated, or for `max_iter` passes.

        If it gives up, it issues a ``ConvergenceWarning`` that says what is known: a bound on the margin of every
        separator, and whether the examples are separable.

        Parameters
        ----------
        X, y : matrix and labels
            The examples.
        sample_weight : array, optional
            The weights of the examples, at least 0. Weight 2 counts as two examples, weight 0 as none.
        """
        check_integers(1, max_iter=1 if self.max_iter is None else self.max_iter)
        with all_or_nothing(self):
            start = self._resumable_run() if self.warm_start and hasattr(self, "run_") else None
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
        self._warn_unless_halted(known)
        return self


def _check_weighted_classes(y: NDArray[Any], sample_weight: Any) -> None:
    """Raise unless examples of at least two classes have a weight above 0."""
    weights = np.asarray(sample_weight)
    if weights.shape != y.shape:
        return  # `batch_perceptron` raises the error
    labels = distinct_labels(y[weights != 0])
    if labels.size == 0:
        raise DataError("sample_weight is zero for every example; at least two classes need examples with a weight")
    if labels.size == 1:
        raise DataError(
            f"sample_weight is zero except for one class, {show(labels[0])}; at least two classes need a weight"
        )
