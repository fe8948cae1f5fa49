"""The witnesses of a certificate: the only part of it that asks the solvers."""

from __future__ import annotations

from typing import Any

from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError
from onlinear.rules.passive_aggressive import PassiveAggressive
from onlinear.runs.convergence import Convergence
from onlinear.runs.outcome import Run
from onlinear.theory.certificate.record import Data, combination_record, margin_kinds
from onlinear.theory.certificate.replay import options_of
from onlinear.theory.certificate.statements import uses_comparator
from onlinear.theory.check.interval import MarginInterval, OnStep
from onlinear.theory.check.verdict import Inseparable, Separable
from onlinear.theory.examples import Examples
from onlinear.theory.search.comparator import best_comparator, scaled_comparator
from onlinear.theory.search.decide import contradiction, separability
from onlinear.theory.search.effort import check_seconds
from onlinear.theory.search.hard_margin import margin_interval
from onlinear.theory.voted import VotedExamples

_NONE: dict[str, Any] = {"margins": None, "separability": None, "comparator": None}


def find_witnesses(run: Run, data: Data, comparator: Any, seconds: float, progress: OnStep | None) -> dict[str, Any]:
    """Search for separators, combinations and the comparator; each search may take as much work as a budget allows."""
    check_seconds(seconds)
    options = options_of(run)
    compares = uses_comparator(run.rule) and not isinstance(run, Convergence) and options["start"] is None
    compares = compares and not run.state.multiclass
    if comparator is not None and not compares:
        rules = "the perceptron, averaged or not, PA-I and PA-II"
        raise ParameterError(f"a comparator is for {rules}: on two classes, from 0, in the order of the examples")
    examples = data.seen
    if isinstance(examples, VotedExamples):
        return _NONE
    kinds = margin_kinds(run, examples)
    if kinds is None:
        return _NONE
    # Rows that cancel show that every margin is 0: then there is nothing to search for.
    verdict: Any = contradiction(examples.unscaled()) if _decidable(examples) else None
    if isinstance(verdict, Inseparable):
        margins = {name: kind and _no_margin(verdict) for name, kind in kinds.items()}
    else:
        margins = {
            name: kind and _witness(margin_interval(examples, kind, 1e-4, seconds=seconds), examples)
            for name, kind in kinds.items()
        }
        learned = margins["learned"]
        if learned is not None and learned["weights"] is None and _decidable(examples):
            verdict = separability(examples.unscaled(), seconds=seconds, progress=progress)
            if isinstance(verdict, Separable) and verdict.weights.dtype != object:
                learned["weights"] = _whole(verdict, examples)
    combination = combination_record(verdict) if isinstance(verdict, Inseparable) else None
    u = None
    if compares:
        given = comparator is not None
        u = examples.vector("comparator", comparator) if given else _comparator(run, examples, progress)
        u = u.tolist()
    return {"margins": margins, "separability": combination, "comparator": u}


def _comparator(run: Run, examples: Examples, progress: OnStep | None) -> Floats:
    """Return the vector that makes a bound on a run's mistakes nearly as small as possible."""
    u, rule = best_comparator(examples, progress=progress).whole, run.rule
    if isinstance(rule, PassiveAggressive):
        whole = examples.repeated(run.rounds // examples.n)
        u = scaled_comparator(whole, u, float(rule.C), 1 if rule.variant == "PA-I" else 2)
    return u


def _whole(vector: Any, examples: Examples) -> list[float]:
    """Return weights as they are recorded: the intercept first, if there is one."""
    return [*([float(vector.intercept)] * examples.bias), *vector.weights.tolist()]


def _witness(interval: MarginInterval, examples: Examples) -> dict[str, Any]:
    """Return an interval's two witnesses."""
    return {
        "weights": None if interval.weights is None else _whole(interval, examples),
        "support": interval.support.tolist(),
        "shares": interval.shares.tolist(),
    }


def _no_margin(verdict: Inseparable) -> dict[str, Any]:
    """Return the witnesses that the margin is 0: rows that cancel."""
    return {"weights": None, "support": verdict.rows.tolist(), "shares": [float(share) for share in verdict.shares]}


def _decidable(examples: Examples) -> bool:
    """Tell whether the rows' lengths do not matter: they do where normalised rows stand beside an intercept."""
    return not (examples.normalize and examples.bias)
