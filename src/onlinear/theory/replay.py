"""How an outcome came about, written down so that it can be done again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import onlinear.rules
from onlinear.errors import DataError, ParameterError
from onlinear.models.state import new_state, weights_of
from onlinear.rules.batch import BatchPerceptron
from onlinear.rules.rule import check_rule
from onlinear.runs import state_before
from onlinear.runs.batch import BatchRun, batch_perceptron
from onlinear.runs.converge import Convergence, converge
from onlinear.runs.online import run
from onlinear.runs.outcome import Run


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
    classes = state.classes.tolist()
    if not all(isinstance(label, str | int | float) for label in classes):
        raise ParameterError(f"labels of type {state.classes.dtype} cannot be written down; use numbers or strings")
    return {
        "fit_intercept": state.fit_intercept,
        "normalize": state.normalize,
        "classes": classes,
        "n_features": state.n_features,
        "start": _start(outcome),
        **({"multiclass": True} if state.multiclass else {}),
    }


def laid_out(X: Any, y: Any, layout: str) -> Any:
    """Return the examples dense or sparse, as they were: sums are rounded in the order of the layout."""
    if layout == "mixed":
        return X
    return _Blocks(X, layout) if y is None else _converted(X, layout)


class _Blocks:
    """Blocks that are converted as they are read, again and again."""

    def __init__(self, blocks: Any, layout: str) -> None:
        self.blocks, self.layout = blocks, layout

    def __iter__(self) -> Iterator[Any]:
        for X, y in self.blocks:
            yield _converted(X, self.layout), y


def _converted(X: Any, layout: str) -> Any:
    import scipy.sparse

    sparse = scipy.sparse.issparse(X)
    if layout == "dense":
        return X.toarray() if sparse else X
    return X if sparse else scipy.sparse.csr_array(np.asarray(X))


def replayed(description: dict[str, Any], X: Any, y: Any, rule: Any) -> Run:
    """Do it again."""
    options, procedure = description["options"], description["procedure"]
    if options.get("multiclass", False) and len(options["classes"]) < 3 and options["start"] is None:
        return _with_a_vector_each(rule, X, y, options, procedure)
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
    common["max_passes"] = procedure["max_passes"]
    if procedure["kind"] == "batch_perceptron":
        return batch_perceptron(X, y, schedule=procedure["schedule"], tie=rule.tie, **common)
    common |= {name: procedure[name] for name in ("selection", "seed", "max_updates")}
    return converge(rule, X, y, **common)


def _with_a_vector_each(rule: Any, X: Any, y: Any, options: dict[str, Any], procedure: dict[str, Any]) -> Run:
    """Do again what two classes did that could have become more."""
    classes, n = np.array(options["classes"]), options["n_features"]
    state = state_before(rule, classes, n, fit_intercept=options["fit_intercept"], multiclass=True)
    if procedure["kind"] == "run":
        return run(rule, _passes(X, y, procedure["passes"]), state=state)
    limits = {name: procedure[name] for name in ("selection", "seed", "max_updates", "max_passes")}
    return converge(rule, X, y, state=state, **limits)


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
        limits = {"passes": outcome.passes, "max_passes": outcome.max_passes}
        return {"kind": "batch_perceptron", "schedule": outcome.schedule, **limits}
    if isinstance(outcome, Convergence):
        return {
            "kind": "converge",
            "selection": outcome.selection,
            "seed": outcome.seed if outcome.selection == "random" else 0,
            "passes": outcome.passes,
            "max_passes": outcome.max_passes,
            "max_updates": outcome.max_updates,
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
    usual = weights_of(new_state(state.rule.for_width(state.n_features), state.origin.size))
    return None if np.array_equal(usual, state.origin) else state.origin.tolist()


def _pair(options: dict[str, Any]) -> Any:
    start = options["start"]
    if start is None:
        return None
    if options.get("multiclass", False):
        matrix = np.array(start).reshape(-1, len(options["classes"])).T
        return (matrix[:, 1:], matrix[:, 0]) if options["fit_intercept"] else matrix
    return (start[1:], start[0]) if options["fit_intercept"] else start


def _passes(X: Any, y: Any, passes: int) -> Iterator[Any]:
    for _ in range(passes):
        yield from X if y is None else [(X, y)]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
