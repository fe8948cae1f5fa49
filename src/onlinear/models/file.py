"""A state in a file with nothing executable in it, and back with the same bits.

The arrays are tensors: ``weights`` (with the intercept first, where there is one), ``state.…`` for what else the
rule keeps, ``rule.…`` for arrays among its parameters, ``origin`` for weights that it began with, and the features'
names as ``names``, UTF-8, with ``names.offsets``. All else is in the header, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.data.labels import checked_labels
from onlinear.errors import ModelError, ParameterError
from onlinear.models.rule import check_description, describe, json_as_number, number_as_json, restore
from onlinear.models.state import State, each_array, new_state, sealed, weights_of
from onlinear.models.tensors import Entry, TensorFile, once, open_tensors, write_tensors
from onlinear.streams.reading import Reading, without_blanks

_NUMBERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"}
_COUNTERS = ("rounds", "updates")
_MISTAKES = ("mistakes_positive", "mistakes_negative")
"""The mistakes on examples of each class, where there are two; where each class has its own weights, it is a list."""

_FINGERPRINT = re.compile("[0-9a-f]{32}")

_MOST_COUNTED = 2**62
"""Counters are 64 bits wide where learning goes on, and there must be room to count on."""
_MOST_DIGITS = 600
"""So many digits Python makes a number of, however it is set up."""


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MOST_COUNTED


def _are_counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


def _is_sum(value: Any) -> bool:
    return json_as_number(value) >= 0.0


def _is_object(value: Any) -> bool:
    return isinstance(value, dict | None)


def _is_fingerprint(value: Any) -> bool:
    return value is None or (isinstance(value, str) and _FINGERPRINT.fullmatch(value) is not None)


def _is_column(value: Any) -> bool:
    # A label in digits may be the number of a column.
    return type(value) is int or (isinstance(value, str) and not (value.isdecimal() and len(value) > _MOST_DIGITS))


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _are_kinds(value: Any) -> bool:
    return isinstance(value, dict) and _are_strings(list(value.values()))


def _is_delimiter(value: Any) -> bool:
    # Whatever the parser takes; tabs and other control characters are in use.
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in '"\r\n\0'


def _or_null(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


_Demands: TypeAlias = dict[str, tuple[str, Callable[[Any], bool]]]
_TRUE_OR_FALSE = ("true or false", lambda value: type(value) is bool)
_STRING = ("a string", lambda value: isinstance(value, str))
# `Reading` itself is made from Python's values, and takes more than JSON's types for good.
_READING: _Demands = {
    "label": ("the name of a column, its number, or null", _or_null(_is_column)),
    "features": ("a list of strings, or null", _or_null(_are_strings)),
    **dict.fromkeys(("drop", "text"), ("a list of strings", _are_strings)),
    **dict.fromkeys(("encode", "missing"), _STRING),
    "hash_bits": ("a count", _is_count),
    **dict.fromkeys(("header", "zero_based"), _TRUE_OR_FALSE),
    "delimiter": ("one ASCII character that no quote or end of a line is, or null", _or_null(_is_delimiter)),
    "kinds": ("an object of strings, or null", _or_null(_are_kinds)),
    "format": ("a string, or null", _or_null(_STRING[1])),
}
_DEMANDS: _Demands = {
    "kind": ("a name", _STRING[1]),
    **dict.fromkeys(("fit_intercept", "normalize"), _TRUE_OR_FALSE),
    **dict.fromkeys(("n_features", *_COUNTERS, *_MISTAKES), ("a count, at most 2^62", _is_count)),
    **dict.fromkeys(("steps", "reach"), ("at least 0", _is_sum)),
    **dict.fromkeys(("reading", "outcome", "notes"), ("an object or null", _is_object)),
    "fingerprint": ("32 hexadecimal digits, or null", _is_fingerprint),
}
_KEYS = {"format", "version", "sha256", "rule", "classes", *_DEMANDS}
_MANY: _Demands = {"mistakes_by_class": ("a list of counts, at most 2^62", _are_counts)}
"""What stands in place of the two counts of mistakes where each class has its own weights."""
_MOST_DEPTH = 100
"""How deep notes and the like may nest: whoever reads them may be deep in calls."""


def write(
    path: str | os.PathLike[str],
    state: State,
    *,
    kind: str = "Run",
    outcome: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a state to a file, which is replaced as a whole; the same state gives the same bytes.

    Parameters
    ----------
    path : path
        Where to.
    state : State
        What a run ended with.
    kind : str
        The name of the class of the run.
    outcome, notes : mappings, optional
        What else there is to say of the run, and whatever the caller wants to find again; as JSON.
    """
    rule, tensors = describe(state.rule)
    weights = weights_of(state.arrays)
    if weights.shape != (state.vectors * (state.n_features + state.fit_intercept),) or not np.isfinite(weights).all():
        raise ParameterError("a weight is not finite, or there are not as many as features: nothing to save")
    if not (state.steps >= 0.0 and state.reach >= 0.0):
        raise ParameterError(f"the sums over the updates are {state.steps} and {state.reach}: nothing to save")
    if not _is_fingerprint(state.fingerprint):
        raise ParameterError(f"the stream's fingerprint is {state.fingerprint!r}; it must be 32 hexadecimal digits")
    mistakes: dict[str, Any] = {"mistakes_by_class": list(state.mistakes_by_class)}
    if not state.multiclass:
        mistakes = dict(zip(_MISTAKES, reversed(state.mistakes_by_class), strict=True))
    counters = {"rounds": int(state.rounds), **mistakes, "updates": int(state.updates)}
    for name, count in counters.items():
        if not (_is_count(count) or _are_counts(count)):
            raise ParameterError(f"{name} is {count}; a model file counts from 0 to 2^62")
    tensors |= _named(state.arrays)
    if state.origin is not None:
        tensors["origin"] = state.origin
    if state.names is not None:
        tensors["names"], tensors["names.offsets"] = _packed(state.names, state.n_features)
    header = {
        "kind": kind,
        "rule": rule,
        "fit_intercept": bool(state.fit_intercept),
        "normalize": bool(state.normalize),
        "classes": _labels_as_json(state.classes),
        "n_features": int(state.n_features),
        **counters,
        "steps": number_as_json(state.steps),
        "reach": number_as_json(state.reach),
        "reading": _plain("reading", state.reading),
        "fingerprint": state.fingerprint,
        "outcome": _plain("outcome", outcome),
        "notes": _plain("notes", notes),
    }
    try:
        _check_reading(header["reading"], header["n_features"])
        _check_notes(header["notes"])
    except ModelError as error:  # nothing is written that would be refused later
        raise ParameterError(f"{error}: nothing to save") from error
    write_tensors(path, header, tensors)


def read(path: str | os.PathLike[str], rule: Any = None) -> tuple[State, dict[str, Any]]:
    """Return the state in a file, with read-only arrays, and the file's header.

    Parameters
    ----------
    path : path
        Where from.
    rule : class, optional
        The class of the rule, where it is not one of the library's.
    """
    with open_tensors(path) as file:
        _check(file)
        header = file.header
        made = restore(file, rule)
        n, fit_intercept, normalize = (header[name] for name in ("n_features", "fit_intercept", "normalize"))
        classes, multiclass = _labels(header["classes"]), _is_multiclass(header)
        if made.inputs != "real" and (fit_intercept or normalize):
            raise ModelError(f"{type(made).__name__} takes {made.inputs} inputs as they are")
        arrays = _arrays(file, made, _entries(header))
        state = State(
            rule=made,
            fit_intercept=fit_intercept,
            normalize=normalize,
            classes=classes,
            n_features=n,
            arrays=each_array(sealed, arrays),
            **{name: header[name] for name in _COUNTERS},
            mistakes_by_class=mistakes_of(header),
            steps=json_as_number(header["steps"]),
            reach=json_as_number(header["reach"]),
            origin=sealed(_finite(file, "origin")) if "origin" in file.entries else None,
            names=_unpacked(file, n) if "names" in file.entries else None,
            reading=header["reading"],
            fingerprint=header["fingerprint"],
            multiclass=multiclass,
        )
    return state, header


def peek(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a file's header, once it is checked; the arrays are not read, and no rule is needed."""
    with open_tensors(path) as file:
        _check(file)
        return file.header


def weights_and_names(path: str | os.PathLike[str]) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Return the weights in a file, without the intercept, and the features' names; no rule is needed.

    Where each class has weights of its own, they are a matrix with a row for each class.
    """
    with open_tensors(path) as file:
        _check(file)
        n, bias = file.header["n_features"], int(file.header["fit_intercept"])
        weights, many = _finite(file, "weights"), _is_multiclass(file.header)
        rows = weights.reshape(-1, weights.size // (n + bias)).T[:, bias:] if many else weights[bias:]
        return rows, _unpacked(file, n) if "names" in file.entries else None


def _check(file: TensorFile) -> None:
    """Raise unless the header says what it must, and the arrays that every model has fit to it."""
    header, entries = file.header, file.entries
    many = _is_multiclass(header)
    keys = (_KEYS - set(_MISTAKES)) | set(_MANY) if many else _KEYS
    if set(header) != keys:
        raise ModelError(f"its header lacks, or should not have: {', '.join(sorted(keys ^ set(header))):.200}")
    check_description(header["rule"])
    classes = _labels(header["classes"])
    for name, (demand, fits) in (_DEMANDS | _MANY).items():
        if name in keys and not fits(header[name]):
            raise ModelError(f"{name} is {reprlib.repr(header[name])}; it must be {demand}")
    _check_reading(header["reading"], header["n_features"])
    _check_notes(header["notes"])
    mistakes = mistakes_of(header)
    if len(mistakes) != classes.size:
        raise ModelError(f"it counts the mistakes on {len(mistakes)} classes, but names {classes.size}")
    if max(sum(mistakes), header["updates"]) > header["rounds"]:
        raise ModelError(f"it has more mistakes or updates than its {header['rounds']:,} rounds")
    size = _entries(header)
    _check_entry(entries, "weights", np.float64, size)
    if "origin" in entries:
        _check_entry(entries, "origin", np.float64, size)
    if "names" in entries:
        _check_entry(entries, "names", np.uint8, None)
        _check_entry(entries, "names.offsets", np.int64, header["n_features"] + 1)


def _is_multiclass(header: dict[str, Any]) -> bool:
    """Tell whether each class has weights of its own."""
    return "mistakes_by_class" in header


def mistakes_of(header: dict[str, Any]) -> tuple[int, ...]:
    """Return the mistakes on examples of each class."""
    if _is_multiclass(header):
        return tuple(header["mistakes_by_class"])
    return header["mistakes_negative"], header["mistakes_positive"]


def _entries(header: dict[str, Any]) -> int:
    """Return how many weights there are."""
    vectors = len(header["mistakes_by_class"]) if _is_multiclass(header) else 1
    return int(vectors * (header["n_features"] + header["fit_intercept"]))


def _check_reading(reading: Any, n_features: int) -> None:
    """Raise unless it is a `Reading` that gives no more features than the model has."""
    if reading is None:
        return
    unknown = set(reading) - set(_READING)
    if unknown:
        raise ModelError(f"reading has {min(unknown)!r:.100}, which is no part of it")
    for name, value in reading.items():
        demand, fits = _READING[name]
        if not fits(value):
            raise ModelError(f"reading: {name} is {reprlib.repr(value)}; it must be {demand}")
    try:
        made = Reading(**reading)
    except (ParameterError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"reading: {error}") from error
    if made.encode == "hash" and 1 << made.hash_bits > n_features:
        raise ModelError(f"reading: hash_bits is {made.hash_bits}, but the model has only {n_features:,} features")


def _check_notes(notes: Any) -> None:
    """Raise where they say how far training had come, but not in numbers; other notes may say anything."""
    if notes is not None and {"passes", "rows"} <= set(notes):
        for name in ("passes", "rows"):
            if not _is_count(notes[name]):
                raise ModelError(f"notes: {name} is {reprlib.repr(notes[name])}; it must be a count")


def _check_entry(entries: dict[str, Entry], name: str, dtype: type, size: int | None) -> None:
    entry = entries.get(name)
    if entry is None:
        raise ModelError(f"it has no {name}")
    fits = len(entry.shape) == 1 if size is None else entry.shape == (size,)
    if not (fits and entry.dtype == dtype):
        wanted = "" if size is None else f" {size}"
        raise ModelError(f"{name} is {entry.dtype.name} of shape {entry.shape}, not{wanted} {dtype.__name__}")


def _arrays(file: TensorFile, rule: Any, n: int) -> Any:
    """Return the rule's state: its start for n entries, with the file's values read into it."""
    try:
        arrays = new_state(rule.for_width(file.header["n_features"]), n)
    except (ArithmeticError, MemoryError, ValueError) as error:
        raise ModelError(f"{type(rule).__name__} cannot start with {n} entries: {error}") from error
    named = _named(arrays)
    parameters = file.header["rule"]["parameters"].values()
    others = {value["tensor"] for value in parameters if isinstance(value, dict) and "tensor" in value}
    others |= {"origin"} | ({"names", "names.offsets"} if "names" in file.entries else set())
    wrong = (set(named) - set(file.entries)) | (set(file.entries) - set(named) - others)
    if wrong:
        raise ModelError(f"{type(rule).__name__} lacks, or should not have: {', '.join(sorted(wrong)):.200}")
    for name, array in named.items():
        file.fill(name, array)
    if not np.isfinite(weights_of(arrays)).all():
        raise ModelError("weights has an entry that is not finite")
    return arrays


def _named(arrays: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of a rule's state, by their names in a file."""
    if isinstance(arrays, np.ndarray):
        return {"weights": arrays}
    return {"weights" if name == "w" else f"state.{name}": array for name, array in arrays._asdict().items()}


def _finite(file: TensorFile, name: str) -> NDArray[Any]:
    array = file.array(name)
    if not np.isfinite(array).all():
        raise ModelError(f"{name} has an entry that is not finite")
    return array


def _packed(names: tuple[str, ...], n: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return names as bytes, and where each begins."""
    if len(names) != n:
        raise ParameterError(f"there are {len(names)} names and {n} features: nothing to save")
    twice = _twice(names)
    if twice is not None:
        raise ParameterError(f"two features are called {twice!r:.100}: nothing to save; their names must differ")
    try:
        encoded = [name.encode() for name in names]
    except UnicodeEncodeError as error:
        raise ParameterError(f"the name {error.object!r:.100} is not Unicode: {error.reason}") from error
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(list(map(len, encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def _unpacked(file: TensorFile, n: int) -> tuple[str, ...]:
    text, offsets = file.array("names").tobytes(), file.array("names.offsets")
    if offsets[0] != 0 or offsets[-1] != len(text) or (np.diff(offsets) < 0).any():
        raise ModelError("names.offsets does not divide the names")
    places = offsets.tolist()
    try:
        names = tuple(text[places[k] : places[k + 1]].decode() for k in range(n))
    except UnicodeDecodeError as error:
        raise ModelError(f"a name is not UTF-8: {error.reason}") from error
    twice = _twice(names)
    if twice is not None:
        raise ModelError(f"two of its features are called {twice!r:.100}")
    return names


def _twice(names: tuple[str, ...]) -> str | None:
    """Return a name that two features have.

    Features that were declared beyond those with names are called "", at the end. Before these "" is a name like
    any other, as of the first column of a CSV file that came with row numbers.
    """
    seen: set[str] = set()
    for name in without_blanks(names):
        if name in seen:
            return name
        seen.add(name)
    return None


def _labels_as_json(classes: NDArray[Any]) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind not in _NUMBERS | {"str", "bool"}:
        raise ParameterError(f"labels of type {classes.dtype} cannot be saved; use numbers or strings")
    return {"dtype": kind, "labels": classes.tolist()}


def _labels(described: Any) -> NDArray[Any]:
    """Return the labels, in the type that they had."""
    match described:
        case {"dtype": str(kind), "labels": [_, *_] as labels} if len(described) == 2:
            wanted = {"s": str, "b": bool, "f": float}.get(kind[:1], int)
            if kind in _NUMBERS | {"str", "bool"} and all(type(label) is wanted for label in labels):
                try:
                    with np.errstate(over="ignore"):
                        return checked_labels(np.array(labels, dtype=kind))
                except (OverflowError, ValueError) as error:
                    raise ModelError(f"its labels are out of range: {error}") from error
    raise ModelError(f"its header names no labels but {reprlib.repr(described)}")


def _plain(name: str, value: Mapping[str, Any] | None) -> Any:
    """Return a mapping as JSON would give it back."""
    if value is None:
        return None
    try:
        plain = json.loads(json.dumps(dict(value), allow_nan=False), object_pairs_hook=once)
        depth = _depth(plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"{name} cannot be written down as JSON: {error}") from error
    if depth > _MOST_DEPTH:
        raise ParameterError(f"{name} nests {depth} deep; a model file has room for {_MOST_DEPTH}")
    return plain


def _depth(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, parts), default=0)
