"""Atomic writes: a file is replaced completely or not at all, even if the power fails."""

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
    """Replace a file atomically: until the new content is on the disk, the old file stays.

    The content is written to a temporary file in the same folder, which is synced and renamed; then the folder is
    synced. Symbolic links are followed; the permissions are those of a new file. Temporary files that killed writers of
    the same file left more than an hour ago are removed.

    Parameters
    ----------
    path : path
        A regular file, or a path that does not exist yet.
    chunks : iterable of bytes or memoryviews
        The content, written without copying.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():  # renaming would replace a device such as /dev/null
        code = errno.EISDIR if place.is_dir() else errno.EEXIST
        raise OSError(code, os.strerror(code), str(path))
    # Not the name itself, which may already have the maximum length.
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
    """Remove the temporary files of killed writers, whose names start with `stem`.

    Whether a writer is still running cannot be known: it may be on another machine or in another container, and not
    every file system has locks. But a running writer changes its file all the time and finishes within seconds; if it
    was suspended for an hour, its rename fails with an error, and the target is intact. `now` is the time of a file
    just created in that folder, so that the clock of a file server is compared with itself.
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
    """Sync the folder, so that the new name is on the disk."""
    if os.name == "nt":  # folders cannot be opened there, and need not be
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EBADF, errno.EINVAL}:  # some file systems cannot sync a folder
            raise
    finally:
        os.close(handle)
