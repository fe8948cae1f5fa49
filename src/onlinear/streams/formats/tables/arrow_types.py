"""Arrow types: the kind of column for each, and conversion to that kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.errors import DataError
from onlinear.spelling import advice
from onlinear.streams.reading import ColumnKind

_READ_AS = {"number": "numbers", "category": "categories", "text": "text"}


def kind_of(column: str, kind: Any, where: str) -> ColumnKind:
    """Return the kind of a column by its Arrow type."""
    from pyarrow import types

    if _is_number(kind) or types.is_null(kind):
        return "number"
    if _is_string(kind) or (types.is_dictionary(kind) and _is_plain(kind.value_type)):
        return "category"
    remedy = advice(("; leave it out ({})", "drop", None))
    raise DataError("".join([f"{where}: column {column!r} has type {kind}, which cannot be a feature", *remedy]))


def check_type(column: str, kind: Any, wanted: ColumnKind, where: str) -> None:
    """Raise where a column's Arrow type does not match the kind it is read as."""
    from pyarrow import types

    fits = types.is_null(kind)
    if wanted == "number":
        fits = fits or _is_number(kind)
    else:
        strings = _is_string(kind) or (types.is_dictionary(kind) and _is_plain(kind.value_type))
        fits = fits or strings or (wanted == "category" and types.is_integer(kind))
    if not fits:
        raise DataError(f"{where}: column {column!r} has type {kind}, but is read as {_READ_AS[wanted]}")


def check_label_type(column: str, kind: Any, wanted: ColumnKind | None, where: str) -> None:
    """Raise where a column cannot hold labels; or holds numbers, where the known labels are text."""
    from pyarrow import types

    value = kind.value_type if types.is_dictionary(kind) else kind
    if not _is_plain(value):
        raise DataError(f"{where}: the labels in column {column!r} have type {kind}; they must be numbers or strings")
    if wanted == "category" and _is_number(value) and not types.is_boolean(value):
        raise DataError(f"{where}: the labels in column {column!r} have type {kind}, but the known labels are text")


def as_kind(column: Any, kind: ColumnKind) -> Any:
    """Return a column as float64, as strings, or as a dictionary of strings."""
    import pyarrow as pa

    if kind == "number":
        if pa.types.is_decimal(column.type):
            # Converted by way of its digits, so that it is rounded once.
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
    # The view of a null may be arbitrary, and Arrow's conversion would follow it: make it empty.
    valid, views, *rest = column.buffers()
    clean = np.frombuffer(views, dtype=np.uint8).reshape(-1, 16).copy()
    clean[column.offset : column.offset + len(column)][column.is_null().to_numpy(zero_copy_only=False)] = 0
    buffers = [valid, pa.py_buffer(clean), *rest]
    return pa.Array.from_buffers(column.type, len(column), buffers, offset=column.offset).cast(pa.string())


def as_bytes(column: Any) -> Any:
    """Return strings, or a dictionary of them, as bytes, which need not be UTF-8; any other column as it is."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, as_bytes(column.dictionary))
    bytes_of = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return column.view(bytes_of[column.type]) if column.type in bytes_of else column


def label_values(column: Any) -> Any:
    """Return a column as labels: integers, floats, booleans or strings."""
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
