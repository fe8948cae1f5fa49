"""What a rule is, and the decorator that makes a NamedTuple one."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import textwrap
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.algebra import is_advice, is_binary
from onlinear.engine.passes import sign
from onlinear.engine.protocol import METHODS, describe_methods
from onlinear.engine.rows import Row, SingleRow
from onlinear.errors import ParameterError, RuleError
from onlinear.rules.pitfalls import check_code

Tie: TypeAlias = Literal["mistake", "negative", "positive"]
Inputs: TypeAlias = Literal["real", "binary", "advice"]

TIES: Final[dict[str, int]] = {"mistake": 0, "negative": -1, "positive": +1}
"""What a score of exactly 0 predicts; 0 agrees with neither label."""


class Rule(Protocol):
    """What every rule has; `rule` describes the methods."""

    def start(self, n: int, /) -> Any: ...
    def score(self, state: Any, x: Row, /) -> float: ...
    def update(self, state: Any, x: Row, y: float, score: float, mistake: bool, /) -> float: ...


def _takes_reals(self: Any, x: SingleRow) -> bool:
    return True


def _takes_binary(self: Any, x: SingleRow) -> bool:
    return is_binary(x)


def _takes_advice(self: Any, x: SingleRow) -> bool:
    return is_advice(x)


class InputKind(NamedTuple):
    """What a rule takes: the test in the pass, the same test for arrays, and the message for invalid inputs."""

    accepts: Any
    good: Callable[[NDArray[np.float64]], NDArray[np.bool_]]
    demand: str


INPUTS: Final[dict[str, InputKind]] = {
    "real": InputKind(_takes_reals, np.isfinite, "inputs must be finite: no NaN, no infinity"),
    "binary": InputKind(_takes_binary, lambda v: (v == 0) | (v == 1), "inputs must be 0 or 1"),
    "advice": InputKind(_takes_advice, lambda v: np.abs(v) == 1, "advice must be -1 or +1 in every column"),
}

R = TypeVar("R", bound=type)


@overload
def rule(cls: R, /) -> R: ...
@overload
def rule(
    *, additive: bool = ..., weighted: bool = ..., linear: bool = ..., inputs: Inputs = ..., tie: Tie = ...
) -> Callable[[R], R]: ...
def rule(
    cls: Any = None,
    /,
    *,
    additive: bool = False,
    weighted: bool = False,
    linear: bool = False,
    inputs: Inputs = "real",
    tie: Tie = "mistake",
) -> Any:
    """Make a `typing.NamedTuple` a rule: hyper-parameters and an update step.

    The fields are numbers, or strings, which compiled methods can only compare with constants:
    ``self.loss == "hinge"``. The methods are plain Python in the algebra of a row, `dot`, `add`, `squared_norm`,
    `size`, `index`, `value`, `weight`, `trial`, and of rules that keep more than weights, `dot_squares`,
    `add_squares`, `add_scaled`, `add_rooted`, `shrink`; they run compiled over every layout:

    {required}

    and, where the default does not fit:

    {optional}

    `start` returns new arrays each time; a user's first weights are then written into ``w``, and what a
    rule derives from w it must derive when it is first asked. `score` reads every entry of x (that is how a
    NaN is found) and leaves the state alone. Where `for_width` returns another rule, the number of features
    cannot change. A rule with ``linear=True`` also learns more than two classes: `start` is then asked for a weight for
    each feature and class, and x is the example as a pair of its class and the best wrong one.

    The decorator, ``@rule`` or ``@rule(additive=True)``, takes what the code does not show:

    Parameters
    ----------
    additive : bool
        Promise that w moves by λ·y·x only; then a run can bound the margin.
    weighted : bool
        Promise that `update` multiplies its step by the example's weight, ``weight(x)``; then examples may have
        weights.
    linear : bool
        Promise that `score` returns ⟨w,x⟩, that is ``dot(w, x)``, and that its sign is the prediction; then the rule
        learns more than two classes. Of a rule with `final`, it is a promise about the final weights.
    inputs : {"real", "binary", "advice"}
        Any finite numbers; 0 or 1; or ±1 in every column.
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts: neither label, −1 or +1. A field ``tie`` takes precedence.

    A rule of experts has ``inputs="advice"``. Where its state is a NamedTuple with a field ``m``, the mistakes of each
    expert, a run reports them, and the regret.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np
    >>> from onlinear.rules import add, dot, rule
    >>> @rule
    ... class Delta(NamedTuple):
    ...     rate: float = 0.5
    ...     def start(self, n): return np.zeros(n)
    ...     def score(self, w, x): return dot(w, x)
    ...     def update(self, w, x, y, score, mistake):
    ...         add(w, self.rate * (y - score), x)
    ...         return True
    >>> Delta(rate=1)
    Delta(rate=1.0)

    """
    promises = {"additive": additive, "weighted": weighted, "linear": linear, "inputs": inputs}
    make = functools.partial(_make_rule, promises=promises, tie=tie)
    return make if cls is None else make(cls)


if rule.__doc__ is not None:
    for _place in ("required", "optional"):
        _text = textwrap.indent(describe_methods(required=_place == "required"), "    ").lstrip()
        rule.__doc__ = rule.__doc__.replace(f"{{{_place}}}", _text)


def _make_rule(cls: Any, promises: dict[str, Any], tie: str) -> Any:
    name = getattr(cls, "__name__", repr(cls))
    if not (isinstance(cls, type) and cls.__bases__ == (tuple,) and hasattr(cls, "_fields")):
        raise RuleError(f"rule {name} is not a typing.NamedTuple of its own; rules do not inherit")
    inputs = promises["inputs"]
    if inputs not in INPUTS:
        raise RuleError(f"rule {name}: inputs is {inputs!r}, not one of {list(INPUTS)}")
    taken = sorted({*promises, "accepts", *METHODS} & set(cls._fields))
    if taken:
        raise RuleError(f"rule {name}: a field cannot be called {taken[0]}; the engine uses that name")
    definition: Any = cls
    _check_methods(definition)
    check_code(definition)
    for method in METHODS.values():
        if method.default is not None and not hasattr(definition, method.name):
            setattr(definition, method.name, method.default)
    for promise, value in promises.items():
        setattr(definition, promise, value)
    definition.accepts = INPUTS[inputs].accepts
    if not hasattr(definition, "tie"):
        definition.tie = tie
    _check_on_construction(definition)
    definition.__onlinear_rule__ = True
    return cls


def predicts_by_sign(rule: Any) -> bool:
    """Tell whether a rule's prediction is the sign of its score."""
    return type(rule).predict is sign


def is_rule(cls: Any) -> bool:
    """Tell whether a class is that of a rule."""
    return isinstance(cls, type) and bool(vars(cls).get("__onlinear_rule__", False))


def as_number(value: Any) -> float:
    """Return a hyper-parameter that `for_width` has turned into a number."""
    return float(value)


def check_rule(candidate: Any) -> None:
    """Raise a `RuleError` that says what is wrong where the argument is not a rule."""
    if isinstance(candidate, type):
        name = candidate.__name__
        raise RuleError(f"{name} is a class; a rule is an instance of it: {name}(...)")
    if not is_rule(type(candidate)):
        raise RuleError(f"{candidate!r} is not a rule; decorate its class with onlinear.rules.rule")


def check_number(
    owner: Any,
    name: str,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
) -> None:
    """Raise a `ParameterError` unless a rule's hyper-parameter is a number in the stated range."""
    value = getattr(owner, name)
    if isinstance(value, int | float) and above < value < below and least <= value <= most:
        return
    lower = f"{above} < " if above > -math.inf else f"{least} <= " if least > -math.inf else ""
    upper = f" < {below}" if below < math.inf else f" <= {most}" if most < math.inf else ""
    wanted = f"{lower}{name}{upper}" if lower or upper else f"a finite {name}"
    raise ParameterError(f"{type(owner).__name__}: {name} is {value!r}; it must be a number with {wanted}")


def _check_methods(cls: Any) -> None:
    for expected in METHODS.values():
        if not (expected.required or hasattr(cls, expected.name)):
            continue
        method = getattr(cls, expected.name, None)
        if not inspect.isfunction(method):
            raise RuleError(f"rule {cls.__name__} has no method {expected.name}{expected.signature}")
        found = inspect.signature(method)
        if len(found.parameters) != 1 + len(expected.parameters):
            raise RuleError(
                f"rule {cls.__name__}: the method is {expected.name}{expected.signature}, not {expected.name}{found}"
            )


def _check_on_construction(cls: Any) -> None:
    """Let the constructor make each value the plain number that its field declares, and check the ranges.

    With one type per field, ``Winnow(beta=1)`` and ``Winnow(beta=1.0)`` are compiled once.
    """
    plain_new = cls.__new__
    kinds = {name: str(kind) for name, kind in cls.__annotations__.items()}

    def new(subclass: Any, *args: Any, **kwargs: Any) -> Any:
        made = plain_new(subclass, *args, **kwargs)
        values = {name: _as_declared(kinds.get(name, ""), value) for name, value in made._asdict().items()}
        made = tuple.__new__(subclass, values.values())
        if not (isinstance(made.tie, str) and made.tie in TIES):
            raise ParameterError(f"{cls.__name__}: tie is {made.tie!r}; it must be one of {list(TIES)}")
        made.check()
        return made

    cls.__new__ = functools.wraps(plain_new)(new)
    cls._make = classmethod(lambda subclass, values: subclass(*values))


def _as_declared(kind: str, value: Any) -> Any:
    """Return an int, a NumPy number or the like as the plain number that the field declares."""
    if isinstance(value, np.ndarray):
        value = np.array(value, order="C")  # its own: compiled code reads it from end to end
        value.flags.writeable = False
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if "float" in kind and isinstance(value, numbers.Real):
        return float(value)
    return int(value) if isinstance(value, numbers.Integral) else value
