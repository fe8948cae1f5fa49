"""The structure of a record: what each entry must be, checked before any work is done with it."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from onlinear.errors import VerificationError
from onlinear.models.header import difference, is_count
from onlinear.models.rule import MAJORITY
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


class _Values(NamedTuple):
    """A list of single values."""

    demand: str
    fits: Callable[[Any], bool]

    def check(self, value: Any, place: str) -> None:
        if not isinstance(value, list):
            raise VerificationError(f"{place} is {_shown(value)}; it must be {self.demand}")
        if not all(map(self.fits, value)):
            k, one = next((k, one) for k, one in enumerate(value) if not self.fits(one))
            raise VerificationError(f"{place}[{k}] is {_shown(one)}; {place} must be {self.demand}")


class _Rows(NamedTuple):
    """The numbers of rows, at least one, all different."""

    numbers: _Schema

    def check(self, value: Any, place: str) -> None:
        self.numbers.check(value, place)
        if not value:
            raise VerificationError(f"{place} has no row; it must have at least one")
        seen: set[int] = set()
        for k, row in enumerate(value):
            if row in seen:
                raise VerificationError(f"{place}[{k}] is row {row} again; the rows must be all different")
            seen.add(row)


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
    return isinstance(value, dict) and all(_is_name(name) and _is_number(one) for name, one in value.items())


def _are_parameters(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_name(name) and _is_parameter(one) for name, one in value.items())


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_parameter(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < _MAX_DIMENSIONS and all(_is_parameter(one, depth + 1) for one in value)
    return value is None or type(value) in {str, bool} or _is_finite(value) or _is_integer(value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and value.bit_length() <= _MAX_SEED_BITS


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def _is_delta(value: Any) -> bool:
    return _is_finite(value) and 0.0 < value < 1.0


def _is_share(value: Any) -> bool:
    return isinstance(value, str) and _SHARE.fullmatch(value) is not None


def _one_of(*values: Any) -> _Leaf:
    listed = " or ".join(map(repr, values))
    return _Leaf(listed, lambda value: any(type(value) is type(one) and value == one for one in values))


_BOOL = _Leaf("true or false", lambda value: type(value) is bool)
_TEXT = _Leaf("a string", _is_string)
# What is printed at the beginning of a line must not be able to pass for a line of its own.
_PRINTABLE = _Leaf("a string without control characters", lambda value: isinstance(value, str) and value.isprintable())
_COUNT = _Leaf("a count, at most 2^62", is_count)
_POSITIVE = _Leaf("a count from 1 to 2^62", lambda value: is_count(value) and value > 0)
_COUNTS = _Values("a list of counts", is_count)
_FLOAT = _Leaf("a finite number, written as a float", _is_finite)
_NUMBER = _Leaf("a count or a finite float", _is_number)
_VECTOR = _Values("a list of finite floats", _is_finite)
_ROWS = _Rows(_Values("a list of the numbers of rows", is_count))
_DELTA = _Leaf("a number with 0 < delta < 1", _is_delta)
_DIGEST = _Leaf("64 hexadecimal digits", _is_sha256)

_RULE = _Object(
    {
        "name": _PRINTABLE,
        "own": _BOOL,
        "parameters": _Leaf("an object of numbers, strings and lists of them", _are_parameters),
    }
)
_MAJORITY = _Object(
    {
        "name": _one_of(MAJORITY),
        "own": _one_of(False),
        "parameters": _Leaf("an empty object", lambda value: value == {}),
        "vote": _RULE,
        "members": _ListOf(_Object({"rule": _RULE, "fit_intercept": _BOOL, "normalize": _BOOL})),
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
        "shares": _Values("a list of fractions of whole numbers above 0, in base 16, such as '1/4'", _is_share),
    }
)
_BOUND = _Object(
    {
        **dict.fromkeys(("theorem", "of"), _PRINTABLE),
        "note": _TEXT,
        **dict.fromkeys(("actual", "value"), _NUMBER),
        **dict.fromkeys(("strict", "chance"), _BOOL),
        **dict.fromkeys(("checked", "declared"), _Values("a list of strings", _is_string)),
        "quantities": _Leaf("an object of numbers", _are_numbers),
    }
)


def check_structure(record: Any) -> None:
    """Raise a `VerificationError` unless a record has exactly the entries of a certificate, each of the right kind."""
    options, procedure, verdict = (_part(record, name) for name in ("options", "procedure", "separability"))
    many = "multiclass" in options
    by_class: dict[str, _Schema] = {"by_class": _COUNTS} if many else {"positive": _COUNT}
    mistakes: dict[str, _Schema] = dict.fromkeys(("mistakes_positive", "mistakes_negative"), _COUNT)
    kind, votes = procedure.get("kind"), "members" in _part(record, "rule")
    mistakes = {"mistakes_by_class": _COUNTS} if many else mistakes
    members: dict[str, _Schema] = {"member_mistakes": _COUNTS} if votes else {}
    combined = "rows" in verdict
    _Object(
        {
            "certificate": _one_of(VERSION),
            "rule": _MAJORITY if votes else _RULE,
            "options": _Object({**_OPTIONS, "multiclass": _one_of(True)} if many else _OPTIONS),
            "procedure": _Object({"kind": _one_of(*_PROCEDURES), **_PROCEDURES.get(str(kind), {})}),
            "delta": _DELTA,
            "data": _Object({**_DATA, **by_class}),
            "outcome": _Object({**_OUTCOME, **mistakes, **members}),
            "margins": _OrNull(_Object({"learned": _INTERVAL, "affine": _OrNull(_INTERVAL)})),
            "separability": _OrNull(_COMBINATION if combined else _VERDICT),
            "comparator": _OrNull(_VECTOR),
            "bounds": _ListOf(_BOUND),
            "excluded": _ListOf(_Object({"theorem": _PRINTABLE, "reason": _TEXT})),
            "digest": _DIGEST,
        }
    ).check(record, "")
    for rule in rules_in(record):
        if not rule["own"] and rule["name"] not in BUILT_IN:
            raise VerificationError(f"rule: this onlinear has no rule {rule['name']!r:.100}")
    if votes and len(record["outcome"]["member_mistakes"]) != len(record["rule"]["members"]):
        raise VerificationError("outcome.member_mistakes must have a count for each member")
    for k, entry in enumerate(record["bounds"]):
        if entry["chance"]:
            _DELTA.check(entry["quantities"].get("delta"), f"bounds[{k}].quantities.delta")
    _check_witnesses(record)


def rules_in(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the recorded rule or, of a majority, those that it is made of."""
    rule = record["rule"]
    return [rule["vote"], *(member["rule"] for member in rule["members"])] if "members" in rule else [rule]


def _check_witnesses(record: dict[str, Any]) -> None:
    """Raise unless the witnesses of a record fit the sizes that it states."""
    options, data = record["options"], record["data"]
    pairs = len(options["classes"]) - 1 if "multiclass" in options else 0
    size, rows = (pairs + 1) * (data["features"] + options["fit_intercept"]), max(1, pairs) * data["rows"]
    intervals = {f"margins.{name}": part for name, part in (record["margins"] or {}).items() if part is not None}
    vectors = {f"{name}.weights": part["weights"] for name, part in intervals.items()}
    for name, vector in {**vectors, "comparator": record["comparator"]}.items():
        if vector is not None and len(vector) != size:
            raise VerificationError(f"{name} has {len(vector):,} entries; it must have {size:,}")
    for name, part in {**intervals, "separability": record["separability"] or {}}.items():
        chosen = part.get("support", part.get("rows", []))
        if len(chosen) != len(part.get("shares", [])):
            raise VerificationError(f"{name} has {len(chosen)} rows, but {len(part['shares'])} shares")
        if max(chosen, default=0) >= rows:
            raise VerificationError(f"{name}: there are {rows:,} rows; row {max(chosen)} is not among them")


def _part(record: Any, name: str) -> dict[str, Any]:
    part = record.get(name) if isinstance(record, dict) else None
    return part if isinstance(part, dict) else {}


def _shown(value: Any) -> str:
    # Python does not write out integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > _MAX_SEED_BITS:
        return f"an integer of {value.bit_length():,} bits"
    return type(value).__name__ if isinstance(value, list | dict) else reprlib.repr(value)
