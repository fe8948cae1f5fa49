"""Compiled code on disk, in numba's own format, under a stamp of everything that it was compiled from."""

from __future__ import annotations

import hashlib
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
        self._cache_file = CacheFiles(self.cache_path, self._impl.filename_base, digest)


class CacheFiles(IndexDataCacheFile):
    """The files of one function: an index, and a file for each signature, which is named by it.

    numba numbers these files instead. Two processes that compile at the same time can take the same number, and the
    index of one then points to the code of the other. With names that follow from the signature the worst case is
    that one of two entries is lost from the index, and compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save the code of a signature, and enter it into the index."""
        name = self._data_name_pattern.replace("{number:d}", hashlib.sha256(repr(key).encode()).hexdigest()[:32])
        self._save_data(name, data)
        overloads = self._load_index()
        overloads[key] = name
        self._save_index(overloads)
