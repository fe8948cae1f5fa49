"""Prediction with expert advice, where the experts are online classifiers."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Bunch, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from onlinear.data.labels import Classes, show
from onlinear.engine.flat import Floats
from onlinear.errors import DataError, ParameterError
from onlinear.estimators.advice import Advice, Rows, asked, fresh, named, rows_of, told
from onlinear.estimators.base import all_or_nothing, as_text, check_discrete, checked_list, distinct_labels
from onlinear.rules.experts import WeightedMajority
from onlinear.rules.rule import check_rule
from onlinear.runs import Run, run, state_before
from onlinear.theory import Certificate, certify


class ExpertsClassifier(ClassifierMixin, BaseEstimator):
    """Follow the advice of online classifiers: no need to choose between them beforehand.

    For each example in its order every expert predicts, the rule predicts from their advice, and then all experts are
    told the answer. What the theorems on expert advice promise therefore holds for whatever the experts are: with
    ``WeightedMajority(eta)`` and N experts, of which the best errs m times, at most
    (ln N + m·ln(1/(1−η))) / ln(2/(2−η)) mistakes, about 2.4·m + 3.5·ln N for η = ½. With
    ``RandomizedWeightedMajority(eta="anytime")`` the expected number beyond m grows only as the square root of the
    rounds.

    This is an online method: ``fit`` is one pass in the order given, with experts that have learned nothing, and
    ``partial_fit`` goes on, with the same bits as one pass over everything. A call that fails leaves the estimator as
    it was. There are no sample weights: a round that counts for more or less than one would break the theorem.

    Parameters
    ----------
    experts : list, optional
        Online classifiers, or pairs (name, classifier): this package's, others of scikit-learn's make with
        ``partial_fit``, and River's. Default: a `PerceptronClassifier` and a `WinnowClassifier`. An expert that
        cannot predict before it has learned advises the first class. River's get dicts by feature name, or column
        number where there are no names, and are told False and True; of sparse rows they get the stored entries.
        Experts other than this package's learn row by row, at their own speed.
    rule : a rule for advice, optional
        `onlinear.rules.WeightedMajority` (the default), `onlinear.rules.RandomizedWeightedMajority`, or your own.

    Attributes
    ----------
    run_ : Run
        The rule's run over the advice, which other attributes are read from.
    named_experts_ : Bunch
        The experts as they are now, by name.
    n_features_in_, feature_names_in_
        The number of features, and their names where X was a frame.

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

    run_: Run
    named_experts_: Any

    def __init__(self, experts: Any = None, rule: Any = None) -> None:
        self.experts = experts
        self.rule = rule

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from examples in one pass, with experts that have learned nothing.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The examples, in their order.
        y : array of n labels
            Of two classes.
        """
        with all_or_nothing(self):
            rows, y = self._examples(X, y, reset=True)
            self._begin(distinct_labels(y))
            self._learn(rows, y)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go on with further examples.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : pair, optional
            The two labels, on the first call.
        """
        with all_or_nothing(self):
            begun = hasattr(self, "run_")
            rows, y = self._examples(X, y, reset=not begun)
            labels = None if classes is None else distinct_labels(classes)
            if begun:
                if labels is not None and not np.array_equal(labels, self.classes_):
                    raise ParameterError(f"classes is {classes!r}, but learning began with {self.classes_.tolist()}")
                self.named_experts_ = copy.deepcopy(self.named_experts_)
            elif labels is None:
                raise ParameterError("classes is missing: the first call of partial_fit must name both labels")
            else:
                self._begin(labels)
            self._learn(rows, y)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the weighted mean of the advice on each row, in [−1, 1]; above 0 speaks for ``classes_[1]``."""
        check_is_fitted(self)
        rows = self._rows(X, validate_data(self, X, accept_sparse="csr", reset=False))
        return self.run_.decision_function(asked(self.named_experts_, rows, Classes(self.classes_)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label that has more of the experts' weight, for each row.

        Nothing is drawn here, whatever the rule, so that equal rows get equal answers; the draws of a randomised rule
        are those of its rounds, which ``mistakes_`` counts.
        """
        scores = self.decision_function(X)
        positive = scores >= 0.0 if self.run_.rule.tie == "positive" else scores > 0.0
        chosen: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return chosen

    def advice(self, X: Any, y: Any) -> Advice:
        """Return what each expert said of each example before it was told the answer: ±1, one column an expert.

        The experts begin anew and go over the examples in their order; the estimator does not change.
        """
        check_is_fitted(self)
        rows, y = self._examples(X, y, reset=False)
        return told(self._fresh_experts(), rows, y, Classes(self.classes_))

    def certificate(self, X: Any, y: Any) -> Certificate:
        """Return a certificate of the rule's mistakes beside what the theorems allow (`onlinear.certify`).

        Parameters
        ----------
        X, y
            All examples that were learned from, in their order. The experts go over them once more, to bring their
            advice about again; ``certificate.verify(model.advice(X, y), y)`` checks the certificate.
        """
        advice = self.advice(X, y)
        if len(advice) != self.t_:
            raise DataError(f"{self.t_:,} examples were learned from, here are {len(advice):,}; give all, in order")
        try:
            return certify(self.run_, advice, y)
        except DataError as error:
            raise DataError(
                f"the experts' advice is not what was learned from ({error}): these are other examples or another"
                " order, an expert's parameters have changed, or one draws at random (give it a seed, such as"
                " random_state=0)"
            ) from error

    @property
    def classes_(self) -> NDArray[Any]:
        """The two labels: negative, positive."""
        return self.run_.classes

    @property
    def experts_(self) -> list[Any]:
        """The experts as they are now."""
        return list(self.named_experts_.values())

    @property
    def t_(self) -> int:
        """The examples learned from so far."""
        return self.run_.rounds

    @property
    def mistakes_(self) -> int:
        """The rule's wrong predictions, each made before its answer was told."""
        return self.run_.mistakes

    @property
    def expert_mistakes_(self) -> NDArray[np.int64] | None:
        """The wrong predictions of each expert (None: the rule does not count them)."""
        return self.run_.expert_mistakes

    @property
    def regret_(self) -> int | None:
        """The rule's mistakes beyond those of the best expert so far."""
        return self.run_.regret

    @property
    def expected_mistakes_(self) -> float | None:
        """For a rule that draws, the exact expectation of its mistakes given the advice (None: it draws nothing)."""
        return self.run_.expected_mistakes

    @property
    def weights_(self) -> Floats:
        """The experts' shares of the vote; they sum to 1."""
        shares: Floats = self.run_.weights / self.run_.weights.sum()
        return shares

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also the experts by name, and theirs as ``name__parameter``."""
        params: dict[str, Any] = super().get_params(deep=False)
        for name, expert in named(self.experts) if deep else ():
            params[name] = expert
            if hasattr(expert, "get_params"):
                params |= {f"{name}__{key}": value for key, value in expert.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a name sets that expert, ``name__parameter`` a parameter of it."""
        if "experts" in params:
            self.experts = params.pop("experts")
        experts = dict(named(self.experts))
        others = {name: params.pop(name) for name in experts if name in params}
        if others:
            self.experts = list((experts | others).items())
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = all(
            get_tags(expert).input_tags.sparse
            for _, expert in named(self.experts)
            if hasattr(expert, "__sklearn_tags__") and not isinstance(expert, type)
        )
        return tags

    def _examples(self, X: Any, y: Any, *, reset: bool) -> tuple[Rows, NDArray[Any]]:
        matrix, y = validate_data(self, X, checked_list(y), accept_sparse="csr", reset=reset)
        return self._rows(X, matrix), as_text(y)

    def _rows(self, X: Any, matrix: Any) -> Rows:
        return rows_of(X, matrix, getattr(self, "feature_names_in_", None))

    def _begin(self, labels: NDArray[Any]) -> None:
        """Take the state before round one."""
        _check_two(labels)
        self.named_experts_ = self._fresh_experts()
        self.run_ = Run(state_before(self._rule(), labels, len(self.named_experts_)))

    def _learn(self, rows: Rows, y: NDArray[Any]) -> None:
        advice = told(self.named_experts_, rows, y, Classes(self.classes_))
        self.run_ = run(self._rule(), advice, y, state=self.run_)

    def _rule(self) -> Any:
        rule: Any = WeightedMajority() if self.rule is None else self.rule
        check_rule(rule)
        if rule.inputs != "advice":
            raise ParameterError(f"rule is {rule!r}, which does not learn from advice; WeightedMajority() does")
        return rule

    def _fresh_experts(self) -> Any:
        """Return experts that have learned nothing, by name."""
        pairs = named(_usual_experts() if self.experts is None else self.experts)
        if not pairs:
            raise ParameterError(f"experts is {self.experts!r}; it must be a list of online classifiers")
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ParameterError(f"the experts' names are {names}; each must have a name of its own")
        for name in names:
            if "__" in name or name in super().get_params(deep=False):
                raise ParameterError(f"an expert cannot be called {name!r}: parameters are set by such names")
        return Bunch(**{name: fresh(name, expert) for name, expert in pairs})


def _usual_experts() -> list[tuple[str, Any]]:
    """Return the two between which one would otherwise have to choose."""
    from onlinear.estimators import PerceptronClassifier, WinnowClassifier  # the package imports this file

    return [("perceptron", PerceptronClassifier()), ("winnow", WinnowClassifier())]


def _check_two(labels: NDArray[Any]) -> None:
    """Raise unless there are two labels."""
    check_discrete(labels)
    if labels.size < 2:
        only = f"only one class, {show(labels[0])}" if labels.size else "classes is empty"
        raise DataError(f"{only}; name both: partial_fit(X, y, classes=[first, second])")
    if labels.size > 2:
        raise DataError(f"Only binary classification is supported. The labels are {labels.tolist()}")
