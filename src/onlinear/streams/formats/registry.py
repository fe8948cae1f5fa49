"""The formats that can be read. To add one, write a module with a `FORMAT` and list it here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from onlinear.errors import ParameterError

if TYPE_CHECKING:  # the names alone are for `--help`, which loads nothing heavy
    from onlinear.streams.formats.format import Format

FORMATS = {
    "libsvm": "onlinear.streams.formats.libsvm",
    "csv": "onlinear.streams.formats.tables.csv_files",
    "parquet": "onlinear.streams.formats.tables.parquet_files",
    "arrow": "onlinear.streams.formats.tables.arrow_files",
    "npy": "onlinear.streams.formats.arrays.npy_files",
    "npz": "onlinear.streams.formats.arrays.npz_files",
    "converted": "onlinear.streams.formats.packed.reader",
}
"""The module of each format."""


def get_format(name: str) -> Format:
    """Return a format by name."""
    if name not in FORMATS:
        raise ParameterError(f"format is {name!r}; it must be one of {list(FORMATS)}")
    entry: Format = importlib.import_module(FORMATS[name]).FORMAT
    return entry


def all_formats() -> list[Format]:
    """Return all formats."""
    return [get_format(name) for name in FORMATS]
