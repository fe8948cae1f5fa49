"""The classifiers, with River's methods. They are not thread-safe, not even for predicting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base

from onlinear.engine.passes import MISTAKES, ROUNDS, UPDATES
from onlinear.errors import ParameterError
from onlinear.river.by_name import ByName
from onlinear.river.frames import NamedTable
from onlinear.river.labels import label_array
from onlinear.river.learning import Learning
from onlinear.rules.majority import Majority
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.rule import Tie, check_rule
from onlinear.rules.winnow import Winnow
from onlinear.runs.beginning import needs_width
from onlinear.runs.outcome import Run


class NamedClassifier(base.MiniBatchClassifier):
    """The base of the classifiers; the constructor of a subclass creates `_learning`."""

    _learning: Learning

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example.

        Parameters
        ----------
        x : dict
            The features by name: finite numbers. New features may appear at any time; missing ones are 0.
        y : bool, str or number
            The label.
        w : float
            The weight of the example, by which the step is multiplied; only perceptrons support values other than 1.
        """
        form = self._learning.form
        if type(form) is ByName and w == 1.0 and (y is True or y is False):
            form.learn(x, y)
        else:
            self._learning.learn(x, y, w)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the predicted label, or None before the first call of `learn_one`. A tie gives the first class."""
        form = self._learning.form
        if type(form) is ByName:
            score = form.score(x)
            return score > 0.0 or (score == 0.0 and form.tie > 0)
        return self._learning.predict(x)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Raise `NotImplementedError`: scores are not probabilities."""
        raise NotImplementedError(f"{type(self).__name__} does not predict probabilities; use decision_function_one")

    def predict_proba_many(self, X: Any) -> Any:
        """Raise `NotImplementedError`: scores are not probabilities."""
        raise NotImplementedError(f"{type(self).__name__} does not predict probabilities; use decision_function_one")

    def decision_function_one(self, x: dict[Any, Any]) -> Any:
        """Return the score, positive for True; with a weight vector per class, a dict of scores by label."""
        return self._learning.score(x)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn from the rows of a frame in order, with the same result as `learn_one` on each row, to the last bit.

        Parameters
        ----------
        X : pandas or polars frame
            A column per feature.
        y : series
            A label per row.
        w : float or series
            One weight for all rows, or one per row.
        """
        frame = NamedTable(X)
        self._learning.learn_many(frame.names, frame.values(), label_array(y, frame.n), w)

    def predict_many(self, X: Any) -> Any:
        """Return the predicted labels of the rows of a frame, as a series of the same library."""
        frame = NamedTable(X)
        return frame.series(self._learning.predict_many(frame.names, frame.values()))

    @property
    def _multiclass(self) -> bool:
        return self._learning.can_have_many_classes

    @property
    def classes(self) -> list[Any]:
        """The known labels."""
        return self._learning.labels

    @property
    def rounds(self) -> int:
        """The number of examples learned from."""
        return self._learning.counts[ROUNDS]

    @property
    def mistakes(self) -> int:
        """The number of wrong predictions, each made before its label was known."""
        return sum(self._learning.counts[MISTAKES:])

    @property
    def updates(self) -> int:
        """The number of updates."""
        return self._learning.counts[UPDATES]

    @property
    def weights(self) -> dict[Any, Any]:
        """The weights by name; with a weight vector per class, a dict of these by label."""
        return self._learning.weights

    @property
    def intercept(self) -> Any:
        """The intercept, 0 if none is fitted; with a weight vector per class, a dict by label."""
        return self._learning.intercept

    @property
    def margin_upper_bound(self) -> float | None:
        """An upper bound on the margin of every separator; see `onlinear.Run.margin_upper_bound`."""
        return self._learning.margin_upper_bound

    def as_run(self) -> Run:
        """Return the state as a `Run`, for saving, certifying, and predicting from arrays.

        Its features are in the order of their first example, and ``state.names`` has their names as strings.

        Examples
        --------
        >>> import tempfile, onlinear
        >>> from onlinear.river import PerceptronClassifier
        >>> model = PerceptronClassifier()
        >>> model.learn_one({"length": 2.0, "links": 1.0}, True)
        >>> run = model.as_run()
        >>> run.state.names, run.weights.tolist(), run.intercept
        (('length', 'links'), [2.0, 1.0], 1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.save(f"{folder}/model.safetensors")
        ...     onlinear.load(f"{folder}/model.safetensors").predict([[1.0, 0.0]]).tolist()
        [True]
        """
        return self._learning.run()


class PerceptronClassifier(NamedClassifier):
    """The perceptron: ``w ← w + y·x`` on a mistake.

    With the labels True and False there is one weight vector. Otherwise each label has one: on a mistake, the correct
    class and the predicted class are updated. New labels may appear at any time.

    Parameters
    ----------
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts: neither label (it counts as a mistake, and `predict_one` returns False),
        False, or True. With more than two classes it must be "mistake".
    fit_intercept : bool
        Whether to learn an intercept.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onlinear.river import PerceptronClassifier
    >>> model = preprocessing.StandardScaler() | PerceptronClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 85.91%
    """

    def __init__(self, tie: Tie = "mistake", fit_intercept: bool = True) -> None:
        self.tie = tie
        self.fit_intercept = fit_intercept
        self._learning = Learning(Perceptron(tie), fit_intercept=fit_intercept)


class MarginPerceptronClassifier(NamedClassifier):
    """The margin perceptron: ``w ← w + y·x`` while ``y⟨w,x⟩ ≤ margin`` (or ``≤ margin·‖w‖``).

    Parameters
    ----------
    margin : float
        The margin in the units of the score, or of ‖x‖ if `normalized`; at least 0.
    normalized : bool
        Whether the margin is multiplied by ‖w‖.
    tie : {"mistake", "negative", "positive"}
        Whether a score of exactly 0 counts as a mistake; updates do not depend on it.
    fit_intercept : bool
        Whether to learn an intercept.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onlinear.river import MarginPerceptronClassifier
    >>> model = preprocessing.StandardScaler() | MarginPerceptronClassifier(margin=1.0)
    >>> evaluate.progressive_val_score(datasets.ImageSegments().take(1000), model, metrics.Accuracy())
    Accuracy: 80.58%
    """

    def __init__(
        self, margin: float = 1.0, normalized: bool = False, tie: Tie = "mistake", fit_intercept: bool = True
    ) -> None:
        self.margin = margin
        self.normalized = normalized
        self.tie = tie
        self.fit_intercept = fit_intercept
        self._learning = Learning(MarginPerceptron(margin, normalized, tie), fit_intercept=fit_intercept)


class WinnowClassifier(NamedClassifier):
    """Winnow: ``w_n ← w_n·(1+β)^(±1)`` for the active features, after a false negative (+) or a false positive (−).

    For two classes, and many features of which few are relevant.

    Parameters
    ----------
    threshold : float
        θ > 0: positive is predicted if the weights of the active features sum to more. A good choice is the expected
        number of features; the order of magnitude is enough. It has no default because a stream of dicts does not tell
        the number of features. Features start with weight 1.
    beta : float
        β > 0; a promotion multiplies by 1 + β, a demotion divides by it.
    binarize : float or None
        Features with values above it are active. None: values must be 0 or 1, and anything else is an error.
    labels : pair
        The labels (negative, positive).

    Examples
    --------
    >>> from onlinear.river import WinnowClassifier
    >>> model = WinnowClassifier(threshold=2.0, labels=("ham", "spam"))
    >>> for words, label in [("win money", "spam"), ("see you", "ham"), ("win now", "spam"), ("see money now", "ham")]:
    ...     model.learn_one(dict.fromkeys(words.split(), 1), label)
    >>> model.weights
    {'win': 2.0, 'money': 1.0, 'see': 0.5, 'you': 1.0, 'now': 0.5}
    >>> model.predict_one({"win": 1, "friends": 1})
    'spam'
    """

    def __init__(
        self,
        threshold: float,
        beta: float = 1.0,
        binarize: float | None = 0.0,
        labels: tuple[Any, Any] = (False, True),
    ) -> None:
        self.threshold = threshold
        self.beta = beta
        self.binarize = binarize
        self.labels = labels
        self._learning = Learning(Winnow(beta, threshold), binarize=binarize, pair=labels)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"threshold": 10.0}


class OnlineClassifier(NamedClassifier):
    """A classifier for any rule: one of `onlinear.rules`, or your own.

    Parameters
    ----------
    rule : a rule, optional
        The default is ``Perceptron()``. It must not depend on the number of features, which is unknown for dicts.
    fit_intercept : bool
        Whether to learn an intercept. Rules for 0/1 inputs do not support it.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onlinear.river import OnlineClassifier
    >>> from onlinear.rules import MarginPerceptron
    >>> model = preprocessing.StandardScaler() | OnlineClassifier(MarginPerceptron(0.1, normalized=True))
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 85.75%
    """

    def __init__(self, rule: Any = None, fit_intercept: bool = True) -> None:
        self.rule = rule
        self.fit_intercept = fit_intercept
        self._learning = Learning(_checked_rule(Perceptron() if rule is None else rule), fit_intercept=fit_intercept)


class AutoClassifier(NamedClassifier):
    """The weighted majority of several rules, which learn from every example: nothing to choose, nothing to tune.

    Parameters
    ----------
    members : list of rules or Member, optional
        See `onlinear.rules.Majority`, also for the default.
    vote : a rule for experts, optional
        The rule that predicts from the members' advice.

    Attributes
    ----------
    weights : dict
        The weight of each member, up to a common factor.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from onlinear.river import AutoClassifier
    >>> evaluate.progressive_val_score(datasets.Phishing(), AutoClassifier(), metrics.Accuracy())
    Accuracy: 89.35%
    """

    def __init__(self, members: Any = None, vote: Any = None) -> None:
        self.members = members
        self.vote = vote
        given = {"members": members, "vote": vote}
        rule = Majority(**{name: value for name, value in given.items() if value is not None})
        self._learning = Learning(_checked_rule(rule))


def _checked_rule(rule: Any) -> Any:
    """Return the rule; raise if it cannot learn from dicts."""
    check_rule(rule)
    name = type(rule).__name__
    if rule.inputs == "advice":
        raise ParameterError(f"{name} learns from the advice of a fixed set of experts, not from dicts")
    if needs_width(rule):
        raise ParameterError(f"{rule!r} depends on the number of features, which is unknown for dicts; set it")
    if not rule._fields:
        raise ParameterError(
            f"{name} has no fields, and River cannot clone an empty tuple; add a field, such as a rate"
        )
    return rule
