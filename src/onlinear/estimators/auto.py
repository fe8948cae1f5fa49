"""The majority of several rules, with the interface of scikit-learn."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from onlinear.checks import check_integers
from onlinear.data.matrices import check_matrix
from onlinear.data.one_label import show
from onlinear.engine.flat import Floats
from onlinear.errors import DataError, ParameterError
from onlinear.estimators.base import (
    all_or_nothing,
    as_text,
    check_discrete,
    checked_list,
    distinct_labels,
    extended_state,
    one_of_two,
)
from onlinear.estimators.voting import VotingClassifier, why_two_classes
from onlinear.rules.majority import Majority
from onlinear.runs import Run, State, run, state_before
from onlinear.theory import Certificate, certify


class AutoClassifier(VotingClassifier):
    """The weighted majority of several rules: nothing to choose, and nothing to tune.

    In the first pass every example is predicted before it is learned from, by each rule and by their vote: the mistakes
    of that pass are an honest estimate of what to expect, and they decide the weight of each rule. In the other passes
    of `fit` the rules learn on, and their weights in the vote stay as they are, since from then on the rules know the
    answers. `partial_fit` makes one pass.

    Parameters
    ----------
    members : list of rules or Member, optional
        See `onlinear.rules.Majority`, also for the default. Each member has its own intercept and normalisation.
    vote : a rule for experts, optional
        The rule that predicts from the members' advice.
    max_iter : int
        The number of passes of `fit`.
    shuffle : bool
        Whether `fit` shuffles the examples in each pass; `partial_fit` never does.
    random_state : int, RandomState or None
        For `shuffle`.
    new_classes : bool
        Whether `partial_fit` adds a class at its first example.

    Attributes
    ----------
    run_ : Run
        The result of training, for inspecting, saving and resuming; it shows each member's mistakes and weight.
    n_features_in_, feature_names_in_
        The number of features, and their names if X was a frame.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.noisy(n=2000, seed=0)
    >>> model = onlinear.AutoClassifier().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]), model.mistakes_, model.regret_
    (0.869, 131, 1)
    """

    def __init__(
        self,
        members: Any = None,
        vote: Any = None,
        *,
        max_iter: int = 3,
        shuffle: bool = True,
        random_state: Any = 0,
        new_classes: bool = False,
    ) -> None:
        self.members = members
        self.vote = vote
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.new_classes = new_classes

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from examples in `max_iter` passes, starting with untrained rules.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The examples.
        y : array of n labels
            Labels of two or more classes.
        """
        check_integers(1, max_iter=self.max_iter)
        with all_or_nothing(self):
            X, y = self._examples(X, y, reset=True)
            first, *others = self._orders(y.size)
            done = run(self._rule(), X[first], y[first], state=self._initial_state(distinct_labels(y), X.shape[1]))
            members = done.state.members
            for order in others:
                members = tuple(run(one.rule, X[order], y[order], state=one).state for one in members)
            self._keep(replace(done.state, members=members))
            self.n_iter_ = int(self.max_iter)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each example once, in the order given; the size of the batches makes no difference.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array, optional
            All labels that will ever occur, on the first call. Not needed with ``new_classes=True``.
        sample_weight : array, optional
            The weights of the examples, at least 0, if all members support them. The vote counts every round once.
        """
        with all_or_nothing(self):
            resumes = hasattr(self, "run_")
            X, y = self._examples(X, y, reset=not resumes)
            named = [] if classes is None else [classes]
            if not (resumes or named or self.new_classes):
                raise ParameterError(
                    "classes is missing: the first call of partial_fit must name all labels (or set new_classes=True)"
                )
            state = (
                extended_state(self.run_.state, named, new_classes=self.new_classes)
                if resumes
                else self._initial_state(distinct_labels(*named or [y[:1]]), X.shape[1])
            )
            options = {"sample_weight": sample_weight, "new_classes": bool(self.new_classes)}
            self._keep(run(self._rule(), X, y, state=state, **options).state)
            self.n_iter_ = 1
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the largest weight of members, for each row; a tie gives the first class."""
        check_is_fitted(self)
        return self.run_.predict(self._inputs(X))

    def decision_function(self, X: Any) -> Floats:
        """Return the votes: for two classes the weighted mean of ±1, otherwise each class's share of the weight."""
        check_is_fitted(self)
        return one_of_two(self.run_.decision_function(self._inputs(X)), axis=1)

    def certificate(self, X: Any, y: Any) -> Certificate:
        """Return a certificate: the mistakes beside the bounds of the theorems (`onlinear.certify`).

        X and y are all examples that were given to `partial_fit`, in order, or those of `fit` with ``max_iter=1`` and
        ``shuffle=False``.
        """
        check_is_fitted(self)
        X, y = self._examples(X, y, reset=False)
        return certify(self.run_, X, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not self._only_two_classes()
        return tags

    def _rule(self) -> Any:
        given = {"members": self.members, "vote": self.vote}
        return Majority(**{name: value for name, value in given.items() if value is not None})

    def _only_two_classes(self) -> str:
        """Return why there can be no more than two classes; nothing if there can."""
        return why_two_classes(self._rule)

    def _orders(self, n: int) -> Iterator[NDArray[np.intp]]:
        """Yield the order of the examples in each pass."""
        seed = self.random_state
        rng = np.random.default_rng(int(seed) if isinstance(seed, numbers.Integral) else _drawn(seed))
        for _ in range(self.max_iter):
            yield rng.permutation(n) if self.shuffle else np.arange(n)

    def _initial_state(self, labels: NDArray[Any], n_features: int) -> State:
        check_discrete(labels)
        if labels.size < 2 and not self.new_classes:
            only = f"only one class, {show(labels[0])}" if labels.size else "classes is empty"
            raise DataError(f"{only}; at least two are needed")
        reason = self._only_two_classes() if labels.size > 2 else ""
        if reason:
            raise DataError(f"Only binary classification is supported. There are {labels.size} classes: {reason}")
        many = bool(self.new_classes) or labels.size > 2
        return state_before(self._rule(), labels, n_features, multiclass=many)

    def _inputs(self, X: Any) -> Any:
        check_matrix(X)
        return validate_data(self, X, accept_sparse="csr", reset=False)

    def _examples(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        check_matrix(X)
        X, y = validate_data(self, X, checked_list(y), accept_sparse="csr", reset=reset)
        return X, as_text(y)

    def _keep(self, state: State) -> None:
        """Keep a state, with the names of the features if X was a frame."""
        names = getattr(self, "feature_names_in_", None)
        self.run_ = Run(state if names is None else replace(state, names=tuple(names)))


def _drawn(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
