"""Labels and notes as JSON."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.labels import checked_labels
from onlinear.errors import ModelError, ParameterError
from onlinear.models.tensors import without_duplicates

_NUMBERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"}
_TYPES = _NUMBERS | {"str", "bool"}
_MAX_DEPTH = 100
"""A limit on nesting: a reader of the file may be deep in calls."""


def labels_as_json(classes: NDArray[Any]) -> dict[str, Any]:
    """Return labels with their type."""
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind not in _TYPES:
        raise ParameterError(f"labels of type {classes.dtype} cannot be saved; use numbers or strings")
    return {"dtype": kind, "labels": classes.tolist()}


def json_as_labels(described: Any) -> NDArray[Any]:
    """Return labels in the type that they had."""
    match described:
        case {"dtype": str(kind), "labels": [_, *_] as labels} if len(described) == 2:
            wanted = {"s": str, "b": bool, "f": float}.get(kind[:1], int)
            if kind in _TYPES and all(type(label) is wanted for label in labels):
                try:
                    with np.errstate(over="ignore"):
                        return checked_labels(np.array(labels, dtype=kind))
                except (OverflowError, ValueError) as error:
                    raise ModelError(f"its labels are out of range: {error}") from error
    raise ModelError(f"classes is {reprlib.repr(described)}; it must have the labels and their type")


def plain_json(name: str, value: Mapping[str, Any] | None) -> Any:
    """Return a mapping as JSON would give it back."""
    if value is None:
        return None
    try:
        plain = json.loads(json.dumps(dict(value), allow_nan=False), object_pairs_hook=without_duplicates)
        depth = _depth(plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"{name} cannot be converted to JSON: {error}") from error
    if depth > _MAX_DEPTH:
        raise ParameterError(f"{name} is nested {depth} levels deep; a model file allows {_MAX_DEPTH}")
    return plain


def _depth(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, parts), default=0)
