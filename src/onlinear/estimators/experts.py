"""Prediction with expert advice, where the experts are online classifiers."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted, validate_data

from onlinear.data.matrices import check_matrix
from onlinear.data.one_label import show
from onlinear.engine.flat import Floats
from onlinear.errors import DataError, ParameterError
from onlinear.estimators.advice import (
    AdviceMatrix,
    Encoding,
    ExpertInputs,
    ask,
    clone_expert,
    expert_inputs,
    has_many_classes,
    name_experts,
    tags_of,
    train_experts,
)
from onlinear.estimators.base import (
    all_or_nothing,
    as_text,
    check_discrete,
    checked_list,
    distinct_labels,
)
from onlinear.estimators.voting import VotingClassifier, why_two_classes
from onlinear.rules.confidence import AROW
from onlinear.rules.experts import WeightedMajority
from onlinear.rules.rule import check_rule
from onlinear.runs import Run, run, state_before
from onlinear.runs.learner import classes_of
from onlinear.theory import Certificate, certify


class ExpertsClassifier(VotingClassifier):
    """Combine online classifiers by weighted majority, instead of choosing one of them beforehand.

    For each example in turn, every expert predicts, the rule predicts from their advice, and then all experts learn the
    label. So the theorems on expert advice hold, whatever the experts are. If the best of N experts makes m mistakes,
    ``WeightedMajority(eta)`` makes at most (ln N + m·ln(1/(1−η))) / ln(2/(2−η)) mistakes, about 2.4·m + 3.5·ln N for
    η = ½. With ``RandomizedWeightedMajority(eta="anytime")`` the expected number of mistakes exceeds m by no more than
    the order of the square root of the number of rounds.

    This is an online method: ``fit`` makes one pass in the order given, starting with untrained experts, and
    ``partial_fit`` resumes; the result is the same as one pass over all examples. If a call fails, the estimator is
    unchanged. There are no sample weights: the theorem assumes that all rounds count equally.

    Parameters
    ----------
    experts : list, optional
        Online classifiers, or pairs (name, classifier): from this package, from scikit-learn or compatible (with
        ``partial_fit``), or from River. The default is a `PerceptronClassifier` and a `WinnowClassifier`; with more
        than two classes, AROW instead of Winnow. An expert that cannot predict before it has learned advises the first
        class. River classifiers get dicts by feature name, or by column number if there are no names, and of two
        classes the labels False and True; from sparse rows they get the stored entries. Experts from other packages
        learn row by row, at their own speed.
    rule : a rule for advice, optional
        `onlinear.rules.WeightedMajority` (the default), `onlinear.rules.RandomizedWeightedMajority`, or your own.

    Attributes
    ----------
    run_ : Run
        The rule's run over the advice; other attributes are read from it.
    named_experts_ : Bunch
        The trained experts, by name.
    n_features_in_, feature_names_in_
        The number of features, and their names if X was a frame.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.disjunction(k=5, N=100, n=2000, seed=0)
    >>> model = onlinear.ExpertsClassifier().fit(X, y)
    >>> dict(zip(model.named_experts_, model.expert_mistakes_.tolist()))
    {'perceptron': 143, 'winnow': 35}
    >>> model.mistakes_, model.regret_
    (40, 5)
    >>> model.certificate(X, y).holds
    True
    """

    named_experts_: Any

    def __init__(self, experts: Any = None, rule: Any = None) -> None:
        self.experts = experts
        self.rule = rule

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from examples in one pass, starting with untrained experts.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The examples, in order.
        y : array of n labels
            Labels of two or more classes.
        """
        with all_or_nothing(self):
            inputs, y = self._examples(X, y, reset=True)
            self._begin(distinct_labels(y))
            self._learn(inputs, y)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from further examples.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array, optional
            All labels, on the first call.
        """
        with all_or_nothing(self):
            resumes = hasattr(self, "run_")
            inputs, y = self._examples(X, y, reset=not resumes)
            labels = None if classes is None else distinct_labels(classes)
            if resumes:
                if labels is not None and not np.array_equal(labels, self.classes_):
                    raise ParameterError(f"classes is {classes!r}, but training started with {self.classes_.tolist()}")
                self.named_experts_ = copy.deepcopy(self.named_experts_)
            elif labels is None:
                raise ParameterError("classes is missing: the first call of partial_fit must name all labels")
            else:
                self._begin(labels)
            self._learn(inputs, y)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the weighted mean of the advice on each row, in [−1, 1]; positive for ``classes_[1]``.

        With more than two classes it is the share of the weight that each class has.
        """
        check_is_fitted(self)
        check_matrix(X)
        inputs = self._inputs(X, validate_data(self, X, accept_sparse="csr", reset=False))
        return self.run_.decision_function(ask(self.named_experts_, inputs, self._encoding()))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the larger total weight of experts, for each row.

        This is deterministic even for a randomised rule: equal rows get equal labels. A randomised rule draws only
        during training, and ``mistakes_`` counts those predictions.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            heaviest: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
            return heaviest
        positive = scores >= 0.0 if self.run_.rule.tie == "positive" else scores > 0.0
        chosen: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return chosen

    def advice(self, X: Any, y: Any) -> AdviceMatrix:
        """Return the advice of each expert on each example before it learned the label, one column per expert.

        It is ±1; with more than two classes, the number of the class in ``classes_``.
        Untrained copies of the experts learn from the examples in order; the estimator does not change.
        """
        check_is_fitted(self)
        inputs, y = self._examples(X, y, reset=False)
        return train_experts(self._untrained_experts(), inputs, y, self._encoding())

    def certificate(self, X: Any, y: Any) -> Certificate:
        """Return a certificate: the rule's mistakes beside the bounds of the theorems (`onlinear.certify`).

        Parameters
        ----------
        X, y
            All training examples, in order. Copies of the experts learn from them again, to reproduce their advice;
            ``certificate.verify(model.advice(X, y), y)`` checks the certificate.
        """
        advice = self.advice(X, y)
        if len(advice) != self.t_:
            raise DataError(f"trained on {self.t_:,} examples; X has {len(advice):,}: pass all of them, in order")
        try:
            return certify(self.run_, advice, y)
        except DataError as error:
            raise DataError(
                f"the experts' advice differs from that in training ({error}): the examples or their order differ,"
                " an expert's parameters have changed, or an expert is random (give it a seed, such as random_state=0)"
            ) from error

    @property
    def experts_(self) -> list[Any]:
        """The trained experts."""
        return list(self.named_experts_.values())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also the experts by name, and their parameters as ``name__parameter``."""
        params: dict[str, Any] = super().get_params(deep=False)
        for name, expert in name_experts(self.experts) if deep else ():
            params[name] = expert
            if hasattr(expert, "get_params"):
                params |= {f"{name}__{key}": value for key, value in expert.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters: ``name`` replaces that expert, ``name__parameter`` sets one of its parameters."""
        if "experts" in params:
            self.experts = params.pop("experts")
        experts = dict(name_experts(self.experts))
        others = {name: params.pop(name) for name in experts if name in params}
        if others:
            self.experts = list((experts | others).items())
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._only_two_classes()
        known = [tags_of(expert) for _, expert in name_experts(self.experts)]
        tags.input_tags.sparse = all(its.input_tags.sparse for its in known if its is not None)
        return tags

    def _examples(self, X: Any, y: Any, *, reset: bool) -> tuple[ExpertInputs, NDArray[Any]]:
        check_matrix(X)
        matrix, y = validate_data(self, X, checked_list(y), accept_sparse="csr", reset=reset)
        return self._inputs(X, matrix), as_text(y)

    def _inputs(self, X: Any, matrix: Any) -> ExpertInputs:
        return expert_inputs(X, matrix, getattr(self, "feature_names_in_", None))

    def _begin(self, labels: NDArray[Any]) -> None:
        """Set the initial state."""
        _check_several(labels)
        reason = self._only_two_classes() if labels.size > 2 else ""
        if reason:
            raise DataError(f"Only binary classification is supported. There are {labels.size} classes: {reason}")
        self.named_experts_ = self._untrained_experts(labels.size)
        self.run_ = Run(state_before(self._rule(), labels, len(self.named_experts_), multiclass=labels.size > 2))

    def _learn(self, inputs: ExpertInputs, y: NDArray[Any]) -> None:
        advice = train_experts(self.named_experts_, inputs, y, self._encoding())
        self.run_ = run(self._rule(), advice, y, state=self.run_)

    def _rule(self) -> Any:
        rule: Any = WeightedMajority() if self.rule is None else self.rule
        check_rule(rule)
        if rule.inputs != "advice":
            raise ParameterError(
                f"rule is {rule!r}, which does not learn from advice; use one such as WeightedMajority()"
            )
        return rule

    def _encoding(self) -> Encoding:
        return classes_of(self.run_.state)

    def _only_two_classes(self) -> str:
        """Return why there can be no more than two classes; nothing if there can."""
        limited = (name for name, expert in name_experts(self.experts) if not has_many_classes(expert))
        experts = next((f"the expert {name!r} supports only two" for name in limited), "")
        return why_two_classes(self._rule) or experts

    def _untrained_experts(self, classes: int | None = None) -> Any:
        """Return untrained copies of the experts, by name."""
        count = self.classes_.size if classes is None else classes
        pairs = name_experts(_default_experts(count) if self.experts is None else self.experts)
        if not pairs:
            raise ParameterError(f"experts is {self.experts!r}; it must be a list of online classifiers")
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ParameterError(f"the experts' names are {names}; they must be distinct")
        for name in names:
            if "__" in name or name in super().get_params(deep=False):
                raise ParameterError(
                    f"an expert cannot be called {name!r}: that is the name of a parameter, or contains '__'"
                )
        return Bunch(**{name: clone_expert(name, expert) for name, expert in pairs})


def _default_experts(classes: int) -> list[tuple[str, Any]]:
    """Return a perceptron and Winnow; with more than two classes, which Winnow does not support, AROW instead."""
    from onlinear.estimators import OnlineClassifier, PerceptronClassifier, WinnowClassifier  # these import this file

    other = ("winnow", WinnowClassifier()) if classes == 2 else ("arow", OnlineClassifier(AROW()))
    return [("perceptron", PerceptronClassifier()), other]


def _check_several(labels: NDArray[Any]) -> None:
    """Raise unless there are at least two labels."""
    check_discrete(labels)
    if labels.size < 2:
        only = f"only one class, {show(labels[0])}" if labels.size else "classes is empty"
        raise DataError(f"{only}; pass all labels: partial_fit(X, y, classes=[first, second])")
