"""What happens to malformed lines."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self, TypeAlias

from onlinear.atomic import name_if_full
from onlinear.data.chunk import Fault
from onlinear.errors import DataError, ParameterError
from onlinear.spelling import option

OnError: TypeAlias = Literal["raise", "skip"]


class Quarantine:
    """Handles the faults found while reading: the first is raised, or all are counted and written to a file.

    The file has each line as it was, after a comment with its place and what is wrong. Reading the data again
    overwrites the file at the first fault.
    """

    def __init__(self, on_error: OnError, path: str | os.PathLike[str] | None = None) -> None:
        if on_error not in ("raise", "skip"):
            raise ParameterError(f'{option("on_error")} is {on_error!r}; it must be "raise" or "skip"')
        if path is not None and on_error == "raise":
            raise ParameterError(f"{option('quarantine')} needs {option('on_error', 'skip')}")
        self.skips = on_error == "skip"
        self.count = 0
        self._path = path
        self._file: BinaryIO | None = None

    def take(self, fault: Fault) -> None:
        """Raise a fault, or skip it."""
        if not self.skips:
            raise DataError(f"{fault.place}: {fault.reason}")
        self.count += 1
        if self._path is not None:
            if self._file is None:
                self._file = Path(self._path).open("wb")  # noqa: SIM115  # closed when the reading ends
            with name_if_full(self._path):
                self._file.write(f"# {fault.place}: {fault.reason}\n".encode(errors="replace") + fault.written + b"\n")

    def __enter__(self) -> Self:
        # An older file stays until there is a fault to write.
        self._close()
        self.count = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._file is not None and self._path is not None:
            file, self._file = self._file, None
            with name_if_full(self._path):
                file.close()
