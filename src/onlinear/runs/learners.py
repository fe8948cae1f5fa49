"""Which kind of learner a rule needs."""

from __future__ import annotations

from typing import Any

from onlinear.data.labels import Classes, ManyClasses
from onlinear.models.state import State
from onlinear.rules.majority import Majority
from onlinear.runs.learner import Learner, classes_of
from onlinear.runs.majority import MajorityLearner
from onlinear.runs.plurality import PluralityLearner


def new_learner(
    rule: Any, classes: Classes | ManyClasses, *, fit_intercept: bool = False, normalize: bool = False
) -> Learner:
    """Return a learner for a rule, before it has begun."""
    return _kind(rule, classes)(rule, classes, fit_intercept=fit_intercept, normalize=normalize)


def resume_learner(rule: Any, state: State) -> Learner:
    """Return a learner that resumes from a state, with the current code of the rule."""
    return _kind(rule, classes_of(state)).resume(rule, state)


def scoring_learner(state: State) -> Learner:
    """Return a learner that only scores, with the final weights of a state."""
    return _kind(state.rule, classes_of(state)).for_scoring(state.rule, state).predictor()


def _kind(rule: Any, classes: Classes | ManyClasses) -> type[Learner]:
    if isinstance(rule, Majority):
        return MajorityLearner
    votes = rule.inputs == "advice" and isinstance(classes, ManyClasses)
    return PluralityLearner if votes else Learner
