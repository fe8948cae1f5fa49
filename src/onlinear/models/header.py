"""The header of a model file: what each of its keys must be.

Some keys have names from earlier versions: ``fingerprint`` is the running checksum of the examples.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from onlinear.data.label_record import LabelRecord
from onlinear.display import printable
from onlinear.errors import ModelError, ParameterError
from onlinear.models.labels import json_as_record
from onlinear.models.parts import FOLLOWER, MEMBERS, is_made_of_members
from onlinear.models.rule import check_description, json_as_number
from onlinear.models.tensors import VERSIONS, Entry, TensorFile
from onlinear.models.values import json_as_labels
from onlinear.streams.reading import Reading

COUNTERS = ("rounds", "updates")
MISTAKES = ("mistakes_positive", "mistakes_negative")
"""The mistakes on examples of each of two classes. A file with a weight vector per class has a list instead."""

_CHECKSUM = re.compile("[0-9a-f]{32}")
_MAX_COUNT = 2**62
"""Counters have 64 bits during learning, and resuming must not overflow them."""
_MAX_DIGITS = 600
"""Python converts this many digits to an integer under any settings."""


def is_count(value: Any) -> bool:
    """Tell whether a value is a count that a model file can hold."""
    return type(value) is int and 0 <= value <= _MAX_COUNT


def are_counts(value: Any) -> bool:
    """Tell whether a value is a list of counts."""
    return isinstance(value, list) and all(map(is_count, value))


def is_checksum(value: Any) -> bool:
    """Tell whether a value is a checksum of examples, or None."""
    return value is None or (isinstance(value, str) and _CHECKSUM.fullmatch(value) is not None)


def _is_bool(value: Any) -> bool:
    return type(value) is bool


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_sum(value: Any) -> bool:
    return json_as_number(value) >= 0.0


def _is_object(value: Any) -> bool:
    return isinstance(value, dict | None)


def _is_column(value: Any) -> bool:
    # A label in digits may be the number of a column.
    return type(value) is int or (isinstance(value, str) and not (value.isdecimal() and len(value) > _MAX_DIGITS))


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _are_kinds(value: Any) -> bool:
    return isinstance(value, dict) and _are_strings(list(value.values()))


def _is_delimiter(value: Any) -> bool:
    # Whatever the parser accepts; tabs and other control characters are in use.
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in '"\r\n\0'


def _or_null(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


_Schema: TypeAlias = dict[str, tuple[str, Callable[[Any], bool]]]
_BOOL = ("true or false", _is_bool)
# `Reading` takes Python values, of more types than JSON has; a file holds only these.
READING: _Schema = {
    "label": ("the name of a column, its number, or null", _or_null(_is_column)),
    "features": ("a list of strings, or null", _or_null(_are_strings)),
    **dict.fromkeys(("drop", "text"), ("a list of strings", _are_strings)),
    **dict.fromkeys(("encode", "missing"), ("a string", _is_string)),
    "hash_bits": ("a count", is_count),
    **dict.fromkeys(("header", "zero_based"), _BOOL),
    "delimiter": ("one ASCII character other than a quote or a line break, or null", _or_null(_is_delimiter)),
    "kinds": ("an object of strings, or null", _or_null(_are_kinds)),
    "format": ("a string, or null", _or_null(_is_string)),
}
_HEADER: _Schema = {
    "kind": ("a name", _is_string),
    **dict.fromkeys(("fit_intercept", "normalize"), _BOOL),
    **dict.fromkeys(("n_features", *COUNTERS, *MISTAKES), ("a count, at most 2^62", is_count)),
    **dict.fromkeys(("steps", "reach"), ("at least 0", _is_sum)),
    **dict.fromkeys(("reading", "outcome", "notes"), ("an object or null", _is_object)),
    "fingerprint": ("32 hexadecimal digits, or null", is_checksum),
}
_MULTICLASS: _Schema = {
    **{name: demand for name, demand in _HEADER.items() if name not in MISTAKES},
    "mistakes_by_class": ("a list of counts, at most 2^62", are_counts),
}
_CHECKED_ELSEWHERE = {"format", "version", "sha256", "rule", "classes"}
_OPTIONAL = {"labels", "votes", MEMBERS, FOLLOWER}


def check_header(file: TensorFile) -> None:
    """Raise unless the header is complete and valid, and the arrays that every model has match it."""
    header, entries = file.header, file.entries
    schema = _MULTICLASS if is_multiclass(header) else _HEADER
    wrong = difference(header, schema.keys() | _CHECKED_ELSEWHERE, _OPTIONAL)
    if wrong:
        raise ModelError(f"invalid header: {wrong}")
    check_description(header["rule"])
    if header["version"] != VERSIONS[is_made_of_members(header)]:
        raise ModelError("invalid header: version 2, and no other, has members")
    if header.get("votes", True) is not True:
        raise ModelError(f"votes is {reprlib.repr(header['votes'])}; it must be true, or absent")
    classes = json_as_labels(header["classes"])
    for name, (demand, fits) in schema.items():
        if not fits(header[name]):
            raise ModelError(f"{name} is {reprlib.repr(header[name])}; it must be {demand}")
    check_reading(header["reading"], header["n_features"])
    check_notes(header["notes"])
    mistakes = mistakes_of(header)
    if len(mistakes) != classes.size:
        raise ModelError(f"it has mistake counts for {len(mistakes)} classes, but {classes.size} labels")
    if max(sum(mistakes), header["updates"]) > header["rounds"]:
        raise ModelError(f"it has more mistakes or updates than its {header['rounds']:,} rounds")
    labels_of(header)
    size = weight_count(header)
    _check_entry(entries, "weights", np.float64, size)
    if "origin" in entries:
        _check_entry(entries, "origin", np.float64, size)
    if "names" in entries:
        _check_entry(entries, "names", np.uint8, None)
        _check_entry(entries, "names.offsets", np.int64, header["n_features"] + 1)


def check_reading(reading: Any, n_features: int) -> None:
    """Raise unless this is a `Reading` that gives no more features than the model has."""
    if reading is None:
        return
    unknown = set(reading) - set(READING)
    if unknown:
        raise ModelError(f"reading has an unknown key {min(unknown)!r:.100}")
    for name, value in reading.items():
        demand, fits = READING[name]
        if not fits(value):
            raise ModelError(f"reading: {name} is {reprlib.repr(value)}; it must be {demand}")
    try:
        made = Reading(**reading)
    except (ParameterError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"reading: {error}") from error
    if made.encode == "hash" and 1 << made.hash_bits > n_features:
        raise ModelError(f"reading: hash_bits is {made.hash_bits}, but the model has only {n_features:,} features")


def check_notes(notes: Any) -> None:
    """Raise if notes have the keys of a checkpoint but no counts there; other notes may be anything."""
    if notes is not None and {"passes", "rows"} <= set(notes):
        for name in ("passes", "rows"):
            if not is_count(notes[name]):
                raise ModelError(f"notes: {name} is {reprlib.repr(notes[name])}; it must be a count")


def difference(found: Iterable[str], wanted: Iterable[str], optional: Iterable[str] = ()) -> str:
    """Return which names are missing and which are unexpected; nothing if all is well."""
    missing, unexpected = set(wanted) - set(found), set(found) - set(wanted) - set(optional)
    parts = {"missing": missing, "unexpected": unexpected}
    return "; ".join(f"{what} {printable(', '.join(sorted(names))):.200}" for what, names in parts.items() if names)


def is_multiclass(header: dict[str, Any]) -> bool:
    """Tell whether each class has a weight vector."""
    return "mistakes_by_class" in header


def mistakes_of(header: dict[str, Any]) -> tuple[int, ...]:
    """Return the mistakes on examples of each class."""
    if is_multiclass(header):
        return tuple(header["mistakes_by_class"])
    return header["mistakes_negative"], header["mistakes_positive"]


def labels_of(header: dict[str, Any]) -> LabelRecord | None:
    """Return the record of the labels, if there is one."""
    if "labels" not in header:
        return None
    mistakes = mistakes_of(header)
    return json_as_record(header["labels"], len(mistakes), header["rounds"], sum(mistakes))


def weight_count(header: dict[str, Any]) -> int:
    """Return the number of weights, the intercepts included; of a majority, those of its members."""
    if is_made_of_members(header):
        return len(header[MEMBERS])
    if "votes" in header:
        return int(header["n_features"])
    vectors = len(header["mistakes_by_class"]) if is_multiclass(header) else 1
    return int(vectors * (header["n_features"] + header["fit_intercept"]))


def _check_entry(entries: dict[str, Entry], name: str, dtype: type, size: int | None) -> None:
    entry = entries.get(name)
    if entry is None:
        raise ModelError(f"the array {name} is missing")
    fits = len(entry.shape) == 1 if size is None else entry.shape == (size,)
    if not (fits and entry.dtype == dtype):
        wanted = "" if size is None else f" {size}"
        raise ModelError(f"{name} is {entry.dtype.name} of shape {entry.shape}, not{wanted} {dtype.__name__}")
