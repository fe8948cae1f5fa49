"""The state of a classifier: weights by name in plain Python, or by index in compiled code."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.labels import Classes, ManyClasses, declared_classes
from onlinear.data.one_label import show
from onlinear.engine.flat import Floats
from onlinear.engine.passes import MISTAKES
from onlinear.errors import DataError, ParameterError
from onlinear.river.by_name import ByName
from onlinear.river.by_number import ByNumber
from onlinear.river.labels import check_kind, plain_label
from onlinear.river.values import as_numbers, row_refusal
from onlinear.rules.perceptron import Perceptron
from onlinear.runs.learner import Learner
from onlinear.runs.learners import new_learner
from onlinear.runs.online import as_weights
from onlinear.runs.outcome import Run

_BOOLS = Classes(np.array([False, True]))

_SHARE = 16
"""Weights move from arrays to a dict after one single example per this many features. However single examples and
tables alternate, moving then takes less time than learning."""


class Learning:
    """A rule and its state, for examples whose features have names.

    The state is created at the first label. True and False, or the two labels in `pair`, share one weight vector.
    Otherwise each label has its own, and new labels may appear at any time.

    Parameters
    ----------
    rule : a rule
    fit_intercept : bool
    binarize : float or None
        Values above it become 1, others 0. None: values are not changed.
    pair : pair of labels, optional
        The labels (negative, positive).
    """

    def __init__(
        self, rule: Any, *, fit_intercept: bool = False, binarize: float | None = None, pair: Any = None
    ) -> None:
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.binarize = binarize
        self.pair = None if pair is None else declared_classes(pair)
        self.form: ByName | ByNumber | None = None
        self._singles = 0

    def learn(self, x: Mapping[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example of weight w; an error leaves the state unchanged."""
        weights = self._weights(w, 1)
        labels = np.array([plain_label(y)])
        form = self._for_one(self._for_labels(labels))
        if isinstance(form, ByName):
            form.learn(x, bool(labels[0]), *weights.tolist())
        else:
            form.learn(list(x), self._row(x), labels, weights)
        self.form = form

    def score(self, x: Mapping[Any, Any]) -> Any:
        """Return the score of an example, or its score for each class; None before the first label."""
        if self.form is None:
            return None
        self.form = form = self._for_one(self.form)
        if isinstance(form, ByName):
            return form.score(x)
        scores, _ = form.score(list(x), self._row(x))
        return self._by_class(scores[0].tolist())

    def predict(self, x: Mapping[Any, Any]) -> Any:
        """Return the predicted label of an example; None before the first label."""
        if self.form is None:
            return None
        self.form = form = self._for_one(self.form)
        if isinstance(form, ByName):
            score = form.score(x)
            return score > 0.0 or (score == 0.0 and form.tie > 0)
        _, codes = form.score(list(x), self._row(x))
        return form.learner.classes.decode(codes)[0].item()

    def learn_many(self, names: list[Any], values: Floats, labels: NDArray[Any], w: Any) -> None:
        """Learn from the rows of a table in order; an error leaves the state unchanged."""
        weights = self._weights(w, len(values))
        if len(values):
            form = _to_numbers(self._for_labels(labels))
            form.learn(names, self._binarized(names, values), labels, weights)
            self.form = form

    def predict_many(self, names: list[Any], values: Floats) -> list[Any]:
        """Return the predicted labels of a table's rows."""
        if self.form is None or not len(values):
            return [None] * len(values)
        self.form = form = _to_numbers(self.form)
        _, codes = form.score(names, self._binarized(names, values))
        labels: list[Any] = form.learner.classes.decode(codes).tolist()
        return labels

    @property
    def labels(self) -> list[Any]:
        """The known labels: the given pair, False and True, or those that have appeared so far."""
        if isinstance(self.form, ByNumber):
            return list(self.form.learner.classes.labels.tolist())
        return [False, True] if self.form else []

    @property
    def counts(self) -> list[int]:
        """The counters of the passes, in their order."""
        return [0] * MISTAKES if self.form is None else list(self.form.counts)

    @property
    def weights(self) -> dict[Any, Any]:
        """The weights by name; with a weight vector per class, a dict of these by label."""
        if self.form is None:
            return {}
        if isinstance(self.form, ByName):
            return dict(self.form.features)
        state, names = self.form.learner.glance(), list(self.form.index)
        if state.members:
            names = [member.name for member in self.rule.members]
            return dict(zip(names, Run(state).weights.tolist(), strict=True))
        vectors = [dict(zip(names, row, strict=True)) for row in state.matrix[:, int(state.fit_intercept) :].tolist()]
        return self._by_class(vectors) if state.multiclass else vectors[0]

    @property
    def intercept(self) -> Any:
        """The intercept; with a weight vector per class, a dict by label."""
        if self.form is None:
            return 0.0
        if isinstance(self.form, ByName):
            return self.form.intercept
        intercept = Run(self.form.learner.glance()).intercept
        return intercept if isinstance(intercept, float) else self._by_class(intercept.tolist())

    @property
    def margin_upper_bound(self) -> float | None:
        """An upper bound on the margin of every separator; None if the rule is not additive."""
        if self.form is None:
            return math.inf if self.rule.additive else None
        return Run(_to_numbers(self.form).learner.glance()).margin_upper_bound

    @property
    def can_have_many_classes(self) -> bool:
        """Whether the labels may be other than False and True, and any number of them."""
        try:
            new_learner(self.rule, ManyClasses(np.array([0])), fit_intercept=self.fit_intercept)
        except ParameterError:
            return False
        return self.pair is None

    def run(self) -> Run:
        """Return the state as a run, with the names of the features."""
        if self.form is None:
            raise DataError("nothing has been learned yet; call learn_one first")
        form = _to_numbers(self.form)
        names = tuple(map(str, form.index))
        if len(set(names)) < len(names):
            raise DataError("two features have the same name as text; the names in a run must be distinct strings")
        learner = form.learner.twin()
        learner.take_names(names)
        return Run(learner.rest())

    def _for_labels(self, labels: NDArray[Any]) -> ByName | ByNumber:
        """Return the form that can learn from these labels; create it at the first label."""
        if self.form is None:
            return self._first_form(labels[0].item())
        check_kind(labels[0].item(), type(self.labels[0]))
        return self.form

    def _first_form(self, label: Any) -> ByName | ByNumber:
        """Return the form before the first example, which has this label."""
        classes: Classes | ManyClasses
        if self.pair is None:
            classes = _BOOLS if isinstance(label, bool) else ManyClasses(np.array([label]))
        else:
            classes = self.pair
            if label not in classes.labels.tolist() or type(label) is not type(classes.labels[0].item()):
                negative, positive = map(show, classes.labels)
                named = f"{negative} (negative) and {positive} (positive)"
                raise DataError(f"label {label!r}; the labels are {named}: set labels=(negative, positive)")
        if _can_go_by_name(self.rule, classes):
            return ByName(self.rule, {}, 0.0, int(self.fit_intercept), [0] * (MISTAKES + 2), [0.0, 0.0])
        learner = new_learner(self.rule, classes, fit_intercept=self.fit_intercept)
        learner.begin(0)
        return ByNumber(learner, ())

    def _for_one(self, form: ByName | ByNumber) -> ByName | ByNumber:
        """Return the form for a single example: the one by name, if the rule allows it and moving pays off."""
        if isinstance(form, ByName) or not _can_go_by_name(self.rule, form.learner.classes):
            return form
        self._singles += 1
        if self._singles * _SHARE < len(form.index):
            return form
        self._singles = 0
        return _to_names(form)

    def _by_class(self, values: Any) -> Any:
        """Return a single value unchanged, and one value per class as a dict by label."""
        return values if isinstance(values, float) else dict(zip(self.labels, values, strict=True))

    def _weights(self, w: Any, n: int) -> Floats:
        """Return the weights of n examples, from one weight for all or one each; empty if all are 1."""
        if np.ndim(w) > 0:
            return as_weights(self.rule, w, n)
        return as_weights(self.rule, None if w == 1.0 else np.full(n, w), n)

    def _row(self, x: Mapping[Any, Any]) -> Floats:
        return self._binarized(list(x), np.asarray(as_numbers(x)).reshape(1, -1))

    def _binarized(self, names: list[Any], values: Floats) -> Floats:
        """Return the values of a table, binarized if the rule needs it."""
        if self.binarize is None:
            return values
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if bad.size:
            raise row_refusal(names, values, int(bad[0]), "real")
        return (values > self.binarize).astype(np.float64)


def _can_go_by_name(rule: Any, classes: Classes | ManyClasses) -> bool:
    """Tell whether the rule meets the requirements of `ByName`, and the labels are False and True."""
    return type(rule) is Perceptron and classes.labels.dtype == bool


def _to_names(form: ByNumber) -> ByName:
    """Return the same state by name."""
    learner = form.learner
    w = learner.arrays.tolist()
    intercept = w.pop(0) if learner.bias else 0.0
    features = dict(zip(form.index, w, strict=True))
    return ByName(learner.rule, features, intercept, learner.bias, learner.counts.tolist(), learner.sums.tolist())


def _to_numbers(form: ByName | ByNumber) -> ByNumber:
    """Return the same state by index."""
    if isinstance(form, ByNumber):
        return form
    features = form.features
    learner = _blank(form.rule, form.bias).twin()
    learner.grow(len(features))
    learner.arrays[:] = [*[form.intercept] * form.bias, *features.values()]
    learner.counts[:], learner.sums[:] = form.counts, form.sums
    return ByNumber(learner, features)


@functools.lru_cache(maxsize=8)
def _blank(rule: Perceptron, bias: int) -> Learner:
    """Return a learner without features; its twins share its compiled code."""
    learner = Learner(rule, _BOOLS, fit_intercept=bool(bias), normalize=False)
    learner.begin(0)
    return learner
