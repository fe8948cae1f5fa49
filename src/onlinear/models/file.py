"""A state in a file that contains nothing executable; loading it gives the same bits back.

The arrays are tensors: ``weights`` (with the intercept first, if there is one), ``state.…`` for the rest of the rule's
state, ``rule.…`` for arrays among its parameters, ``origin`` for initial weights, and the names of the features as
``names`` and ``names.offsets``. Everything else is in the header, as JSON.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.sample import SIZE
from onlinear.errors import ModelError, ParameterError, RuleError
from onlinear.models.header import (
    COUNTERS,
    MISTAKES,
    are_counts,
    check_header,
    check_notes,
    check_reading,
    difference,
    is_checksum,
    is_count,
    is_multiclass,
    labels_of,
    mistakes_of,
    weight_count,
)
from onlinear.models.labels import record_as_json
from onlinear.models.names import pack_names, unpack_names
from onlinear.models.parts import FOLLOWER, MEMBERS, check_majority, divide, part_name
from onlinear.models.rule import check_all_used, class_among, describe, json_as_number, number_as_json, restore
from onlinear.models.state import State, each_array, new_state, rule_for_width, sealed, weights_of
from onlinear.models.tensors import VERSIONS, TensorFile, open_tensors, write_tensors
from onlinear.models.values import json_as_labels, labels_as_json, plain_json
from onlinear.rules.majority import Majority, Member

_FIRST = ("kind", "rule", "fit_intercept", "normalize", "classes", "n_features")
"""The keys with which a header begins: the same model always has the same bytes."""


def write(
    path: str | os.PathLike[str],
    state: State,
    *,
    kind: str = "Run",
    outcome: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a state to a file, which is replaced atomically; the same state gives the same bytes.

    Parameters
    ----------
    path : path
        The file.
    state : State
        The state at the end of a run.
    kind : str
        The name of the class of the run.
    outcome, notes : mappings, optional
        Further facts about the run, and notes for the caller; as JSON.
    """
    described, tensors = _describe_state(state)
    if state.names is not None:
        tensors["names"], tensors["names.offsets"] = pack_names(state.names, state.n_features)
    if state.sample is not None:
        tensors["sample"] = state.sample
    found = {
        "kind": kind,
        **described,
        "classes": labels_as_json(state.classes),
        "n_features": int(state.n_features),
        "reading": plain_json("reading", state.reading),
        "fingerprint": state.checksum,
        **record_as_json(state.labels),
        "outcome": plain_json("outcome", outcome),
        "notes": plain_json("notes", notes),
        **_describe_parts(state, tensors),
    }
    header = {name: found.pop(name) for name in _FIRST} | found
    try:
        check_reading(header["reading"], header["n_features"])
        check_notes(header["notes"])
        labels_of(header)
    except ModelError as error:  # nothing is written that could not be loaded
        raise ParameterError(f"cannot save: {error}") from error
    write_tensors(path, header, tensors, version=VERSIONS[bool(state.members)])


def _describe_state(state: State) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a model and each of its parts have of their own: for the header, and as tensors."""
    rule, tensors = describe(state.rule)
    _check_state(state)
    tensors |= _state_tensors(state.arrays)
    if state.origin is not None:
        tensors["origin"] = state.origin
    votes = state.multiclass and state.rule.inputs == "advice"
    return {
        "rule": rule,
        "fit_intercept": bool(state.fit_intercept),
        "normalize": bool(state.normalize),
        **_counters(state),
        "steps": number_as_json(state.steps),
        "reach": number_as_json(state.reach),
        **({"votes": True} if votes else {}),
    }, tensors


def _describe_parts(state: State, tensors: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the header's entries for the members and the follower of a majority; add their tensors."""
    if state.follower is None:
        return {}
    described = []
    for name, part in [*((part_name(i), each) for i, each in enumerate(state.members)), (FOLLOWER, state.follower)]:
        entry, arrays = _describe_state(part)
        described.append(entry)
        tensors |= {f"{name}.{key}": array for key, array in arrays.items()}
    return {MEMBERS: described[:-1], FOLLOWER: described[-1]}


def _check_state(state: State) -> None:
    """Raise if a state has values that could not be loaded."""
    weights = weights_of(state.arrays)
    entries = len(state.members) or state.vectors * (state.n_features + state.fit_intercept)
    if weights.shape != (entries,):
        raise ParameterError(f"cannot save: there are {weights.size} weights for {state.n_features} features")
    if not np.isfinite(weights).all():
        raise ParameterError("cannot save: a weight is not finite")
    if not (state.steps >= 0.0 and state.reach >= 0.0):
        raise ParameterError(f"cannot save: steps is {state.steps} and reach is {state.reach}; both must be at least 0")
    if not is_checksum(state.checksum):
        raise ParameterError(f"cannot save: checksum is {state.checksum!r}; it must be 32 hexadecimal digits")


def _counters(state: State) -> dict[str, Any]:
    """Return the counters in the order of the header."""
    mistakes: dict[str, Any] = {"mistakes_by_class": list(state.mistakes_by_class)}
    if not state.multiclass:
        mistakes = dict(zip(MISTAKES, reversed(state.mistakes_by_class), strict=True))
    counters = {"rounds": int(state.rounds), **mistakes, "updates": int(state.updates)}
    for name, count in counters.items():
        if not (is_count(count) or are_counts(count)):
            raise ParameterError(f"cannot save: {name} is {count}; counts must be between 0 and 2^62")
    return counters


def read(path: str | os.PathLike[str], rule: Any = None) -> tuple[State, dict[str, Any]]:
    """Return the state in a file, with read-only arrays, and the file's header.

    Parameters
    ----------
    path : path
        The file.
    rule : class, optional
        The class of the rule, if it is not one of the library's.
    """
    with open_tensors(path) as file:
        return _read(file, rule), file.header


def _read(file: TensorFile, given: Any) -> State:
    """Return the state in a file, or in a part of one."""
    file, members, follower = divide(file)
    check_header(file)
    header = file.header
    for part in (*members, *([] if follower is None else [follower])):
        check_header(part)
    if members:
        check_all_used(given, [part.header["rule"] for part in (file, *members)])
    states = tuple(_read(part, class_among(given, part.header["rule"])) for part in members)
    made = restore(file, given, [Member(one.rule, one.fit_intercept, one.normalize) for one in states])
    if any(part.rounds < header["rounds"] for part in states):
        raise ModelError("a member has read fewer examples than the majority")
    follows = None if follower is None else _read(follower, None)
    fit_intercept, normalize = header["fit_intercept"], header["normalize"]
    if follows is not None:
        check_majority(header, follows, _finite(file, "weights"))
    if made.inputs != "real" and (fit_intercept or normalize):
        raise ModelError(f"{type(made).__name__} takes {made.inputs} inputs: no intercept, and not normalized")
    if ("votes" in header) != (made.inputs == "advice" and is_multiclass(header)):
        raise ModelError(f"{type(made).__name__} does {'not vote' if 'votes' in header else 'vote'} on several classes")
    return State(
        rule=made,
        fit_intercept=fit_intercept,
        normalize=normalize,
        classes=json_as_labels(header["classes"]),
        n_features=header["n_features"],
        arrays=each_array(sealed, _rule_state(file, made)),
        **{name: header[name] for name in COUNTERS},
        mistakes_by_class=mistakes_of(header),
        steps=json_as_number(header["steps"]),
        reach=json_as_number(header["reach"]),
        origin=sealed(_finite(file, "origin")) if "origin" in file.entries else None,
        names=unpack_names(file, header["n_features"]),
        reading=header["reading"],
        checksum=header["fingerprint"],
        multiclass=is_multiclass(header),
        labels=labels_of(header),
        sample=_sample_in(file),
        members=states,
        follower=follows,
    )


def peek(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a file after checking it; no arrays are read, and no rule is needed."""
    with open_tensors(path) as file:
        for part in (file, *divide(file).members):
            check_header(part)
        return file.header


def weights_and_names(path: str | os.PathLike[str]) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Return the weights in a file, without the intercept, and the names of the features; no rule is needed.

    If each class has a weight vector, the weights are a matrix with a row for each class.
    """
    with open_tensors(path) as file:
        check_header(file)
        n, bias = file.header["n_features"], int(file.header["fit_intercept"])
        weights = _finite(file, "weights")
        multiclass = is_multiclass(file.header)
        rows = weights.reshape(-1, weights.size // (n + bias)).T[:, bias:] if multiclass else weights[bias:]
        return rows, unpack_names(file, n)


def _rule_state(file: TensorFile, rule: Any) -> Any:
    """Return the rule's state: its initial state, filled with the values in the file."""
    n, width = weight_count(file.header), file.header["n_features"]
    rule, width = (rule.vote, n) if isinstance(rule, Majority) else (rule, width)
    try:
        arrays = new_state(rule_for_width(rule, width), n)
    except (MemoryError, RuleError) as error:
        raise ModelError(f"{type(rule).__name__} cannot start with {n} entries: {error}") from error
    tensors = _state_tensors(arrays)
    parameters = file.header["rule"]["parameters"].values()
    others = {value["tensor"] for value in parameters if isinstance(value, dict) and "tensor" in value}
    others |= {"origin", "sample"} | ({"names", "names.offsets"} if "names" in file.entries else set())
    wrong = difference(file.entries, tensors, others)
    if wrong:
        raise ModelError(f"the arrays do not match {type(rule).__name__}: {wrong}")
    for name, array in tensors.items():
        file.fill(name, array)
    if not np.isfinite(weights_of(arrays)).all():
        raise ModelError("weights has an entry that is not finite")
    return arrays


def _sample_in(file: TensorFile) -> NDArray[np.uint64] | None:
    """Return the hashes of some examples, if the file has them; raise if they cannot be a sample."""
    if "sample" not in file.entries:
        return None
    found = file.array("sample")
    if found.dtype != np.uint64 or found.ndim != 1 or found.size > SIZE or (found[1:] <= found[:-1]).any():
        raise ModelError(f"sample must have at most {SIZE} hashes, in ascending order")
    return sealed(found)


def _state_tensors(arrays: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of a rule's state, by their names in a file."""
    if isinstance(arrays, np.ndarray):
        return {"weights": arrays}
    return {"weights" if name == "w" else f"state.{name}": array for name, array in arrays._asdict().items()}


def _finite(file: TensorFile, name: str) -> NDArray[Any]:
    array = file.array(name)
    if not np.isfinite(array).all():
        raise ModelError(f"{name} has an entry that is not finite")
    return array
