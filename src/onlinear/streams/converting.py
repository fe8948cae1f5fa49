"""Writing streams to files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from onlinear.errors import ParameterError
from onlinear.streams.formats.libsvm import FORMAT as LIBSVM
from onlinear.streams.formats.packed import pack
from onlinear.streams.formats.text.libsvm_writing import write_libsvm
from onlinear.streams.stream import Stream

_PACKED = (".arrow", ".parquet")
_TEXT = (*LIBSVM.endings, ".txt")


def convert(stream: Stream, path: str | os.PathLike[str], *, progress: Callable[[int], None] | None = None) -> int:
    """Write a stream to a file, and return the number of its examples.

    The file appears under its name only when it is complete. Reading it gives the same examples in the same order, with
    the same values to the last bit.

    Parameters
    ----------
    stream : Stream
        What to convert; it is read once.
    path : path
        The file to write. Its ending is the format:

        - ``.arrow`` is fast to read, ``.parquet`` is smaller. Labels, classes, and the names of the features are kept.
        - ``.svm``, ``.libsvm``, ``.svmlight`` or ``.txt`` is libsvm text, for other programs; with ``.gz`` it is
          compressed. Labels must be numbers (False and True become 0 and 1), names of features are lost, and zeros of
          dense rows are left out. Indices start at 1, or at 0 where those of the stream do (``zero_based``). The number
          of features is kept: if no example has the last one, the last line gets it with the value 0.
    progress : callable
        Called from time to time with the number of examples written so far.
    """
    ending = Path(os.path.realpath(path)).suffix.lower()
    if ending in _PACKED:
        return pack(stream, path, progress=progress)
    if is_text(path):
        return write_libsvm(stream, path, progress)
    raise ParameterError(
        f"{os.fspath(path)} must end with {', '.join(_PACKED)}, or for libsvm text with {', '.join(_TEXT)}"
        " (compressed: .gz after it)"
    )


def is_text(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file of this name is written as text."""
    return os.fspath(path).lower().removesuffix(".gz").endswith(_TEXT)
