"""A file that is there as a whole or not at all, whenever the power fails."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def replace_file(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file's content: until all of it is on the disk, what was there before stays.

    It is written beside its place under a name of its own, synced, renamed, and the folder is synced. A
    link is followed; the permissions are those of any new file.

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
    temporary = place.with_name(f".onlinear-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(place.parent)


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
