"""Arrow's types: what kind of column each makes, and its values as that kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.errors import DataError
from onlinear.streams.reading import Kind

_READ_AS = {"number": "numbers", "category": "categories", "text": "text"}


def guessed(column: str, kind: Any, where: str) -> Kind:
    """Return what kind of column an Arrow type makes."""
    from pyarrow import types

    if _is_number(kind) or types.is_null(kind):
        return "number"
    if _is_string(kind) or (types.is_dictionary(kind) and _is_plain(kind.value_type)):
        return "category"
    raise DataError(
        f"{where}: no feature can be made of column {column!r}, which is of type {kind}; leave it out (--drop, drop=)"
    )


def fit(column: str, kind: Any, wanted: Kind, where: str) -> None:
    """Raise where a column's Arrow type is not what it is to be read as."""
    from pyarrow import types

    fits = types.is_null(kind)
    if wanted == "number":
        fits = fits or _is_number(kind)
    else:
        strings = _is_string(kind) or (types.is_dictionary(kind) and _is_plain(kind.value_type))
        fits = fits or strings or (wanted == "category" and types.is_integer(kind))
    if not fits:
        raise DataError(f"{where}: column {column!r} is of type {kind}, but is read as {_READ_AS[wanted]}")


def fit_label(column: str, kind: Any, wanted: Kind | None, where: str) -> None:
    """Raise where a column's Arrow type is none for labels; or one of numbers, where those that are known are text."""
    from pyarrow import types

    value = kind.value_type if types.is_dictionary(kind) else kind
    if not _is_plain(value):
        raise DataError(f"{where}: the labels in column {column!r} are of type {kind}; they must be numbers or strings")
    if wanted == "category" and _is_number(value) and not types.is_boolean(value):
        raise DataError(
            f"{where}: the labels in column {column!r} are of type {kind}, but those that are known are text"
        )


def as_kind(column: Any, kind: Kind) -> Any:
    """Return a column as float64, as strings, or as a dictionary of strings."""
    import pyarrow as pa

    if kind == "number":
        if pa.types.is_decimal(column.type):
            # By way of its digits, it is rounded once.
            column = column.cast(pa.string())
        return column.cast(pa.float64(), safe=False)
    if not pa.types.is_dictionary(column.type):
        return _strings(column)
    return pa.DictionaryArray.from_arrays(column.indices, _strings(column.dictionary))


def _strings(column: Any) -> Any:
    """Return a column of any type as strings."""
    import pyarrow as pa

    if not pa.types.is_string_view(column.type) or not column.null_count:
        return column.cast(pa.string())
    # Behind a null there may be anything, and Arrow's conversion of views would follow it: so it is made an empty one.
    valid, views, *rest = column.buffers()
    clean = np.frombuffer(views, dtype=np.uint8).reshape(-1, 16).copy()
    clean[column.offset : column.offset + len(column)][column.is_null().to_numpy(zero_copy_only=False)] = 0
    buffers = [valid, pa.py_buffer(clean), *rest]
    return pa.Array.from_buffers(column.type, len(column), buffers, offset=column.offset).cast(pa.string())


def as_labels(column: Any) -> Any:
    """Return a column as labels: integers, floats, truth values or strings."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string()).cast(pa.float64())
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = _strings(column)
    return column.cast(pa.float64()) if pa.types.is_float16(column.type) else column


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean))


def _is_string(kind: Any) -> bool:
    from pyarrow import types

    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view))


def _is_plain(kind: Any) -> bool:
    return _is_number(kind) or _is_string(kind)
