"""The record of the labels of a run as JSON, in the header of a model file; files without labels do not have it."""

from __future__ import annotations

import math
import reprlib
from typing import Any

import numpy as np

from onlinear.data.label_record import LAST_LABEL, LATEST, MAJORITY, MISTAKES, NOTICED, LabelRecord
from onlinear.data.order import MOST_CLASSES
from onlinear.errors import ModelError
from onlinear.models.state import sealed

_TALLIES = {
    "majority": MAJORITY,
    "last_label": LAST_LABEL,
    "mistakes": MISTAKES,
    "latest": LATEST,
    "noticed": NOTICED,
}
"""In the order of the tallies."""


def record_as_json(labels: LabelRecord | None) -> dict[str, Any]:
    """Return the key of the header that holds a record, with its value; nothing if there is no record."""
    if labels is None:
        return {}
    counts, pairs, tallies, checked, (past,) = (part.tolist() for part in labels)
    named = dict(zip(_TALLIES, tallies, strict=True))
    return {"labels": {"counts": counts, "pairs": pairs, **named, "checked": checked, "past": past}}


def json_as_record(found: Any, classes: int, rounds: int, mistakes: int) -> LabelRecord:
    """Return the record in the header of a run with these rounds and mistakes; raise if it cannot be one."""
    wanted = ["counts", "pairs", *_TALLIES, "checked", "past"]
    if not (isinstance(found, dict) and set(found) == set(wanted)):
        raise ModelError(f"labels is {reprlib.repr(found)}; it must have {', '.join(wanted)}")
    counts, pairs = found["counts"], found["pairs"]
    if not _are_counts(counts, classes, rounds):
        raise ModelError(f"labels: counts is {reprlib.repr(counts)}; it must have a count for each class")
    seen = sum(counts)
    if not 0 < seen <= rounds:
        raise ModelError(f"labels: counts has {seen:,} labels, but there were {rounds:,} rounds")
    limits = {**dict.fromkeys(_TALLIES, seen), "mistakes": min(seen, mistakes), "latest": classes - 1}
    for name, limit in limits.items():
        if not _is_count(found[name], limit):
            raise ModelError(f"labels: {name} is {reprlib.repr(found[name])}; it must be a count, at most {limit:,}")
    if pairs != []:
        _check_pairs(pairs, counts, found["last_label"])
    _check_past(found["checked"], found["past"], counts)
    square = np.array(pairs, dtype=np.int64).reshape(len(pairs), len(pairs))
    tallies = [found[name] for name in _TALLIES]
    arrays = [np.array(part, dtype=np.int64) for part in (counts, square, tallies, found["checked"])]
    record = LabelRecord(arrays[0], arrays[1], arrays[2], arrays[3], np.array([found["past"]]))
    for array in record:
        sealed(array)
    return record


def _check_pairs(pairs: Any, counts: list[int], changes: int) -> None:
    """Raise unless the pairs of neighbouring labels agree with the counts and with the number of changes."""
    k, seen = len(counts), sum(counts)
    square = isinstance(pairs, list) and len(pairs) == k <= MOST_CLASSES
    if not (square and all(_are_counts(row, k, seen) for row in pairs)):
        raise ModelError(f"labels: pairs is {reprlib.repr(pairs)}; it must be empty, or have a row for each class")
    same = sum(pairs[r][r] for r in range(k))
    if [sum(column) for column in zip(*pairs, strict=True)] != counts or seen - same != changes:
        raise ModelError("labels: pairs do not agree with counts, or with last_label")


def _check_past(checked: Any, past: Any, counts: list[int]) -> None:
    """Raise unless the counts at the last check of the order are no larger than those of now, and ln Q₂ is one."""
    known = _are_counts(checked, len(counts), sum(counts))
    if not (known and all(then <= now for then, now in zip(checked, counts, strict=True))):
        raise ModelError(f"labels: checked is {reprlib.repr(checked)}; it must have a count, at most that in counts")
    if not (type(past) is float and -math.inf < past <= 0.0):
        raise ModelError(f"labels: past is {reprlib.repr(past)}; it must be a number, at most 0")


def _is_count(value: Any, limit: int) -> bool:
    return type(value) is int and 0 <= value <= limit


def _are_counts(values: Any, n: int, limit: int) -> bool:
    return isinstance(values, list) and len(values) == n and all(_is_count(value, limit) for value in values)
