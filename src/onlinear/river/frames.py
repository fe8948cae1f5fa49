"""Conversion of pandas and polars frames to arrays, and of results back to series."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.errors import DataError
from onlinear.river.values import as_floats, fault, refusal

_NUMBERS = "fiub"
"""The kinds of NumPy types that hold numbers."""


class NamedTable:
    """The columns of a frame by name, and its values as numbers."""

    def __init__(self, X: Any) -> None:
        if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
            raise DataError(f"X is {type(X).__name__}; it must be a pandas or polars frame with a column per feature")
        self.native = X
        self.names = list(X.columns)
        self.n = len(X)
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise DataError(f"feature {twice!r}: two columns have this name; names must be distinct")

    def values(self) -> Floats:
        """Return the values in float64, with a row per example."""
        # polars would convert dates and times to numbers silently.
        if not any(dtype.is_temporal() for dtype in getattr(self.native, "schema", {}).values()):
            values = self.native.to_numpy()
            if values.dtype.kind in _NUMBERS:
                return np.asarray(values, dtype=np.float64)
        columns = [_column(self.native[name].to_numpy(), name) for name in self.names]
        return np.column_stack(columns).astype(np.float64)

    def series(self, values: list[Any]) -> Any:
        """Return a series of the same library, with a value per row."""
        homes = (cls.__module__.partition(".")[0] for cls in type(self.native).__mro__)
        library = importlib.import_module(next(home for home in homes if home in {"pandas", "polars"}))
        if not hasattr(self.native, "index"):
            return library.Series(values)
        empty = {"dtype": object} if all(value is None for value in values) else {}
        return library.Series(values, index=self.native.index, **empty)


def _column(values: NDArray[Any], name: Any) -> NDArray[Any]:
    """Return a column as numbers; objects are converted one by one."""
    if values.dtype.kind in _NUMBERS:
        return values
    cells = values.tolist() if values.dtype.kind == "O" else list(values)
    try:
        return np.asarray(as_floats(cells))
    except (TypeError, ValueError, OverflowError):
        i = next(i for i, cell in enumerate(cells) if fault(cell, "real") is not None)
        raise refusal({name: cells[i]}, f"row {i}, ") from None
