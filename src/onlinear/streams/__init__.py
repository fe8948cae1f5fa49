"""Labelled examples from files and objects, read in chunks."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlinear.data.chunk import Chunk
    from onlinear.streams.converting import convert
    from onlinear.streams.open import open_stream
    from onlinear.streams.reading import Reading
    from onlinear.streams.stream import Stream

__all__ = ["Chunk", "Reading", "Stream", "convert", "open_stream"]

_HOMES = {
    "Chunk": "onlinear.data.chunk",
    "Reading": "onlinear.streams.reading",
    "Stream": "onlinear.streams.stream",
    "convert": "onlinear.streams.converting",
    "open_stream": "onlinear.streams.open",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line's help needs only the names of the formats."""
    if name == "pack":
        warnings.warn("onlinear.streams.pack is now convert", DeprecationWarning, stacklevel=2)
        name = "convert"
    if name not in _HOMES:
        raise AttributeError(f"module 'onlinear.streams' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
