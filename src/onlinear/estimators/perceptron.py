"""The perceptron and the margin perceptron as classifiers."""

from __future__ import annotations

from typing import Any

from onlinear.estimators.online import Average, OnlineLinearClassifier
from onlinear.rules import AveragedPerceptron, MarginPerceptron, Perceptron
from onlinear.rules.rule import Tie


class PerceptronClassifier(OnlineLinearClassifier):
    """The perceptron: ``w ← w + y·x`` on a mistake; with more than two classes, one vector for each.

    `fit` separates the examples if they are separable: its training accuracy is then 1. If not, it finds out soon, and
    averages the weights over all rounds of a few passes. Over all its calls, `partial_fit` makes at most (R/γ)²
    mistakes if some vector separates the examples with margin γ.

    Parameters
    ----------
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts: neither label, the first, or the second. With more than two classes it
        must be "mistake".
    fit_intercept : bool
        Whether to learn an intercept, as the weight of an additional feature 1. The theorems then apply to the
        examples with that feature.
    intercept_scaling : float
        The value of that feature, above 0. The larger it is, the faster the intercept changes. If it is not 1, the
        feature is a column after the others in ``run_``; `coef_` and `intercept_` have the usual meaning.
    class_weight : dict or "balanced", optional
        The weights of the classes, by which steps are multiplied; "balanced": inversely proportional to the number of
        examples (`fit` only). There are no certificates for weighted steps.
    average : {"auto", True, False}
        False: the weights are those of the perceptron. True: they are averaged over all rounds
        (`onlinear.rules.AveragedPerceptron`); `fit` makes a few passes, more if there are few examples. "auto": `fit`
        averages if it cannot separate the examples. If it can, it starts from the sum of averages over four random
        orders, and corrects that until it separates the examples; such weights mostly predict others better. Where
        that takes long, and a check has found a separator, it starts from that one instead. (If `shuffle` is False,
        or too much data to check, they are the perceptron's.) `partial_fit` averages if `fit` has.
    max_iter : int, optional
        The maximum number of passes of each run that `fit` makes. None: at most 1,000, or a million if the examples are
        proven to be separable, unless a separator that is found in the proof will do. `fit` stops earlier
        if it makes no progress: after 2, 4, 8, … passes it compares the steps of both halves. Then it checks whether
        the examples are separable (unless they are too large to do so in a few seconds), and continues if they are.
    early_stopping : bool
        Whether `fit` stops if it makes no progress although the examples may be separable. No examples are set aside:
        each mistake is made before the label is known.
    shuffle : bool
        Whether `fit` shuffles the examples before each pass; `partial_fit` never does.
    random_state : int, RandomState or None
        The seed for `shuffle`.
    verbose : int
        Whether `fit` prints the number of mistakes after 1, 2, 4, … passes, and at the end why it stopped.
    warm_start : bool
        Whether `fit` resumes from the previous state, counters included. It then goes on with the weights that it has:
        ``average="auto"`` applies to the first call only.
    new_classes : bool
        Whether labels may appear that the first call did not name. Each class then has a weight vector from the start,
        even if there are two.

    Attributes
    ----------
    run_ : Run
        The result of training, for inspecting, saving, and resuming with `onlinear.run`. After `fit`, ``run_.reason``
        says why it stopped, and ``run_.halted`` whether the examples are separated.
    coef_, intercept_ : arrays
        The weights and intercepts: of shapes (1, d) and (1,) for two classes, (k, d) and (k,) for k classes.
    classes_ : array
        The labels, in order.
    n_features_in_, feature_names_in_
        The number of features, and their names if X was a frame.
    n_iter_, t_ : int
        The number of passes of `run_` (1 after `partial_fit`), and of examples that it read.
    mistakes_, updates_ : int
        The number of wrong predictions of `run_`, each made before its label was known, and of updates.
    margin_upper_bound_ : float
        An upper bound on the margin of every separator of the examples seen.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> model = onlinear.PerceptronClassifier().fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> noisy, y = onlinear.datasets.noisy(n=1000, seed=0)
    >>> model = onlinear.PerceptronClassifier().fit(noisy, y)
    >>> model.run_.reason
    'averaged over 20 passes; no vector separates these examples: those in rows ... cancel exactly'
    """

    def __init__(
        self,
        *,
        tie: Tie = "mistake",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        average: Average = "auto",
        max_iter: int | None = None,
        early_stopping: bool = False,
        shuffle: bool = True,
        random_state: Any = 0,
        verbose: int = 0,
        warm_start: bool = False,
        new_classes: bool = False,
    ) -> None:
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.average = average
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.new_classes = new_classes

    def _rule(self) -> Perceptron:
        return Perceptron(self.tie)

    def _averaging_rule(self) -> AveragedPerceptron:
        return AveragedPerceptron(progressive=self.average != "auto", tie=self.tie)

    def _is_centred(self) -> bool:
        # A certificate could not repeat a run of two classes with a vector each, and a start.
        return bool(self.shuffle) and not self.new_classes


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
        as soon as it is proven that they do not. There are no averages.
    average : {"auto", True, False}
        Whether weights are averaged over all rounds; "auto": `fit` averages if it cannot separate the examples.
    tie, fit_intercept, intercept_scaling, class_weight, max_iter, early_stopping, shuffle, random_state, verbose
        As in `PerceptronClassifier`, which also lists the attributes.
    warm_start, new_classes
        Likewise.

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
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        average: Average = "auto",
        max_iter: int | None = None,
        early_stopping: bool = False,
        shuffle: bool = True,
        random_state: Any = 0,
        verbose: int = 0,
        warm_start: bool = False,
        new_classes: bool = False,
    ) -> None:
        self.margin = margin
        self.normalized = normalized
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.average = average
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.new_classes = new_classes

    def _rule(self) -> MarginPerceptron:
        return MarginPerceptron(self.margin, self.normalized, self.tie)

    def _averaging_rule(self) -> AveragedPerceptron | None:
        return None if self.normalized else AveragedPerceptron(self.margin, self.average != "auto", self.tie)
