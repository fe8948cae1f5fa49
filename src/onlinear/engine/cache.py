"""Compiled code on disk: a file for each signature of a function, verified before anything in it is loaded."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from onlinear.atomic import replace_file

_DIGEST_BYTES = 32
_unkept = threading.Event()
"""Set once compiled code could not be kept: what holds for one function holds for all."""
_INSIDE = tuple(f"{folder}{os.sep}" for folder in (Path(__file__).parents[1], Path(numba.__file__).parent))


class CodeFiles:
    """Files of bytes, by key. What is damaged, or was written under another stamp, counts as absent.

    A file starts with a SHA-256 over the stamp, the key and the content. Its name follows from the key, so there is no
    index that two processes could change at the same time, and a new stamp replaces the file of an old one. Files
    appear complete or not at all.
    """

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self._folder, self._name, self._stamp = folder, name, stamp

    def path(self, key: str) -> Path:
        """Return the file of a key."""
        return self._folder / f"{self._name}.{hashlib.sha256(key.encode()).hexdigest()[:32]}.code"

    def load(self, key: str) -> bytes | None:
        """Return the content for a key; None if there is none, or if the file is not as it was written."""
        try:
            found = self.path(key).read_bytes()
        except OSError:
            return None
        content = found[_DIGEST_BYTES:]
        return content if found[:_DIGEST_BYTES] == self._digest(key, content) else None

    def save(self, key: str, content: bytes) -> None:
        """Write the content for a key."""
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.path(key), [self._digest(key, content), content])

    def _digest(self, key: str, content: bytes) -> bytes:
        digest = hashlib.sha256(repr((self._stamp, key)).encode())
        digest.update(content)
        return digest.digest()


class CodeCache:
    """The cache of a function, with the methods that numba's dispatcher calls.

    numba's own cache trusts its files: damaged ones end in exceptions or in a crash, again in each process. It also
    looks at the file of the function alone: after an edit of another file that the function is made of, the old code
    would run.

    Parameters
    ----------
    function : function
        What is compiled.
    digest : str
        Identifies everything that the function is compiled from.
    announce : callable
        Called with a signature that is not in the cache, before it is compiled, and with whether it will be kept.
    """

    def __init__(self, function: Callable[..., Any], digest: str, announce: Callable[[Any, bool], None]) -> None:
        self._announce = announce
        self._numba: Any = None  # what knows the folder, and how code becomes data; None: there is no folder
        self.cache_path: str | None = None
        try:
            self._numba = FunctionCache(function)
        except (RuntimeError, OSError):  # numba does not try whether it can write for code from a zip file
            beside = Path(function.__code__.co_filename).parent / "__pycache__"
            _warn_once(numba.config.CACHE_DIR or beside, "no folder for it can be written")
            return
        self.cache_path = self._numba.cache_path
        stamp = f"{numba.__version__} {digest}"
        self._files = CodeFiles(Path(self._numba.cache_path), self._numba._impl.filename_base, stamp)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled code for a signature; None if it has to be compiled."""
        context.refresh()  # as numba's cache does
        code = None if self._numba is None else self._load(signature, context)
        if code is None:
            self._announce(signature, not _unkept.is_set())
        return code

    def _load(self, signature: Any, context: Any) -> Any:
        content = self._files.load(self._key(signature, context.codegen()))
        if content is None:
            return None
        try:
            return self._numba._impl.rebuild(context, pickle.loads(content))  # noqa: S301  # verified
        except Exception:  # noqa: BLE001  # whatever keeps code from being loaded, it can be compiled
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep compiled code; where that is not possible, say so."""
        if self._numba is None or not self._numba._impl.check_cachable(code):
            return
        try:
            self._files.save(self._key(signature, code.codegen), dumps(self._numba._impl.reduce(code)))
        except OSError as error:
            _warn_once(self._numba.cache_path, error.strerror or str(error))

    def _key(self, signature: Any, codegen: Any) -> str:
        return repr(self._numba._index_key(signature, codegen))


def _warn_once(folder: Path | str, reason: str) -> None:
    """Warn that compiled code cannot be kept: once, at the line that called this library."""
    if _unkept.is_set():
        return
    _unkept.set()
    frames = enumerate(traceback.walk_stack(inspect.currentframe()), start=1)
    outside = (level for level, (frame, _) in frames if not frame.f_code.co_filename.startswith(_INSIDE))
    warnings.warn(
        f"compiled code cannot be kept in {folder} ({reason}); every process compiles it anew. Set the environment"
        " variable NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=next(outside, 1),
    )
