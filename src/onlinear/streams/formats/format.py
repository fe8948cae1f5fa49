"""A file format as the registry describes it, and what its reader is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onlinear.errors import DataError, ParameterError
from onlinear.spelling import option
from onlinear.streams.files import Pipe
from onlinear.streams.reader import Reader
from onlinear.streams.reading import ColumnKind, Reading


@dataclass(frozen=True)
class Request:
    """What a reader is asked for.

    `y` holds separate labels, or the path of a ``.npy`` file with them; `names` are the features of the model that
    reads further data; `label_kind` is the kind of the labels where they were declared; `labelled` tells whether
    labels are needed; `required` are columns whose kind the caller has given, so that they must be there.
    """

    reading: Reading
    max_features: int
    y: Any = None
    labelled: bool = True
    names: tuple[str, ...] | None = None
    label_kind: ColumnKind | None = None
    required: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """A file format: how to recognise it, which options apply to it, and how to open it.

    A file is recognised by its first bytes (`magic`), then by its name (`endings`), then by its first line
    (`first_line`). A format with `carriers` is a special form of these formats; `is_carried` tells whether a file
    has this form.
    """

    name: str
    reader: Callable[[list[str], Request], Reader]
    magic: tuple[bytes, ...] = ()
    endings: tuple[str, ...] = ()
    first_line: Callable[[bytes], bool] | None = None
    carriers: tuple[str, ...] = ()
    is_carried: Callable[[str], bool] | None = None
    options: frozenset[str] = frozenset()
    """The options of `Reading` that apply."""
    piped: bool = True
    """Whether it can be read from a pipe, from start to end."""
    separate_labels: bool = False
    """Whether labels may be given separately (``y=``, ``--labels``)."""
    records_reading: bool = False
    """Whether a file says how its examples were read, whatever is asked for."""

    def open(self, files: list[str], request: Request) -> Reader:
        """Return a reader of some files."""
        pipe = next((name for name in files if isinstance(name, Pipe)), None)
        if pipe is not None and not self.piped:
            raise DataError(f"{self.name} files cannot be read from {pipe.in_words}; give a file name")
        if request.y is not None and not self.separate_labels:
            raise ParameterError(
                f"separate labels ({option('y')}) do not apply to {self.name} files, which contain their labels"
            )
        if request.reading.encode == "hash" and "encode" not in self.options and not self.records_reading:
            raise DataError(f"the model's features are hashed names, and {self.name} files have no names; give a table")
        return self.reader(files, request)
