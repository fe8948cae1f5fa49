"""The methods of a rule: the one table from which checks, fingerprints and documentation are made."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from onlinear.engine.passes import sign


class Method(NamedTuple):
    """A method that a rule has or may have."""

    name: str
    parameters: tuple[str, ...]
    """Those after self."""
    compiled: bool
    text: str
    required: bool = False
    default: Callable[..., Any] | None = None
    """What a rule gets that does not define it."""

    @property
    def signature(self) -> str:
        """The parameters in brackets."""
        return f"({', '.join(('self', *self.parameters))})"


def same_at_every_width(self: Any, n: int) -> Any:
    """Return the rule as it is."""
    return self


def accept_all(self: Any) -> None:
    """Raise nothing."""
    return


_METHODS = (
    Method(
        "start",
        ("n",),
        compiled=False,
        required=True,
        text="""
        The state before round one: a float64 array of n weights, or a NamedTuple of arrays in which ``w`` holds the
        weights. Where new features appear, the old arrays are copied into the corner of a wider start.
        """,
    ),
    Method("score", ("state", "x"), compiled=True, required=True, text="The score; its sign is the prediction."),
    Method(
        "update",
        ("state", "x", "y", "score", "mistake"),
        compiled=True,
        required=True,
        text="""
        Learn from the label y = ±1, in place. Return whether a step was taken; a rule that adds λ·y·x to its
        weights, λ ≥ 0, may return λ. ``TOO_LARGE`` refuses an example whose squares overflow, for instance; the state
        must be unchanged then.
        """,
    ),
    Method(
        "predict",
        ("score", "t"),
        compiled=True,
        default=sign,
        text="The prediction of round t: −1, +1, or 0 for a tie. Default: the sign of the score.",
    ),
    Method(
        "final",
        ("state",),
        compiled=False,
        text="""
        The weights to show and to predict with after learning, an array like ``w``, where they differ from those
        that learn: an average, for example. `score` is then called with these weights in place of ``w``. Where `score`
        reads more than ``w``, a whole state.
        """,
    ),
    Method(
        "for_width",
        ("n",),
        compiled=False,
        default=same_at_every_width,
        text="The rule with everything filled in that depends on the number of features. Default: itself.",
    ),
    Method(
        "check",
        (),
        compiled=False,
        default=accept_all,
        text="Raise where a hyper-parameter is out of range; called on construction.",
    ),
    Method(
        "check_start",
        ("w",),
        compiled=False,
        text="Raise where the rule cannot begin with weights w that the user gives.",
    ),
    Method(
        "goal_margin",
        (),
        compiled=False,
        text="The margin that the rule asks for, or None; `onlinear.converge` stops where it is out of reach.",
    ),
    Method(
        "potentials",
        ("state",),
        compiled=False,
        text="A dict of the quantities in the rule's proof, for traces; numbers or arrays.",
    ),
)

METHODS: Final = {method.name: method for method in _METHODS}
NOT_COMPILED: Final = frozenset(method.name for method in _METHODS if not method.compiled)


def describe_methods(*, required: bool) -> str:
    """Return the methods that a rule must have, or those that it may have, as a section of a docstring."""
    return "\n".join(
        f"``{method.name}{method.signature}``\n{textwrap.indent(_filled(method.text), '    ')}"
        for method in _METHODS
        if method.required == required
    )


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 100)
