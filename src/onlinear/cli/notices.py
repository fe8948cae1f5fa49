"""Messages of the library while a command runs, on the standard error."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import TextIO

from onlinear.cli.output import visible
from onlinear.errors import DataWarning


class _Notices(logging.Handler):
    """Prints each message once: a rule is compiled in several parts."""

    def __init__(self) -> None:
        super().__init__()
        self._printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self._printed:
            self._printed.add(text)
            with contextlib.suppress(OSError):  # a closed standard error must not end what is logged
                _print(text)


@contextlib.contextmanager
def notices(*, quiet: bool) -> Iterator[None]:
    """Print what the library logs, unless `quiet`; print its warnings in one line."""
    log, handler = logging.getLogger("onlinear"), _Notices()
    level = log.level
    if not quiet:
        log.setLevel(logging.INFO)
        log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = _show_warning
            yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as the errors of a command are printed; the signature is Python's."""
    _print(f"onlinear: warning: {visible(str(message))}")


def _print(text: str) -> None:
    """Print a line above the progress bar, if there is one: click would print it into the bar."""
    sys.stderr.write(f"{text}\n")
