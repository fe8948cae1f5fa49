"""Text in the columns of a frame, which is no matrix of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from onlinear.errors import DataError


def check_no_text(X: Any) -> None:
    """Raise for a string in a pandas, polars or Arrow table that is given as a matrix."""
    for name, values in _columns_of_objects(X):
        for row, value in enumerate(values):
            if isinstance(value, str):
                raise DataError(
                    f"row {row}, column {name!r}: {value[:40]!r} is not a number; open_stream(table, label=...) turns"
                    " text and categories into features, with the labels in a column of the table"
                )


def _columns_of_objects(X: Any) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Yield the columns of a table that need not be numbers."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and hasattr(X, "items") and hasattr(X, "columns"):
        yield from ((name, column) for name, column in X.items() if column.dtype.kind not in "fiub")
    elif library == "polars" and hasattr(X, "iter_columns"):
        yield from ((column.name, column) for column in X.iter_columns() if not column.dtype.is_numeric())
    elif library == "pyarrow" and hasattr(X, "column_names"):
        from pyarrow import types

        for name, column in zip(X.column_names, X.columns, strict=True):
            if not types.is_primitive(column.type):
                yield name, (value.as_py() for value in column)
