"""Labelled examples from files and objects, read in chunks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlinear.data.chunk import Chunk
    from onlinear.streams.formats.packed import pack
    from onlinear.streams.open import open_stream
    from onlinear.streams.reading import Reading
    from onlinear.streams.stream import Stream

__all__ = ["Chunk", "Reading", "Stream", "open_stream", "pack"]

_HOMES = {
    "Chunk": "onlinear.data.chunk",
    "Reading": "onlinear.streams.reading",
    "Stream": "onlinear.streams.stream",
    "open_stream": "onlinear.streams.open",
    "pack": "onlinear.streams.formats.packed",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line's help needs only the names of the formats."""
    if name not in _HOMES:
        raise AttributeError(f"module 'onlinear.streams' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
