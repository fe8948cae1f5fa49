"""The classifiers: River's methods over what `Learning` knows. One thread at a time may use one, also to predict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import base

from onlinear.engine.passes import MISTAKES, ROUNDS, UPDATES
from onlinear.errors import ParameterError
from onlinear.river.by_name import ByName
from onlinear.river.frames import Frame
from onlinear.river.labels import label_array
from onlinear.river.learning import Learning
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.rule import Tie, check_rule
from onlinear.rules.winnow import Winnow
from onlinear.runs.beginning import needs_width
from onlinear.runs.outcome import Run


class NamedClassifier(base.MiniBatchClassifier):
    """What the classifiers have in common; a subclass's constructor says what they begin with."""

    _learning: Learning

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Predict, be told the answer, learn.

        Parameters
        ----------
        x : dict
            The features by name: finite numbers. New ones may come at any time, and others stay away.
        y : bool, str or number
            The label.
        w : float
            The weight of the example, by which the step is multiplied; only perceptrons take one other than 1.
        """
        form = self._learning.form
        if type(form) is ByName and w == 1.0 and (y is True or y is False):
            form.learn(x, y)
        else:
            self._learning.learn(x, y, w)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the predicted label; None before anything was learned. A tie is shown as the first class."""
        form = self._learning.form
        if type(form) is ByName:
            score = form.score(x)
            return score > 0.0 or (score == 0.0 and form.tie > 0)
        return self._learning.predict(x)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Raise: a score is no probability."""
        raise NotImplementedError(f"{type(self).__name__} has no probabilities, but scores: decision_function_one")

    def predict_proba_many(self, X: Any) -> Any:
        """Raise: a score is no probability."""
        raise NotImplementedError(f"{type(self).__name__} has no probabilities, but scores: decision_function_one")

    def decision_function_one(self, x: dict[Any, Any]) -> Any:
        """Return the score: above 0 speaks for True. Where each class has its weights, a dict of their scores."""
        return self._learning.score(x)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn from the rows of a frame in their order: the same, to the last bit, as row by row with `learn_one`.

        Parameters
        ----------
        X : frame of pandas or polars
            A column for each feature.
        y : series
            A label for each row.
        w : float or series
            The weight of all rows, or of each.
        """
        frame = Frame(X)
        self._learning.learn_many(frame.names, frame.values(), label_array(y, frame.n), w)

    def predict_many(self, X: Any) -> Any:
        """Return the predicted labels of a frame's rows, as a series of the same library."""
        frame = Frame(X)
        return frame.series(self._learning.predict_many(frame.names, frame.values()))

    @property
    def _multiclass(self) -> bool:
        return self._learning.can_have_many_classes

    @property
    def classes(self) -> list[Any]:
        """The labels that are known."""
        return self._learning.labels

    @property
    def rounds(self) -> int:
        """The number of examples learned from."""
        return self._learning.counts[ROUNDS]

    @property
    def mistakes(self) -> int:
        """The number of examples on which the prediction was wrong."""
        return sum(self._learning.counts[MISTAKES:])

    @property
    def updates(self) -> int:
        """The number of examples on which a step was taken."""
        return self._learning.counts[UPDATES]

    @property
    def weights(self) -> dict[Any, Any]:
        """The weight of each feature, by name; where each class has its weights, such a dict for each label."""
        return self._learning.weights

    @property
    def intercept(self) -> Any:
        """The intercept, 0 where none is fitted; where each class has its weights, one for each label."""
        return self._learning.intercept

    @property
    def margin_upper_bound(self) -> float | None:
        """No separator of the examples so far has a larger margin; see `onlinear.Run.margin_upper_bound`."""
        return self._learning.margin_upper_bound

    def as_run(self) -> Run:
        """Return what was learned as a `Run`: to save, to certify, to predict with from arrays.

        Its features are in the order in which learning met them, and ``state.names`` has their names as text.

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

    With labels True and False there is one weight vector. Other labels have one each, the right and the wrongly best
    class learn, and new classes may come at any time.

    Parameters
    ----------
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts: neither label (it counts against both, and is shown as False), False, or
        True. Among more than two classes a tie is a mistake.
    fit_intercept : bool
        Learn as if every example had a further feature 1.

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
        In the units of the score, or of ‖x‖ where normalised; at least 0.
    normalized : bool
        Whether the margin is multiplied by ‖w‖.
    tie : {"mistake", "negative", "positive"}
        What counts as a mistake at a score of exactly 0; the step does not depend on it.
    fit_intercept : bool
        Learn as if every example had a further feature 1.

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
    """Winnow: ``w_n ← w_n·(1+β)^(±1)`` on the features that are on, after a missed positive (+) or a false one (−).

    For many features of which few matter. It tells two classes apart.

    Parameters
    ----------
    threshold : float
        θ > 0: positive is predicted where the weights of the features that are on sum up to more. About the number of
        features that will come is best, and the order of magnitude is enough; a stream of dicts cannot say it, so you
        do. Features start with weight 1.
    beta : float
        β > 0; promotion multiplies by 1 + β, demotion divides.
    binarize : float or None
        Features with values above it are on, others off. None: values are 0 or 1 already, and others are refused.
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
    """Any rule as a classifier: one of `onlinear.rules`, or one of your own.

    Parameters
    ----------
    rule : a rule, optional
        None: ``Perceptron()``. It must not need to know the number of features, which a stream of dicts cannot say.
    fit_intercept : bool
        Learn as if every example had a further feature 1. Rules for 0/1 inputs refuse it.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onlinear.river import OnlineClassifier
    >>> from onlinear.rules import MarginPerceptron
    >>> model = preprocessing.StandardScaler() | OnlineClassifier(MarginPerceptron(margin=0.1))
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 85.75%
    """

    def __init__(self, rule: Any = None, fit_intercept: bool = True) -> None:
        self.rule = rule
        self.fit_intercept = fit_intercept
        self._learning = Learning(_usable(Perceptron() if rule is None else rule), fit_intercept=fit_intercept)


def _usable(rule: Any) -> Any:
    """Return the rule, once it is known that it can learn from dicts."""
    check_rule(rule)
    name = type(rule).__name__
    if rule.inputs == "advice":
        raise ParameterError(f"{name} learns from the advice of experts, which are always the same, not from dicts")
    if needs_width(rule):
        raise ParameterError(f"{rule!r} goes by the number of features; a stream of dicts cannot say it, so name it")
    if not rule._fields:
        raise ParameterError(
            f"{name} has no fields, and River cannot clone an empty tuple; give it one, such as a rate"
        )
    return rule
