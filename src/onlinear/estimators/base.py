"""The base of the classifiers: input validation, prediction, and the attributes that scikit-learn expects."""

from __future__ import annotations

import contextlib
import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from onlinear.checks import check_unmasked
from onlinear.data.labels import as_labels, name_row
from onlinear.data.matrices import check_matrix
from onlinear.data.one_label import check_label, show
from onlinear.engine.flat import Floats
from onlinear.errors import DataError, ParameterError
from onlinear.rules.rule import Tie
from onlinear.runs import Convergence, Run, State, with_classes
from onlinear.runs.online import as_weights
from onlinear.theory import Certificate, certify

# Numbers keep their type, and the pass finds NaN and infinity: nothing is copied or read twice.
_UNCHANGED = {"accept_sparse": ("csr", "csc"), "dtype": "numeric", "ensure_all_finite": False}


class RunClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose attributes are read from ``run_``, an immutable `Run`."""

    run_: Run

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        return self.run_.classes

    @property
    def t_(self) -> int:
        """The number of examples read so far, over all passes."""
        return self.run_.rounds

    @property
    def mistakes_(self) -> int:
        """The number of wrong predictions, each made before its label was known."""
        return self.run_.mistakes


class LinearClassifier(RunClassifier):
    """A linear classifier.

    Attributes
    ----------
    run_ : Run
        The result of training, for inspecting, saving and resuming.
    n_features_in_, feature_names_in_
        The number of features, and their names if X was a frame.
    """

    # The values for a classifier without such a parameter:
    tie: Tie = "mistake"
    fit_intercept: bool = False
    intercept_scaling: float = 1.0
    class_weight: Any = None
    new_classes: bool = False

    _constant: float
    """The value of a constant feature that is appended to the others, for an intercept; 0 if there is none."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row; a tie that counts as a mistake gives the first class."""
        check_is_fitted(self)
        return self.run_.predict(self._inputs(X))

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: for two classes one per row, positive for ``classes_[1]``; otherwise one per class."""
        check_is_fitted(self)
        return one_of_two(self.run_.decision_function(self._inputs(X)), axis=1)

    def certificate(self, X: Any, y: Any) -> Certificate:
        """Return a certificate: the mistakes beside the bounds of the theorems (`onlinear.certify`).

        X and y are the training examples: those given to `fit`, or all those given to `partial_fit`, in order. There
        is no certificate after training with weights, or if a class appeared after the first call.
        """
        check_is_fitted(self)
        X, y = self._examples(X, y, reset=False)
        try:
            return certify(self.run_, X, y)
        except DataError as error:
            if not self.new_classes:
                raise
            late = "there is no certificate if a class appeared after the first call of partial_fit"
            raise DataError(f"{error}; {late}") from error

    @property
    def coef_(self) -> Floats:
        """The weights: one row for two classes, otherwise one row per class."""
        weights = self.run_.weights[..., : self.run_.n_features - bool(self._constant)]
        return np.atleast_2d(one_of_two(weights, axis=0))

    @property
    def intercept_(self) -> Floats:
        """The intercepts: the scores of x = 0."""
        zero = np.zeros((1, self.run_.n_features))
        if self._constant:
            zero[0, -1] = self._constant
        return np.ravel(one_of_two(self.run_.decision_function(zero), axis=1))

    @property
    def n_iter_(self) -> int:
        """The number of passes of the last `fit`; 1 after `partial_fit`."""
        return self.run_.passes if isinstance(self.run_, Convergence) else 1

    @property
    def updates_(self) -> int:
        """The number of updates."""
        return self.run_.updates

    @property
    def margin_upper_bound_(self) -> float | None:
        """An upper bound on the margin of every separator of the examples seen; None if the rule is not additive."""
        return self.run_.margin_upper_bound

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # A hyperplane through the origin is a poor model of data that are not centred.
        tags.classifier_tags.poor_score = not self.fit_intercept
        tags.classifier_tags.multi_class = not self._only_two_classes()
        return tags

    def _only_two_classes(self) -> str:
        """Return why there can be no more than two classes; nothing if there can."""
        return "" if self.tie == "mistake" else "among more than two classes a tie is a mistake (tie='mistake')"

    def _inputs(self, X: Any) -> Any:
        check_matrix(X)
        return self._as_rule_inputs(validate_data(self, X, reset=False, **_UNCHANGED))

    def _examples(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        check_matrix(X)
        X, y = validate_data(self, X, checked_list(y), reset=reset, **_UNCHANGED)
        if reset:
            self._constant = self._constant_feature()
        return self._as_rule_inputs(X), as_text(y)

    def _as_rule_inputs(self, X: Any) -> Any:
        return with_constant(X, self._constant) if self._constant else X

    def _constant_feature(self) -> float:
        """Return the value of the feature that is appended for an intercept; 0 if the rule's own will do, or none."""
        scaling: Any = self.intercept_scaling
        if not (isinstance(scaling, numbers.Real) and 0.0 < float(scaling) < math.inf):
            raise ParameterError(f"intercept_scaling is {scaling!r}; it must be a finite number above 0")
        return float(scaling) if self.fit_intercept and scaling != 1.0 else 0.0

    def _weights(self, rule: Any, y: NDArray[Any], *known: NDArray[Any], sample_weight: Any = None) -> Any:
        """Return the weights of the examples: those of their classes, times their own; None if they have none.

        The classes are those of the examples, and those that are known.
        """
        if self.class_weight is None:
            return sample_weight
        if not rule.weighted:
            raise ParameterError(
                f"{type(rule).__name__} does not support class_weight: its guarantees assume equal steps"
            )
        labels = distinct_labels(*known, y)
        weights = compute_class_weight(self.class_weight, classes=labels, y=y)
        if not (np.isfinite(weights) & (weights >= 0.0)).all():
            raise ParameterError(f"class_weight is {self.class_weight!r}; weights must be finite and at least 0")
        each = weights[np.searchsorted(labels, y)]
        given = as_weights(rule, sample_weight, y.size)
        return each * given if given.size else each

    def _check_classes(self, labels: NDArray[Any]) -> None:
        """Raise unless the number of labels is valid for the rule and for `new_classes`."""
        if labels.size == 0:
            raise ParameterError("classes is empty; it must contain the labels")
        check_discrete(labels)
        if labels.size == 1 and not self.new_classes:
            raise DataError(f"there is only one class, {show(labels[0])}; at least two are needed")
        reason = self._only_two_classes() if labels.size > 2 else ""
        if reason:
            raise DataError(f"Only binary classification is supported. There are {labels.size} classes: {reason}")

    def _resumable_run(self) -> Run:
        """Return the run to resume; raise if a parameter that cannot change has changed."""
        before = self.run_.state.fit_intercept or bool(self._constant)
        if bool(self.fit_intercept) != before:
            raise ParameterError(f"fit_intercept was {before} when training started, and cannot change")
        if self._constant_feature() != self._constant:
            raise ParameterError(
                f"intercept_scaling was {self._constant or 1.0:g} when training started, and cannot change"
            )
        return self.run_

    def _keep(self, run: Run) -> None:
        """Keep a run, with the names of the features if X was a frame."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            known = (*names, *["(intercept)"] * bool(self._constant))
            run = replace(run, state=replace(run.state, names=known))
        self.run_ = run


def with_constant(X: Any, constant: float) -> Any:
    """Return a matrix with a constant feature after the others."""
    column = np.full((X.shape[0], 1), constant, dtype=X.dtype if X.dtype.kind == "f" else np.float64)
    both: list[Any] = [X, column]
    return scipy.sparse.hstack(both, format="csr") if scipy.sparse.issparse(X) else np.hstack(both)


def one_of_two(values: Floats, axis: int) -> Floats:
    """Return the difference of the values of two classes, if there is a vector for each of two classes."""
    if values.ndim == 1 or values.shape[axis] != 2:
        return values
    difference: Floats = np.take(values, 1, axis) - np.take(values, 0, axis)
    return difference


@contextlib.contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator if training fails."""
    attributes = estimator.__dict__
    before = attributes.copy()
    try:
        yield
    except BaseException:
        attributes.clear()
        attributes.update(before)
        raise


def checked_list(y: Any) -> Any:
    """Return labels unchanged; raise if some are masked or missing, or if NumPy would convert numbers to strings."""
    check_unmasked("y", y)
    if getattr(y, "dtype", None) == "object":
        for i, label in enumerate(np.asarray(y).flat):
            check_label(label, name_row(i))
    elif hasattr(y, "isna") and np.asarray(y.isna()).any():
        i = int(np.argmax(np.asarray(y.isna())))
        check_label(np.asarray(y).flat[i], name_row(i))
    return as_labels(y, len(y)) if isinstance(y, list | tuple) else y


def as_text(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array of strings, if they are an array of string objects, as from pandas."""
    text = y.dtype == object and all(isinstance(label, str) and not label.endswith("\0") for label in y)
    return y.astype(np.str_) if text and y.size else y


def check_discrete(labels: NDArray[Any]) -> None:
    """Raise if labels are fractions: scikit-learn treats these as a regression target."""
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels != np.floor(labels)).any():
        raise DataError(f"Unknown label type: continuous. A label is {show(labels[labels != np.floor(labels)][0])}")


def distinct_labels(*groups: Any) -> NDArray[Any]:
    """Return the distinct labels of one or more groups, sorted."""
    arrays = [as_text(as_labels(labels, len(labels))) for labels in groups]
    # NumPy would convert numbers to strings silently.
    if len({array.dtype.kind in "US" for array in arrays if array.dtype.kind != "O"}) > 1:
        shown = " and ".join(show(array[0]) for array in arrays)
        raise DataError(f"labels such as {shown}; labels must be of one type")
    try:
        each = [np.unique(array) for array in arrays]
        together = np.concatenate(each)
        # NumPy would convert large integers to floats, and some would become equal.
        if together.tolist() != [label for array in each for label in array.tolist()]:
            kinds = " and ".join(str(array.dtype) for array in each)
            raise DataError(f"labels of types {kinds} have no common type that keeps them distinct")
        return np.unique(together)
    except TypeError as error:
        raise DataError(f"the labels cannot be sorted ({error}); labels must be of one type") from error


def extended_state(state: State, groups: Sequence[Any], *, new_classes: bool) -> State:
    """Return a state to resume with these groups of labels; raise if one is new and there may be none."""
    labels = distinct_labels(state.classes, *groups)
    if labels.size == state.classes.size:
        return state
    if not new_classes:
        unknown = np.setdiff1d(labels, state.classes).tolist()
        raise DataError(
            f"unknown labels {unknown}; the classes are {state.classes.tolist()}"
            " (set new_classes=True to allow new ones)"
        )
    return with_classes(state, labels)
