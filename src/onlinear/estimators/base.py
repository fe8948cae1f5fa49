"""What the classifiers share: reading as scikit-learn reads, predicting, and a `Run` seen by the names it expects."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from onlinear.data.labels import as_labels, show
from onlinear.engine.flat import Floats
from onlinear.errors import DataError, ParameterError
from onlinear.rules.rule import Tie
from onlinear.runs import Convergence, Run
from onlinear.theory import Certificate, certify

# Numbers stay as they are, whatever their type, and the pass finds NaN and infinity: nothing is copied or read twice.
_AS_IT_LIES = {"accept_sparse": ("csr", "csc"), "dtype": "numeric", "ensure_all_finite": False}


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """A linear classifier whose attributes are views of ``run_``, what was learned: a `Run`, which never changes.

    Attributes
    ----------
    run_ : Run
        What was learned: to look at, to save, to go on from.
    n_features_in_, feature_names_in_
        The number of features, and their names where X was a frame.
    """

    run_: Run
    # What holds for a classifier that has no such parameter:
    tie: Tie = "mistake"
    fit_intercept: bool = False
    new_classes: bool = False

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row; a tie that counts as a mistake is shown as the first class."""
        check_is_fitted(self)
        return self.run_.predict(self._inputs(X))

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: of two classes one a row, positive for ``classes_[1]``; of more one for each class."""
        check_is_fitted(self)
        return one_of_two(self.run_.decision_function(self._inputs(X)), axis=1)

    def certificate(self, X: Any, y: Any) -> Certificate:
        """Return what came out beside what the theorems allow (`onlinear.certify`).

        X and y are the examples that were learned from: those given to `fit`, or all those given to `partial_fit`,
        in their order. What was learned with weights, or before some class was known, has none.
        """
        check_is_fitted(self)
        X, y = self._examples(X, y, reset=False)
        try:
            return certify(self.run_, X, y)
        except DataError as error:
            if not self.new_classes:
                raise
            late = "where a class came later than the first call of partial_fit there is no certificate"
            raise DataError(f"{error}; {late}") from error

    @property
    def coef_(self) -> Floats:
        """The weights: of two classes one row, of more a row for each class."""
        return np.atleast_2d(one_of_two(self.run_.weights, axis=0))

    @property
    def intercept_(self) -> Floats:
        """What is added to ``X @ coef_.T``: the scores of x = 0."""
        scores = self.run_.decision_function(np.zeros((1, self.run_.n_features)))
        return np.ravel(one_of_two(scores, axis=1))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        return self.run_.classes

    @property
    def n_iter_(self) -> int:
        """The passes of the last `fit`; 1 after `partial_fit`."""
        return self.run_.passes if isinstance(self.run_, Convergence) else 1

    @property
    def t_(self) -> int:
        """The examples read so far, over all passes."""
        return self.run_.rounds

    @property
    def mistakes_(self) -> int:
        """The wrong predictions, each made before its answer was told."""
        return self.run_.mistakes

    @property
    def updates_(self) -> int:
        """The steps taken."""
        return self.run_.updates

    @property
    def margin_upper_bound_(self) -> float | None:
        """No separator of the examples seen has a larger margin than this (None: the rule is not additive)."""
        return self.run_.margin_upper_bound

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self._takes_many_classes()
        return tags

    def _takes_many_classes(self) -> bool:
        # With more than two classes a tie belongs to no class.
        return self.tie == "mistake"

    def _inputs(self, X: Any) -> Any:
        return self._as_the_rule_reads(validate_data(self, X, reset=False, **_AS_IT_LIES))

    def _examples(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        X, y = validate_data(self, X, checked_list(y), reset=reset, **_AS_IT_LIES)
        return self._as_the_rule_reads(X), as_text(y)

    def _as_the_rule_reads(self, X: Any) -> Any:
        return X

    def _check_classes(self, labels: NDArray[Any]) -> None:
        """Raise unless there are two labels, or more where the rule takes more, or one where more may come."""
        if labels.size == 0:
            raise ParameterError("classes is empty; it must name the labels")
        check_discrete(labels)
        if labels.size == 1 and not self.new_classes:
            raise DataError(f"there is only one class, {show(labels[0])}; there must be at least two")
        if labels.size > 2 and not self._takes_many_classes():
            raise DataError(
                f"Only binary classification is supported. There are {labels.size} classes, and {self!r} takes two:"
                " its rule is not declared with linear=True, takes other inputs than real numbers, or resolves ties"
            )

    def _so_far(self) -> Run:
        """Return what was learned, to go on from, unless the parameters have changed what it means."""
        began = self.run_.state.fit_intercept
        if bool(self.fit_intercept) != began:
            raise ParameterError(f"fit_intercept was {began} when learning began, and cannot change")
        return self.run_

    def _keep(self, run: Run) -> None:
        """Keep what was learned, with the names of the features, where X was a frame."""
        names = getattr(self, "feature_names_in_", None)
        self.run_ = run if names is None else replace(run, state=replace(run.state, names=tuple(names)))

    def _ended(self, known: str) -> Self:
        """Warn unless the last fit has come to its end by itself, with what is known."""
        run = self.run_
        if isinstance(run, Convergence) and not run.halted:
            words = "; ".join(filter(None, (run.reason, known)))
            warnings.warn(f"{type(self).__name__}: {words}", ConvergenceWarning, stacklevel=3)
        return self


def one_of_two(values: Floats, axis: int) -> Floats:
    """Return the second class's values less the first's, where there is a vector for each of two classes."""
    if values.ndim == 1 or values.shape[axis] != 2:
        return values
    difference: Floats = np.take(values, 1, axis) - np.take(values, 0, axis)
    return difference


@contextlib.contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Let learning fail without a trace: the estimator is then what it was."""
    attributes = estimator.__dict__
    before = attributes.copy()
    try:
        yield
    except BaseException:
        attributes.clear()
        attributes.update(before)
        raise


def checked_list(y: Any) -> Any:
    """Return labels as they are; those of a list once it is known that NumPy will not make strings of numbers."""
    return as_labels(y, len(y)) if isinstance(y, list | tuple) else y


def as_text(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array of strings, where they are an array of objects that all are: as from pandas."""
    text = y.dtype == object and all(isinstance(label, str) and not label.endswith("\0") for label in y)
    return y.astype(np.str_) if text and y.size else y


def check_discrete(labels: NDArray[Any]) -> None:
    """Raise where labels are fractions: scikit-learn takes these for a quantity, and not for classes."""
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels != np.floor(labels)).any():
        raise DataError(f"Unknown label type: continuous. A label is {show(labels[labels != np.floor(labels)][0])}")


def distinct_labels(*groups: Any) -> NDArray[Any]:
    """Return the labels that occur in one or more groups of them, in order."""
    arrays = [as_text(as_labels(labels, len(labels))) for labels in groups]
    # NumPy would make strings of numbers, without a word.
    if len({array.dtype.kind in "US" for array in arrays if array.dtype.kind != "O"}) > 1:
        shown = " and ".join(show(array[0]) for array in arrays)
        raise DataError(f"labels such as {shown}; labels must be of one type")
    try:
        each = [np.unique(array) for array in arrays]
        together = np.concatenate(each)
        # Of large integers and floats NumPy would make floats, of which some are the same.
        if together.tolist() != [label for array in each for label in array.tolist()]:
            kinds = " and ".join(str(array.dtype) for array in each)
            raise DataError(f"labels of types {kinds} have no type in common that can tell them apart")
        return np.unique(together)
    except TypeError as error:
        raise DataError(f"the labels cannot be put in order ({error}); labels must be of one type") from error
