"""Saved runs: what each kind of run stores beside its state, and how it is checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, get_args

from onlinear.errors import ModelError
from onlinear.models.file import read
from onlinear.rules.batch import BatchPerceptron
from onlinear.runs.batch import BatchRun
from onlinear.runs.converge import Selection
from onlinear.runs.convergence import Convergence, Outcome, derived_outcome
from onlinear.runs.outcome import Run

_KINDS: dict[str, type[Run]] = {cls.__name__: cls for cls in (Run, Convergence, BatchRun)}


def load(path: str | os.PathLike[str], rule: Any = None) -> Run:
    """Load a saved run, to predict with or to resume from.

    Nothing in the file is executed. Its checksum, its version, all sizes and the weights are checked first.

    Parameters
    ----------
    path : path
        A file written by `Run.save`.
    rule : class, or list of classes, optional
        The class of the rule, if it is one of your own: a file holds only its name and a fingerprint of its code. A
        `Majority` may need several.
        It is an error if the code has changed since. The fingerprint is of Python's bytecode, so it is compared only
        under the same version of Python.

    Returns
    -------
    Run
        Of the same kind as the one that was saved, without its trace.

    Examples
    --------
    >>> import tempfile, onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> rule = onlinear.rules.Perceptron()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     onlinear.run(rule, X[:500], y[:500]).save(f"{folder}/model.safetensors")
    ...     half = onlinear.load(f"{folder}/model.safetensors")
    >>> run = onlinear.run(rule, X[500:], y[500:], state=half)
    >>> bool((run.weights == onlinear.run(rule, X, y).weights).all())
    True
    """
    state, header = read(path, rule)
    cls = _KINDS.get(header["kind"])
    if cls is None:
        raise ModelError(f"{os.fspath(path)}: it holds a {header['kind']:.100}, not one of {', '.join(_KINDS)}")
    facts, wanted = header["outcome"] or {}, cls.saved_fields()
    ended = facts.pop("ended", None) if issubclass(cls, Convergence) else None
    wrong = sorted(set(facts) ^ set(wanted)) or [name for name in wanted if not _CHECKS[name](facts[name])]
    if not wrong and cls is BatchRun:
        facts["batch_sizes"] = tuple(facts["batch_sizes"])
        if type(state.rule) is not BatchPerceptron or sum(facts["batch_sizes"]) != state.updates:
            wrong = ["batch_sizes"]
    if ended is not None and ended not in Outcome.__members__:
        wrong.append("ended")
    if wrong:
        raise ModelError(f"{os.fspath(path)}: {', '.join(wrong):.200} cannot be that of a {cls.__name__}")
    if issubclass(cls, Convergence):
        facts["outcome"] = derived_outcome(Run(state), **facts) if ended is None else Outcome[ended]
    return cls(state, None, **facts)


def _at_least(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "halted": lambda value: type(value) is bool,
    "passes": _at_least(0),
    "reason": lambda value: isinstance(value, str),
    "selection": lambda value: value in get_args(Selection),
    "seed": _at_least(0),
    "max_updates": lambda value: value is None or _at_least(1)(value),
    "max_passes": _at_least(1),
    "batch_sizes": lambda value: isinstance(value, list) and all(map(_at_least(1), value)),
    "schedule": lambda value: value in ("constant", "1/k"),
}
