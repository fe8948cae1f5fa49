"""A classifier for any rule."""

from __future__ import annotations

from typing import Any, Self

from onlinear.errors import ParameterError
from onlinear.estimators.online import OnlineLinearClassifier
from onlinear.estimators.voting import why_two_classes
from onlinear.rules import Perceptron
from onlinear.rules.majority import Majority
from onlinear.rules.rule import check_rule, is_rule


class OnlineClassifier(OnlineLinearClassifier):
    """A classifier for any rule: one of `onlinear.rules`, or your own.

    Parameters
    ----------
    rule : a rule, optional
        The default is ``Perceptron()``. For rules that learn from experts' advice, use `ExpertsClassifier`. The
        parameters of the rule are parameters of the classifier, too: ``rule__r`` is r of ``AROW(r)``, for example.
    fit_intercept : bool
        Whether to learn an intercept. Rules for 0/1 inputs do not support it.
    max_iter : int, optional
        The maximum number of passes of `fit`. Many rules never halt, since they take a step on every example. So after
        2, 4, 8, … passes, `fit` stops if the second half of them made no mistakes, or more than 80 % as many as the
        first half. For the perceptrons, see `PerceptronClassifier`.
    class_weight : dict or "balanced", optional
        As in `PerceptronClassifier`; for rules that support weights.
    intercept_scaling, early_stopping, shuffle, random_state, verbose, warm_start, new_classes
        As in `PerceptronClassifier`.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> model = onlinear.OnlineClassifier(onlinear.rules.AROW()).set_params(rule__r=0.1).fit(X, y)
    >>> model.score(X, y), model.n_iter_
    (1.0, 2)
    """

    def __init__(
        self,
        rule: Any = None,
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        max_iter: int | None = None,
        early_stopping: bool = False,
        shuffle: bool = True,
        random_state: Any = 0,
        verbose: int = 0,
        warm_start: bool = False,
        new_classes: bool = False,
    ) -> None:
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.new_classes = new_classes

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also those of the rule, as ``rule__parameter``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and is_rule(type(self.rule)) and not isinstance(self.rule, Majority):
            params |= {f"rule__{name}": value for name, value in self.rule._asdict().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__parameter`` replaces the rule by one with this parameter."""
        inner = {name.removeprefix("rule__"): params.pop(name) for name in [*params] if name.startswith("rule__")}
        super().set_params(**params)
        if inner:
            rule = self._rule()
            for name in inner:
                if name not in rule._fields:
                    valid = list(rule._fields)
                    raise ValueError(
                        f"Invalid parameter {name!r} for estimator {rule!r}. Valid parameters are: {valid!r}."
                    )
            self.rule = rule._replace(**inner)
        return self

    def _only_two_classes(self) -> str:
        return why_two_classes(self._rule)

    def _rule(self) -> Any:
        rule: Any = Perceptron() if self.rule is None else self.rule
        check_rule(rule)
        if isinstance(rule, Majority):
            raise ParameterError("a Majority is a classifier of its own: use onlinear.AutoClassifier(members, vote)")
        if rule.inputs == "advice":
            raise ParameterError(f"{type(rule).__name__} learns from experts' advice; use onlinear.ExpertsClassifier")
        return rule
