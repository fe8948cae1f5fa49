"""The weighted majority of several rules, each of which learns from every example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onlinear.errors import ParameterError
from onlinear.rules.confidence import AROW, SCW
from onlinear.rules.experts import FixedShare
from onlinear.rules.normalized import NormalizedAdaGrad
from onlinear.rules.perceptron import Perceptron
from onlinear.rules.rule import Inputs, Tie, check_rule
from onlinear.spelling import option


class Member(NamedTuple):
    """A rule within a `Majority`, with its own intercept and normalisation.

    Parameters
    ----------
    rule : a rule
        One that learns from examples: not a rule for experts, and not a `Majority`.
    fit_intercept : bool, optional
        Whether it learns an intercept. By default it does if it takes real numbers.
    normalize : bool
        Whether it learns from x/‖x‖.
    """

    rule: Any
    fit_intercept: bool | None = None
    normalize: bool = False

    @property
    def name(self) -> str:
        """The rule with the parameters and options that are not the default ones."""
        rule = self.rule
        given = (f"{name}={value!r}" for name, value in rule._asdict().items() if _is_given(rule, name))
        without = ["without intercept"] * (rule.inputs == "real" and self.fit_intercept is False)
        return ", ".join([f"{type(rule).__name__}({', '.join(given)})", *without, *["normalized"] * self.normalize])


def _is_given(rule: Any, name: str) -> bool:
    """Tell whether a parameter has another value than its default."""
    defaults = rule._field_defaults
    return name not in defaults or not np.array_equal(getattr(rule, name), defaults[name])


_LEADING = 64
"""The features for which the default members keep a full matrix: all of a table's, unless it is wide."""
DEFAULT_MEMBERS = (
    Member(AROW(full=_LEADING)),
    Member(AROW(r=0.1, full=_LEADING), normalize=True),
    Member(NormalizedAdaGrad(eta=1.0)),
    Member(SCW(), normalize=True),
    Member(Perceptron(), normalize=True),
)
_VOTE = FixedShare(eta=0.25, share=0.0005)


@dataclass(frozen=True, repr=False, eq=False)
class Majority:
    """The weighted majority of several rules: one read of the data, every rule at once, and no choice to make.

    Each member predicts, with its own weights, intercept and normalisation; the experts' rule predicts from their
    advice; then every member learns the label. With more than two classes a member names a class, and the class with
    the largest weight is predicted. A member's tie counts as the first class, or the first of the best ones.

    By default the members' weights follow `FixedShare`: weighted majority in which no weight becomes hopelessly small.
    If the best of N members makes m mistakes, and there are s rounds in which some member errs, the majority makes at
    most (ln N + m·ln(1/(1−η)) + s·ln(1/(1−α))) / ln(2/(2−η)) mistakes, whatever the data. The mistakes of each member
    are counted, so the regret, the majority's mistakes beyond those of the best member, is a fact of every run. The
    expected mistakes of a learner that follows a member at random (``RandomizedWeightedMajority("anytime")``) are
    computed in the same run; its regret is at most 2√(T ln N/2) + √(ln N/8) in T rounds.

    Parameters
    ----------
    members : sequence of rules or Member, optional
        A rule stands for a `Member` with its default options. The default is a set of five that was chosen by the
        mistakes of many sets on many streams; "Which rule when" in the documentation has the evidence.
    vote : a rule for experts
        The rule that predicts from the members' advice.

    References
    ----------
    Littlestone & Warmuth (1994), The weighted majority algorithm, Information and Computation 108.

    Examples
    --------
    >>> import onlinear
    >>> from onlinear.rules import AROW, Majority, Winnow
    >>> X, y = onlinear.datasets.disjunction(k=5, N=100, n=2000, seed=0)
    >>> run = onlinear.run(Majority([AROW(), Winnow()]), X, y)
    >>> run.mistakes, run.expert_mistakes.tolist(), run.regret
    (36, [80, 35], 1)
    """

    members: Sequence[Any] = DEFAULT_MEMBERS
    vote: Any = _VOTE

    _fields: ClassVar[tuple[str, ...]] = ("members", "vote")
    __onlinear_rule__: ClassVar[bool] = True
    inputs: ClassVar[Inputs] = "real"
    tie: ClassVar[Tie] = "mistake"
    additive: ClassVar[bool] = False
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        single = isinstance(self.members, str) or hasattr(self.members, "_fields")
        if single or not isinstance(self.members, Sequence) or not self.members:
            raise ParameterError(f"Majority: members is {self.members!r}; it must be a list of rules")
        object.__setattr__(self, "members", tuple(map(_as_member, self.members)))
        check_rule(self.vote)
        kinds = {type(rule) for rule in (self.vote, *(member.rule for member in self.members))}
        names = [kind.__qualname__ for kind in kinds]
        if len(set(names)) < len(names):  # a model file knows them by their names
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"Majority: two different rules are called {twice}; give one of them another name")
        if self.vote.inputs != "advice":
            raise ParameterError(f"Majority: vote is {self.vote!r}, which does not learn from advice")

    @property
    def weighted(self) -> bool:
        """Whether all members support weights of examples."""
        return all(member.rule.weighted for member in self.members)

    def check_options(self, *, fit_intercept: bool, normalize: bool) -> None:
        """Raise for options of a run that a member does not follow."""
        others = [member for member in self.members if member.rule.inputs == "real"]
        for name, given in (("fit_intercept", fit_intercept), ("normalize", normalize)):
            other = next((member for member in others if not getattr(member, name)), None)
            if given and other is not None:
                raise ParameterError(
                    f"{option(name)} does not apply to {other.name}: each member of a majority has its own options"
                )

    def for_width(self, n: int) -> Majority:
        """Return the majority itself, unless a member depends on the number of features."""
        fixed = [member._replace(rule=member.rule.for_width(n)) for member in self.members]
        same = all(new.rule is old.rule for new, old in zip(fixed, self.members, strict=True))
        return self if same else Majority(fixed, self.vote)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Majority) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[Any, ...]:
        return _key(self.vote), *((_key(rule), *options) for rule, *options in self.members)

    def __repr__(self) -> str:
        default = self._parts()[1:] == _DEFAULT._parts()[1:]
        listed = "" if default else f"[{'; '.join(member.name for member in self.members)}]"
        vote = "" if _key(self.vote) == _key(_VOTE) else f"vote={self.vote!r}"
        return f"Majority({', '.join(filter(None, (listed, vote)))})"


def _as_member(given: Any) -> Member:
    """Return a rule as a member; raise where it cannot be one."""
    member = given if isinstance(given, Member) else Member(given)
    rule = member.rule
    check_rule(rule)
    if isinstance(rule, Majority) or rule.inputs == "advice":
        raise ParameterError(f"Majority: {rule!r} cannot be a member; members learn from the examples")
    if member.fit_intercept is None:
        member = member._replace(fit_intercept=rule.inputs == "real")
    for name in ("fit_intercept", "normalize"):
        if not isinstance(getattr(member, name), bool | np.bool_):
            raise ParameterError(f"Majority: {name} of {rule!r} is {getattr(member, name)!r}; it must be True or False")
    if rule.inputs != "real" and (member.fit_intercept or member.normalize):
        raise ParameterError(f"Majority: {rule!r} takes {rule.inputs} inputs as they are: no intercept, not normalized")
    return Member(rule, bool(member.fit_intercept), bool(member.normalize))


def _key(rule: Any) -> tuple[Any, ...]:
    """Return what makes two rules the same: the class and the parameters, arrays by their bytes."""
    values = (value.tobytes() if isinstance(value, np.ndarray) else value for value in rule)
    return type(rule), *values


_DEFAULT = Majority()
