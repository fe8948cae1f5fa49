"""The structure of a record: what each entry must be, checked before any work is done with it."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from onlinear.errors import VerificationError
from onlinear.models.header import are_counts, difference, is_count
from onlinear.rules.registry import BUILT_IN

VERSION: Final = 1

_SHA256 = re.compile("[0-9a-f]{64}")
_SHARE = re.compile("[1-9a-f][0-9a-f]*/[1-9a-f][0-9a-f]*")
_MAX_SEED_BITS = 4096
_MAX_DIMENSIONS = 32
"""NumPy's arrays have no more."""


class _Schema(Protocol):
    """What an entry must be. A schema is as deep as a record may be, however deep the record is."""

    def check(self, value: Any, place: str) -> None:
        """Raise a `VerificationError` that names the place, unless the value fits."""


class _Leaf(NamedTuple):
    """A single value, or a list that is checked as a whole."""

    demand: str
    fits: Callable[[Any], bool]

    def check(self, value: Any, place: str) -> None:
        if not self.fits(value):
            raise VerificationError(f"{place} is {_shown(value)}; it must be {self.demand}")


class _OrNull(NamedTuple):
    """Null, or what another schema describes."""

    inner: _Schema

    def check(self, value: Any, place: str) -> None:
        if value is not None:
            self.inner.check(value, place)


class _ListOf(NamedTuple):
    """A list whose entries are all of one kind."""

    inner: _Schema

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, list):
            raise VerificationError(f"{place} is {_shown(value)}; it must be a list")
        for k, one in enumerate(value):
            self.inner.check(one, f"{place}[{k}]")


class _Object(NamedTuple):
    """An object with exactly these keys."""

    entries: dict[str, _Schema]

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise VerificationError(f"{place or 'the record'} is {_shown(value)}; it must be an object")
        wrong = difference(list(map(str, value)), self.entries)
        if wrong:
            raise VerificationError(f"{place or 'the record'}: {wrong}")
        for name, inner in self.entries.items():
            inner.check(value[name], f"{place}.{name}" if place else name)


def _is_finite(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _is_number(value: Any) -> bool:
    return _is_finite(value) or is_count(value)


def _is_label(value: Any) -> bool:
    return type(value) in {str, bool} or _is_finite(value) or (type(value) is int and -(2**63) <= value < 2**64)


def _are_labels(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_label, value)) and len(set(map(type, value))) == 1


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) and _is_number(one) for name, one in value.items())


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _are_parameters(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) and _is_parameter(one) for name, one in value.items())


def _is_parameter(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < _MAX_DIMENSIONS and all(_is_parameter(one, depth + 1) for one in value)
    return value is None or type(value) in {str, bool} or _is_finite(value) or _is_integer(value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and value.bit_length() <= _MAX_SEED_BITS


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def _are_floats(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_finite, value))


def _are_rows(value: Any) -> bool:
    return are_counts(value) and len(value) > 0 and len(set(value)) == len(value)


def _are_shares(value: Any) -> bool:
    return _are_strings(value) and all(map(_SHARE.fullmatch, value))


def _one_of(*values: Any) -> _Leaf:
    listed = " or ".join(map(repr, values))
    return _Leaf(listed, lambda value: any(type(value) is type(one) and value == one for one in values))


_BOOL = _Leaf("true or false", lambda value: type(value) is bool)
_TEXT = _Leaf("a string", lambda value: isinstance(value, str))
_COUNT = _Leaf("a count, at most 2^62", is_count)
_POSITIVE = _Leaf("a count from 1 to 2^62", lambda value: is_count(value) and value > 0)
_COUNTS = _Leaf("a list of counts", are_counts)
_FLOAT = _Leaf("a finite number, written as a float", _is_finite)
_NUMBER = _Leaf("a count or a finite float", _is_number)
_VECTOR = _Leaf("a list of finite floats", _are_floats)
_ROWS = _Leaf("a list of the numbers of rows, all different", _are_rows)
_DIGEST = _Leaf("64 hexadecimal digits", _is_sha256)

_RULE = _Object(
    {
        "name": _TEXT,
        "own": _BOOL,
        "parameters": _Leaf("an object of numbers, strings and lists of them", _are_parameters),
    }
)
_OPTIONS: dict[str, _Schema] = {
    "fit_intercept": _BOOL,
    "normalize": _BOOL,
    "classes": _Leaf("a list of labels of one type", _are_labels),
    "n_features": _COUNT,
    "start": _OrNull(_VECTOR),
}
_PROCEDURES: dict[str, dict[str, _Schema]] = {
    "run": {"passes": _POSITIVE},
    "batch_perceptron": {"schedule": _one_of("constant", "1/k"), "passes": _COUNT, "max_passes": _POSITIVE},
    "converge": {
        "selection": _one_of("cyclic", "random", "worst"),
        "seed": _Leaf("an integer, at least 0", lambda value: _is_integer(value) and value >= 0),
        "passes": _COUNT,
        "max_passes": _POSITIVE,
        "max_updates": _OrNull(_POSITIVE),
    },
}
_DATA: dict[str, _Schema] = {
    "layout": _one_of("dense", "sparse", "mixed"),
    "rows": _POSITIVE,
    "features": _COUNT,
    "fingerprint": _DIGEST,
}
_OUTCOME: dict[str, _Schema] = {
    "rounds": _COUNT,
    "mistakes": _COUNT,
    "updates": _COUNT,
    "expected_mistakes": _OrNull(_FLOAT),
    "margin_upper_bound": _OrNull(_FLOAT),
    "weights": _DIGEST,
}
_INTERVAL = _Object(
    {
        "kind": _one_of("through the origin", "affine", "augmented"),
        **dict.fromkeys(("lower", "upper", "radius"), _FLOAT),
        "weights": _OrNull(_VECTOR),
        "support": _ROWS,
        "shares": _VECTOR,
    }
)
_VERDICT = _Object({"verdict": _one_of("separable", "undecided")})
_COMBINATION = _Object(
    {
        "verdict": _one_of("inseparable"),
        "rows": _ROWS,
        "shares": _Leaf("a list of fractions of whole numbers above 0, in base 16, such as '1/4'", _are_shares),
    }
)
_BOUND = _Object(
    {
        **dict.fromkeys(("theorem", "of", "note"), _TEXT),
        **dict.fromkeys(("actual", "value"), _NUMBER),
        **dict.fromkeys(("strict", "chance"), _BOOL),
        **dict.fromkeys(("checked", "declared"), _Leaf("a list of strings", _are_strings)),
        "quantities": _Leaf("an object of numbers", _are_numbers),
    }
)


def check_structure(record: Any) -> None:
    """Raise a `VerificationError` unless a record has exactly the entries of a certificate, each of the right kind."""
    options, procedure, verdict = (_part(record, name) for name in ("options", "procedure", "separability"))
    many = "multiclass" in options
    by_class: dict[str, _Schema] = {"by_class": _COUNTS} if many else {"positive": _COUNT}
    mistakes: dict[str, _Schema] = dict.fromkeys(("mistakes_positive", "mistakes_negative"), _COUNT)
    kind = procedure.get("kind")
    combined = "rows" in verdict
    _Object(
        {
            "certificate": _one_of(VERSION),
            "rule": _RULE,
            "options": _Object({**_OPTIONS, "multiclass": _one_of(True)} if many else _OPTIONS),
            "procedure": _Object({"kind": _one_of(*_PROCEDURES), **_PROCEDURES.get(str(kind), {})}),
            "delta": _Leaf("a number with 0 < delta < 1", lambda value: _is_finite(value) and 0.0 < value < 1.0),
            "data": _Object({**_DATA, **by_class}),
            "outcome": _Object({**_OUTCOME, **({"mistakes_by_class": _COUNTS} if many else mistakes)}),
            "margins": _OrNull(_Object({"learned": _INTERVAL, "affine": _OrNull(_INTERVAL)})),
            "separability": _OrNull(_COMBINATION if combined else _VERDICT),
            "comparator": _OrNull(_VECTOR),
            "bounds": _ListOf(_BOUND),
            "excluded": _ListOf(_Object({"theorem": _TEXT, "reason": _TEXT})),
            "digest": _DIGEST,
        }
    ).check(record, "")
    if not record["rule"]["own"] and record["rule"]["name"] not in BUILT_IN:
        raise VerificationError(f"rule: this onlinear has no rule {record['rule']['name']!r:.100}")
    for name, part in {**(record["margins"] or {}), "separability": record["separability"]}.items():
        rows = None if part is None else part.get("support", part.get("rows"))
        if rows is not None and len(rows) != len(part["shares"]):
            raise VerificationError(f"{name} has {len(rows)} rows, but {len(part['shares'])} shares")


def _part(record: Any, name: str) -> dict[str, Any]:
    part = record.get(name) if isinstance(record, dict) else None
    return part if isinstance(part, dict) else {}


def _shown(value: Any) -> str:
    # Python does not write out integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > _MAX_SEED_BITS:
        return f"an integer of {value.bit_length():,} bits"
    return type(value).__name__ if isinstance(value, list | dict) else reprlib.repr(value)
