"""Atomic writing: after a crash, a file is the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

_STALE_SECONDS = 3600.0
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
"""The errors of a write for which there is no room: they do not say to which file."""


def replace_file(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file's content atomically."""
    with open_replacement(path) as file:
        for chunk in chunks:
            file.write(chunk)


@contextlib.contextmanager
def open_replacement(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces the one at `path` when the block ends without an error.

    It is written under a temporary name in the same folder, synced and renamed; then the folder is synced. Links are
    followed; the permissions are those of any new file. Temporary files that killed writers of the same file left
    more than an hour ago are removed.
    """
    place = _place_of(path)
    # Not the name itself, which may be as long as the file system permits.
    stem = f".onlinear-{hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]}-"
    temporary = place.with_name(f"{stem}{secrets.token_hex(8)}.tmp")
    try:
        with name_if_full(path), temporary.open("xb") as file:
            _remove_stale(place.parent, stem, os.fstat(file.fileno()).st_mtime)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(place.parent)


@contextlib.contextmanager
def name_if_full(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name a file in the error that there is no room for it."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise an `OSError` if a file cannot be written at `path`, before work is done that it is to hold."""
    place = _place_of(path)
    trial = place.with_name(f".onlinear-{secrets.token_hex(8)}.tmp")
    try:
        with trial.open("xb"):
            pass
    except OSError as error:
        # Named for what the user knows of.
        raise OSError(error.errno, error.strerror, str(path)) from error
    trial.unlink()


def _place_of(path: str | os.PathLike[str]) -> Path:
    """Return where a file is written: links are followed, and only a file can be replaced."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():  # renaming would replace a device such as /dev/null
        code = errno.EISDIR if place.is_dir() else errno.EEXIST
        raise OSError(code, os.strerror(code), str(path))
    return place


def _remove_stale(folder: Path, stem: str, now: float) -> None:
    """Remove the temporary files of killed writers, whose names start with `stem`.

    Whether a writer is alive cannot be known: it may be on another machine or in another container, and not
    every file system has locks. But a writer at work changes its file all the time. If one was suspended for an
    hour, its renaming fails with an error, and the file at its path is still complete.
    `now` is the modification time of a new file in that folder, so that a server's clock is compared with itself.
    """
    pattern = re.compile(re.escape(stem) + r"[0-9a-f]{16}\.tmp")
    # Cleaning up is optional: a folder that cannot be listed, or a file that cannot be removed, is left alone.
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if pattern.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    if now - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                        Path(entry.path).unlink()


def _sync_folder(folder: Path) -> None:
    """Write the new name itself to the disk."""
    if os.name == "nt":  # there folders cannot be opened, and need not be
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EBADF, errno.EINVAL}:  # some file systems cannot sync a folder
            raise
    finally:
        os.close(handle)
