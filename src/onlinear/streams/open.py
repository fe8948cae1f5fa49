"""`open_stream`: from a path or an object to a stream."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from onlinear.data.labels import checked_labels
from onlinear.errors import DataError, EmptyFileError, ParameterError
from onlinear.spelling import option
from onlinear.streams.files import Pipe, display_name, find_files, read_beginning
from onlinear.streams.formats.arrays import BlocksReader, MatrixReader
from onlinear.streams.formats.format import Format, Request
from onlinear.streams.formats.registry import all_formats, get_format
from onlinear.streams.formats.tables import TABLE_OPTIONS, open_frame
from onlinear.streams.quarantine import OnError, Quarantine
from onlinear.streams.reader import Reader
from onlinear.streams.reading import ColumnKind, Reading, without_blanks
from onlinear.streams.stream import MAX_FEATURES, Stream

_TABLES = "tables in memory"
_COMPRESSED = {".gz", ".zst", ".bz2", ".xz"}
_SAMPLE = 1 << 16
"""How many bytes a format is guessed from."""


def open_stream(
    data: Any,
    y: Any = None,
    *,
    format: str | None = None,  # noqa: A002  # what everybody calls it
    classes: Any = None,
    n_features: int | None = None,
    max_features: int = MAX_FEATURES,
    on_error: OnError = "raise",
    quarantine: str | os.PathLike[str] | None = None,
    labelled: bool = True,
    like: Any = None,
    **reading: Any,
) -> Stream:
    r"""Open labelled examples as a stream of blocks.

    Parameters
    ----------
    data : path, list of paths, or object
        A file, a folder, a list of them, or ``"-"`` for the standard input: libsvm text, CSV, Parquet,
        Arrow, NumPy ``.npy`` and ``.npz``, SciPy sparse ``.npz``. Text may be compressed with gzip, zstd,
        bzip2 or xz, which is detected from the content. Or an object: a pandas, polars or Arrow table, a matrix with
        its labels y, or any iterable of blocks ``(X, y)``.
    y : array, or path of a NumPy file
        The labels, where `data` is a matrix or contains one.
    format : str
        The file format, such as ``"csv"``. Default: detected from the first file.
    classes : sequence
        All labels; of two, the negative one first. Default: the labels of the first 4,096 examples, in sorted order
        (if these have only one label, reading goes on until there is a second one).
    n_features : int
        The number of features, for rules that must know it in advance where the data do not tell.
    max_features : int
        The largest number of features. A larger index or vocabulary is an error, before any memory is allocated for it.
    on_error : {"raise", "skip"}
        What to do with a malformed line, or one with an unknown label: raise an error that says where it is, or skip
        and count it.
    quarantine : path
        A file for the lines that are skipped.
    labelled : bool
        Whether the data must have labels. Predicting needs none.
    like : Run
        Read the data as the examples of this run were read: with the same columns, features and classes.
    **reading
        How columns become features: see `onlinear.streams.Reading`.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import tempfile, pathlib, onlinear
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.svm"
    >>> _ = path.write_text("+1 1:0.5 3:1\n-1 2:1 3:0.25\n")
    >>> stream = onlinear.open_stream(path)
    >>> onlinear.run(onlinear.rules.Perceptron(), stream).mistakes
    2
    """
    if not (type(max_features) is int and 0 < max_features <= 1 << 31):
        raise ParameterError(f"{option('max_features')} is {max_features!r}; it must be an integer from 1 to 2^31")
    known = getattr(like, "state", like)
    names: tuple[str, ...] | None = None
    options = Reading()
    if known is not None:
        options = Reading.remembered(known.reading)
        names = None if known.names is None else without_blanks(known.names)
        if classes is None:
            classes = known.classes
    options = options.but(**reading)
    request = Request(
        options, max_features, y, labelled, names, _label_kind(classes), tuple(reading.get("kinds") or ())
    )
    if _are_paths(data):
        files = find_files(data)
        if quarantine is not None and any(_same_file(quarantine, name) for name in files):
            raise ParameterError(f"the quarantine {os.fspath(quarantine)} is one of the files to read")
        entry = _format_of(files[0], format)
        _check_options(reading, f"{entry.name} files", entry.options)
        reader = entry.open(files, request)
        options = options.but(format=entry.name)
        once = next((name.in_words for name in files if isinstance(name, Pipe)), "")
    else:
        reader, once = _open_object(data, request, reading)
    if reader.width is not None and reader.width > max_features:
        raise DataError(f"there are {reader.width:,} features; at most {max_features:,} ({option('max_features')})")
    n_features = reader.width if n_features is None else n_features
    aside = Quarantine(on_error, quarantine)
    return Stream(reader, reader.reading_to_remember(options), aside, classes, n_features, once, max_features)


def _format_of(file: str, name: str | None) -> Format:
    """Return the format of a file: the one named, or what it looks like; or a special form of that."""
    entry = guess_format(file) if name is None else get_format(name)
    for special in all_formats():
        if special.is_carried is not None and entry.name in special.carriers and special.is_carried(file):
            return special
    return entry


def guess_format(name: str) -> Format:
    """Return the format of a file: by its first bytes, by its ending, or by its first line."""
    formats = all_formats()
    start = read_beginning(name, _SAMPLE, lambda start: _shows_format(start, formats))
    for entry in formats:
        if start.startswith(entry.magic):
            return entry
    path = PurePath(name)
    ending = PurePath(path.stem).suffix if path.suffix in _COMPRESSED else path.suffix
    for entry in formats:
        if ending.lower() in entry.endings:
            return entry
    if not start.strip():
        raise EmptyFileError(f"{display_name(name)}: the file is empty")
    if b"\n" not in start and len(start) >= _SAMPLE:
        start = start.rpartition(b" ")[0] or start  # the last word may be cut off
    line = next(filter(_says_something, start.split(b"\n")), b"")
    for entry in formats:
        if entry.first_line is not None and entry.first_line(line):
            return entry
    hint = " (Vowpal Wabbit text is not supported; write libsvm text or CSV)" if b"|" in line else ""
    raise DataError(
        f"{display_name(name)}: the first line does not show which format it is; name it with {option('format')}{hint}"
    )


def _shows_format(start: bytes, formats: list[Format]) -> bool:
    """Tell whether the beginning of a file has a magic number, or a complete line that is not blank or a comment."""
    magics = tuple(magic for entry in formats for magic in entry.magic)
    if any(magic.startswith(start) for magic in magics):
        return False
    return start.startswith(magics) or any(map(_says_something, start.split(b"\n")[:-1]))


def _says_something(line: bytes) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


def _check_options(given: Mapping[str, Any], what: str, options: Collection[str]) -> None:
    """Raise for a reading option that has no effect here."""
    usual = Reading()
    for name, value in given.items():
        if name in options or value in (None, (), [], getattr(usual, name)):
            continue
        known = [entry.name for entry in all_formats() if name in entry.options]
        known += [_TABLES] if name in TABLE_OPTIONS else []
        raise ParameterError(f"{option(name)} does not apply to {what}; it applies to {', '.join(known)}")


def _open_object(data: Any, request: Request, given: Mapping[str, Any]) -> tuple[Reader, str]:
    """Return a reader of an object in memory, and what it is called if it can be read only once."""
    library = type(data).__module__.partition(".")[0]
    if request.y is None and (hasattr(data, "__arrow_c_stream__") or library in {"pandas", "polars"}):
        _check_options(given, _TABLES, TABLE_OPTIONS)
        # A table knows its size; a stream of batches does not, and can be read only once.
        once = "" if hasattr(data, "shape") or hasattr(data, "num_rows") else "this table"
        return open_frame(data, request), once
    _check_options(given, "matrices", ())
    if request.y is not None or hasattr(data, "shape"):
        return MatrixReader(data, request.y, request.labelled), ""
    if not isinstance(data, Iterable) or isinstance(data, Mapping):
        raise ParameterError(f"{type(data).__name__} is neither a path, a table, a matrix nor an iterable of (X, y)")
    return BlocksReader(data), "an iterator" if isinstance(data, Iterator) else ""


def _same_file(path: str | os.PathLike[str], name: str) -> bool:
    return os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name)  # noqa: PTH110, PTH121


def _label_kind(classes: Any) -> ColumnKind | None:
    """Return the kind of declared labels; strings may stand for numbers, as on a command line."""
    if classes is None:
        return None
    labels = checked_labels(classes)
    if labels.dtype.kind == "U":
        return None if all(map(_is_number, labels)) and not hasattr(classes, "dtype") else "category"
    return "number" if labels.dtype.kind in "fiu" else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _are_paths(data: Any) -> bool:
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(one, str | os.PathLike) for one in data)
