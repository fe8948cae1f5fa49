"""Compiled code on disk, in numba's own format, under a stamp of everything that it was compiled from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


class SourceCache(FunctionCache):
    """numba's cache of a function, made stale by a new digest.

    numba looks at the file of the function alone: an edit of another file that the function is made of would go
    unnoticed, and the old code would run.
    """

    def __init__(self, function: Callable[..., Any], digest: str) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(self.cache_path, self._impl.filename_base, digest)
