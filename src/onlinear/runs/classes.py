"""States before the first example, and states extended by new classes."""

from __future__ import annotations

from typing import Any

from onlinear.data.labels import ManyClasses, checked_labels, named_classes
from onlinear.errors import ParameterError
from onlinear.models.state import State
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.learners import new_learner, resume_learner


def state_before(
    rule: Rule, classes: Any, n_features: int, *, fit_intercept: bool = False, multiclass: bool = False
) -> State:
    """Return the state before round one, to resume from.

    Parameters
    ----------
    rule : a rule
        The rule that will learn.
    classes : sequence
        The labels: two (negative, positive) share one weight vector, more than two have one each.
    n_features : int
        The number of features so far.
    fit_intercept : bool
        Whether an intercept will be learned.
    multiclass : bool
        Use a weight vector per class even for one or two classes, so that more can be added.
    """
    check_rule(rule)
    known = ManyClasses(checked_labels(classes)) if multiclass else named_classes(classes)
    learner = new_learner(rule, known, fit_intercept=fit_intercept)
    learner.begin(n_features)
    return learner.rest()


def with_classes(state: State, classes: Any) -> State:
    """Return the state extended to `classes`, which include the known ones; new ones start as the rule starts them."""
    labels = checked_labels(classes)
    if not set(state.classes.tolist()) <= set(labels.tolist()):
        raise ParameterError(f"classes is {classes!r}; it must include {state.classes.tolist()}")
    learner = resume_learner(state.rule, state)
    learner.take_classes(labels)
    return learner.rest()
