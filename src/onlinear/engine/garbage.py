"""Garbage collection, which waits while something is compiled."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Let no garbage be collected; for one thread at a time.

    Compiling makes millions of objects that stay, and going through them again and again takes a tenth of its time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
