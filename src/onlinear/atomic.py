"""A file that is there as a whole or not at all, whenever the power fails."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

_STALE_SECONDS = 3600.0


def replace_file(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file's content: until all of it is on the disk, what was there before stays.

    It is written beside its place under a name of its own, synced, renamed, and the folder is synced. A
    link is followed; the permissions are those of any new file. What killed writers of the same file have left
    for an hour is removed.

    Parameters
    ----------
    path : path
        Where; a regular file, or nothing yet.
    chunks : iterable of bytes or memoryviews
        What; it is written from where it is.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():  # renaming would take the place of a device such as /dev/null
        code = errno.EISDIR if place.is_dir() else errno.EEXIST
        raise OSError(code, os.strerror(code), str(path))
    # Not the name itself: that may be as long as names can be.
    stem = f".onlinear-{hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]}-"
    temporary = place.with_name(f"{stem}{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            _remove_stale(place.parent, stem, os.fstat(file.fileno()).st_mtime)
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(place.parent)


def _remove_stale(folder: Path, stem: str, now: float) -> None:
    """Remove what writers that were killed have left under names that begin with `stem`.

    Whether a writer lives cannot be told for sure: it may be on another machine or in another container, and not
    every file system has locks. But one at work changes its file all the time, and is done in seconds; if it was
    suspended for an hour, its renaming fails with an error, and the file in its place is whole all the same.
    `now` is when a file was made just now in that folder, so a server's clock is compared with itself.
    """
    pattern = re.compile(re.escape(stem) + r"[0-9a-f]{16}\.tmp")
    # Not what the caller is here for: a folder that cannot be listed, or a file that cannot be removed, is left alone.
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if pattern.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    if now - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                        Path(entry.path).unlink()


def _sync_folder(folder: Path) -> None:
    """Put the new name itself on the disk."""
    if os.name == "nt":  # there a folder cannot be opened, nor need it be
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EBADF, errno.EINVAL}:  # some file systems cannot sync a folder
            raise
    finally:
        os.close(handle)
