"""How an outcome came about, written down so that it can be done again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import onlinear.rules
from onlinear.errors import DataError, ParameterError
from onlinear.rules.rule import check_rule
from onlinear.runs.batch import BatchPerceptron, BatchRun, batch_perceptron
from onlinear.runs.converge import Convergence, converge
from onlinear.runs.online import run
from onlinear.runs.outcome import Run
from onlinear.runs.state import started, weights_of


def described(outcome: Run, n: int) -> dict[str, Any]:
    """Return how an outcome over n examples came about: the rule, the options and the order."""
    rule = outcome.rule
    return {
        "rule": {
            "name": type(rule).__qualname__,
            "own": not _ours(type(rule)),
            "parameters": {name: _plain(value) for name, value in rule._asdict().items()},
        },
        "options": options_of(outcome),
        "procedure": _procedure(outcome, n),
    }


def options_of(outcome: Run) -> dict[str, Any]:
    """Return what an outcome was asked for with."""
    state = outcome.state
    return {
        "fit_intercept": state.fit_intercept,
        "normalize": state.normalize,
        "classes": state.classes.tolist(),
        "n_features": state.n_features,
        "start": _start(outcome),
    }


def replayed(description: dict[str, Any], X: Any, y: Any, rule: Any) -> Run:
    """Do it again."""
    options, procedure = description["options"], description["procedure"]
    common: dict[str, Any] = {
        "fit_intercept": options["fit_intercept"],
        "normalize": options["normalize"],
        "classes": options["classes"],
        "start": _pair(options),
    }
    if procedure["kind"] == "run":
        blocks = _passes(X, y, procedure["passes"])
        return run(rule, blocks, n_features=options["n_features"], **common)
    if y is None:
        raise DataError("the halting loop reads a matrix and its labels: X and y")
    limits = {"max_passes": procedure["passes"]}
    if procedure["kind"] == "batch_perceptron":
        return batch_perceptron(X, y, schedule=procedure["schedule"], tie=rule.tie, **limits, **common)
    limits |= {"max_updates": procedure["max_updates"]} if procedure["max_updates"] else {}
    return converge(rule, X, y, selection=procedure["selection"], seed=procedure["seed"], **limits, **common)


def recorded_rule(description: dict[str, Any], rule: Any = None) -> Any:
    """Return the recorded rule with its parameters; one of the user's own must be given, as its class."""
    name, own = description["rule"]["name"], description["rule"]["own"]
    if not own:
        rule = BatchPerceptron if name == BatchPerceptron.__name__ else getattr(onlinear.rules, name)
    elif rule is None:
        raise ParameterError(f"the rule {name} is not one of the library's; give its class: verify(X, y, rule={name})")
    rule = rule if isinstance(rule, type) else type(rule)
    if rule.__qualname__ != name:
        raise ParameterError(f"the certificate is of the rule {name}, not of {rule.__qualname__}")
    parameters = description["rule"]["parameters"]
    made = rule(**{name: np.array(value) if isinstance(value, list) else value for name, value in parameters.items()})
    check_rule(made)
    return made


def _ours(rule: type) -> bool:
    return rule.__module__.startswith("onlinear.")


def weights_digest(outcome: Run) -> str:
    """Return a fingerprint of the last weights, to the last bit."""
    return hashlib.sha256(weights_of(outcome.state.arrays).astype("<f8").tobytes()).hexdigest()


def _procedure(outcome: Run, n: int) -> dict[str, Any]:
    if isinstance(outcome, BatchRun):
        if not isinstance(outcome.schedule, str):
            raise ParameterError('a schedule of your own cannot be written down; use "constant" or "1/k"')
        return {"kind": "batch_perceptron", "passes": outcome.passes, "schedule": outcome.schedule}
    if isinstance(outcome, Convergence):
        # It stopped at a limit of updates where it did not read its last pass to the end.
        stopped = not outcome.halted and (outcome.selection == "worst" or outcome.rounds % n != 0)
        return {
            "kind": "converge",
            "passes": max(1, outcome.passes),
            "selection": outcome.selection,
            "seed": outcome.seed if outcome.selection == "random" else 0,
            "max_updates": outcome.updates if stopped else None,
        }
    passes, rest = divmod(outcome.rounds, n)
    if rest or not passes:
        raise DataError(f"the run has read {outcome.rounds:,} examples, but there are {n:,} here")
    return {"kind": "run", "passes": passes}


def _start(outcome: Run) -> list[float] | None:
    """Return the first weights, intercept first, where they were given."""
    state = outcome.state
    if state.origin is None:
        return None
    usual = weights_of(started(state.rule.for_width(state.n_features), state.origin.size))
    return None if np.array_equal(usual, state.origin) else state.origin.tolist()


def _pair(options: dict[str, Any]) -> Any:
    start = options["start"]
    if start is None:
        return None
    return (start[1:], start[0]) if options["fit_intercept"] else start


def _passes(X: Any, y: Any, passes: int) -> Iterator[Any]:
    for _ in range(passes):
        yield from X if y is None else [(X, y)]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
