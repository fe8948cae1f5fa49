"""What has been checked already: a file that is read again and again is summed up once, while it is unchanged."""

from __future__ import annotations

import os
import time
from pathlib import Path

_SETTLED = 2.0
"""Seconds. A file may change twice within what its time can tell: nothing is remembered of one that is younger."""
_MOST = 1000
"""So many files are remembered."""

_checked: dict[tuple[int, ...], set[int]] = {}


def checked_before(name: str | os.PathLike[str]) -> set[int]:
    """Return the numbers of a file's batches that have been checked; the caller adds to them."""
    about = Path(name).stat()
    if time.time() - about.st_mtime < _SETTLED:
        return set()
    if len(_checked) >= _MOST:
        _checked.clear()
    return _checked.setdefault((about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns), set())
