"""Which batches have been checked already: a file is checked once per process, while it is unchanged."""

from __future__ import annotations

import os
import time
from pathlib import Path

_SETTLED = 2.0
"""Seconds. Files changed more recently are not remembered: a second change might not show in the modification time."""
_MOST = 1000
"""How many files are remembered."""

_checked: dict[tuple[int, ...], set[int]] = {}


def checked_batches(name: str | os.PathLike[str]) -> set[int]:
    """Return the set of a file's batches that have been checked; the caller adds to it."""
    about = Path(name).stat()
    if time.time() - about.st_mtime < _SETTLED:
        return set()
    if len(_checked) >= _MOST:
        _checked.clear()
    return _checked.setdefault((about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns), set())
