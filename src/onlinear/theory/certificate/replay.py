"""How a run was made, written down so that it can be repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from onlinear.checks import check_unmasked
from onlinear.data.indices import check_indices, check_sparse
from onlinear.errors import DataError, ParameterError, VerificationError
from onlinear.models.rule import MAJORITY, class_among
from onlinear.models.state import new_state, rule_for_width, weights_of
from onlinear.rules.majority import Majority, Member
from onlinear.rules.registry import BUILT_IN
from onlinear.rules.rule import check_rule
from onlinear.runs import state_before
from onlinear.runs.batch import BatchRun, batch_perceptron
from onlinear.runs.converge import converge
from onlinear.runs.convergence import WORST_UPDATES, Convergence
from onlinear.runs.online import run
from onlinear.runs.outcome import Run
from onlinear.streams.stream import Stream
from onlinear.theory.certificate.limits import Limits, check_limit
from onlinear.theory.examples import Examples
from onlinear.theory.pairs import ClassPairs
from onlinear.theory.voted import VotedExamples


def describe_run(outcome: Run, n: int) -> dict[str, Any]:
    """Return how a run over n examples was made: the rule, the options and the order."""
    return {
        "rule": _describe_rule(outcome.rule),
        "options": options_of(outcome),
        "procedure": _procedure(outcome, n),
    }


def _describe_rule(rule: Any) -> dict[str, Any]:
    """Return a rule as it is recorded; a majority has members and a vote instead of parameters."""
    if isinstance(rule, Majority):
        members = [{**member._asdict(), "rule": _describe_rule(member.rule)} for member in rule.members]
        return {"name": MAJORITY, "own": False, "parameters": {}, "vote": _describe_rule(rule.vote), "members": members}
    return {
        "name": type(rule).__qualname__,
        "own": not _is_ours(type(rule)),
        "parameters": {name: _plain(value) for name, value in rule._asdict().items()},
    }


def options_of(outcome: Run) -> dict[str, Any]:
    """Return the options of a run."""
    state = outcome.state
    classes = state.classes.tolist()
    if not all(isinstance(label, str | int | float) for label in classes):
        raise ParameterError(f"labels of type {state.classes.dtype} cannot be recorded; use numbers or strings")
    return {
        "fit_intercept": state.fit_intercept,
        "normalize": state.normalize,
        "classes": classes,
        "n_features": state.n_features,
        "start": _start(outcome),
        **({"multiclass": True} if state.multiclass else {}),
    }


def open_examples(X: Any, y: Any, options: dict[str, Any], *, votes: bool) -> Examples | ClassPairs | VotedExamples:
    """Return the examples as the rule saw them; a vote of several classes makes no pairs of them."""
    if options.get("multiclass", False):
        if votes:
            return VotedExamples(X, y, options["classes"], options["n_features"])
        if options["normalize"]:
            what = "normalised rows; normalise them beforehand"
            raise ParameterError(f"with more than two classes there are no certificates for {what}")
        return ClassPairs(X, y, options["classes"], fit_intercept=options["fit_intercept"])
    names = ("fit_intercept", "normalize", "classes", "n_features")
    return Examples(X, y, **{name: options[name] for name in names})


def convert_layout(X: Any, y: Any, layout: str, limits: Limits) -> Any:
    """Return the matrix, or the blocks, dense or sparse as they were: the layout decides the order of a sum."""
    if layout == "mixed":
        return X
    return _ConvertedBlocks(X, layout, limits) if y is None else _convert(X, layout, limits)


class _ConvertedBlocks:
    """Blocks that are converted as they are read, again and again."""

    def __init__(self, blocks: Any, layout: str, limits: Limits) -> None:
        self.blocks = blocks.independent() if isinstance(blocks, Stream) else blocks
        self.layout, self.limits = layout, limits

    def __iter__(self) -> Iterator[Any]:
        for X, y in self.blocks:
            yield _convert(X, self.layout, self.limits), y


def _convert(X: Any, layout: str, limits: Limits) -> Any:
    import scipy.sparse

    sparse = scipy.sparse.issparse(X)
    if sparse:
        if layout == "sparse":
            return X
        check_sparse(X)
        check_limit(limits, "numbers", X.shape[0] * X.shape[1], "the matrix has too many entries to be made dense")
        rows = scipy.sparse.csr_array(X)
        check_indices(rows.indptr, rows.indices, rows.shape[1])
        return rows.toarray()
    check_unmasked("X", X)
    return X if layout == "dense" else scipy.sparse.csr_array(np.asarray(X))


def replay(description: dict[str, Any], X: Any, y: Any, rule: Any) -> Run:
    """Run the rule again."""
    options, procedure = description["options"], description["procedure"]
    if options.get("multiclass", False) and len(options["classes"]) < 3 and options["start"] is None:
        return _replay_with_a_vector_each(rule, X, y, options, procedure)
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
        raise DataError("a halting loop needs a matrix and its labels, X and y, not blocks")
    if procedure["kind"] == "batch_perceptron":
        done = batch_perceptron(X, y, schedule=procedure["schedule"], tie=rule.tie, **_one_more(procedure), **common)
        return replace(done, max_passes=procedure["max_passes"])
    return _converge(rule, X, y, procedure, **common)


def _one_more(procedure: dict[str, Any]) -> dict[str, Any]:
    """Return limits for a loop: one pass more than was recorded is enough to see that the record is wrong."""
    limits = {"max_passes": min(procedure["max_passes"], procedure["passes"] + 1)}
    if procedure.get("selection") == "worst":  # it has a pass for each update
        limits["max_updates"] = min(procedure["max_updates"] or WORST_UPDATES, procedure["passes"] + 1)
    return limits


def _converge(rule: Any, X: Any, y: Any, procedure: dict[str, Any], **options: Any) -> Convergence:
    recorded = {name: procedure[name] for name in ("max_passes", "max_updates")}
    order = {name: procedure[name] for name in ("selection", "seed")}
    return replace(converge(rule, X, y, **order, **{**recorded, **_one_more(procedure)}, **options), **recorded)


def _replay_with_a_vector_each(rule: Any, X: Any, y: Any, options: dict[str, Any], procedure: dict[str, Any]) -> Run:
    """Run the rule again on two classes that have a weight vector each, so that more classes could have followed."""
    classes, n = np.array(options["classes"]), options["n_features"]
    state = state_before(rule, classes, n, fit_intercept=options["fit_intercept"], multiclass=True)
    if procedure["kind"] == "run":
        return run(rule, _passes(X, y, procedure["passes"]), state=state)
    return _converge(rule, X, y, procedure, state=state)


def make_recorded_rule(described: dict[str, Any], rule: Any = None) -> Any:
    """Return the recorded rule with its parameters; a rule of the user's own must be given, as its class.

    A majority may need the classes of several, in a list.
    """
    if "members" in described:
        return _make_majority(described, rule)
    name, own = described["name"], described["own"]
    if not own:
        rule = library_rule(name)
    elif rule is None:
        raise ParameterError(f"the rule {name} is not one of the library's; give its class: verify(X, y, rule={name})")
    rule = rule if isinstance(rule, type) else type(rule)
    if rule.__qualname__ != name:
        raise ParameterError(f"the certificate is of the rule {name}, not of {rule.__qualname__}")
    parameters = described["parameters"]
    try:
        given = {name: np.array(value) if isinstance(value, list) else value for name, value in parameters.items()}
        made = rule(**given)
        check_rule(made)
    except (ParameterError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise VerificationError(f"{name} refuses its parameters: {error}") from error
    return made


def _make_majority(described: dict[str, Any], given: Any) -> Majority:
    """Return the recorded majority."""
    parts = (described["vote"], *(member["rule"] for member in described["members"]))
    vote, *rules = (make_recorded_rule(part, class_among(given, part)) for part in parts)
    options = ({name: member[name] for name in ("fit_intercept", "normalize")} for member in described["members"])
    try:
        return Majority([Member(rule, **each) for rule, each in zip(rules, options, strict=True)], vote)
    except ParameterError as error:
        raise VerificationError(str(error)) from error


def library_rule(name: str) -> Any:
    """Return the class of one of the library's rules."""
    return BUILT_IN[name]


def _is_ours(rule: type) -> bool:
    return BUILT_IN.get(rule.__qualname__) is rule


def weights_digest(outcome: Run) -> str:
    """Return the SHA-256 of the last weights; of a majority, those of the vote and then of each member."""
    digest = hashlib.sha256()
    for state in (outcome.state, *outcome.state.members):
        digest.update(weights_of(state.arrays).astype("<f8").tobytes())
    return digest.hexdigest()


def _procedure(outcome: Run, n: int) -> dict[str, Any]:
    if isinstance(outcome, BatchRun):
        if not isinstance(outcome.schedule, str):
            raise ParameterError('a schedule of your own cannot be recorded; use "constant" or "1/k"')
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
    usual = weights_of(new_state(rule_for_width(state.rule, state.n_features), state.origin.size))
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
    blocks = X.independent() if isinstance(X, Stream) else X
    for _ in range(passes):
        yield from blocks if y is None else [(X, y)]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
