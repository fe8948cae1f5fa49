"""Compiled code on disk, in numba's own format, under a stamp of everything that it was compiled from."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


def cache_of(function: Callable[..., Any], digest: str) -> Any:
    """Return numba's cache of a function, made stale by a new digest.

    numba looks at the file of the function alone: an edit of another file that the function is made of would go
    unnoticed, and the old code would run.
    """
    cache = FunctionCache(function)
    cache._cache_file = cache_files(cache.cache_path, cache._impl.filename_base, digest)
    return cache


def cache_files(folder: str, name: str, digest: str) -> Any:
    """Return the files of one function: an index, and a file for each signature, which is named by it.

    numba numbers these files instead. Two processes that compile at the same time can take the same number, and the
    index of one then points to the code of the other. With names that follow from the signature the worst case is
    that one of two entries is lost from the index, and compiled again.
    """
    files = IndexDataCacheFile(folder, name, digest)
    files.save = functools.partial(_save, files)
    return files


def _save(files: Any, key: Any, data: Any) -> None:
    """Save the code of a signature, and enter it into the index."""
    name = files._data_name_pattern.replace("{number:d}", hashlib.sha256(repr(key).encode()).hexdigest()[:32])
    files._save_data(name, data)
    overloads = files._load_index()
    overloads[key] = name
    files._save_index(overloads)
