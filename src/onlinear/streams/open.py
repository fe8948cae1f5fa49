"""`open_stream`: from a path or an object to a stream, by what it is and what it begins with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, get_args

from onlinear.data.labels import declared_classes
from onlinear.errors import DataError, EmptyFileError, ParameterError
from onlinear.streams.files import STDIN, Pipe, beginning, found, shown
from onlinear.streams.formats import arrays, packed, tables
from onlinear.streams.formats.libsvm import LibsvmReader
from onlinear.streams.quarantine import OnError, Quarantine
from onlinear.streams.reading import Kind, Reading, without_blanks
from onlinear.streams.stream import MAX_FEATURES, Reader, Stream

Format: TypeAlias = Literal["libsvm", "csv", "parquet", "arrow", "npy", "npz"]

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\x93NUMPY": "npy", b"PK\x03\x04": "npz"}
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
}
_FORMATS = get_args(Format)
_TABLE = frozenset({"label", "features", "drop", "text", "encode", "hash_bits", "missing", "kinds"})
_OPTIONS = {
    "libsvm": frozenset({"zero_based"}),
    "csv": _TABLE | {"header", "delimiter"},
    "npy": frozenset({"label"}),
    **dict.fromkeys(("parquet", "arrow", "tables in memory"), _TABLE),
}
_LIBSVM_LINE = re.compile(rb"[^\s,:]+([ \t]+(qid|\d+):\S+)+[ \t]*(#.*)?\r?")
_SAMPLE = 1 << 16


def open_stream(
    data: Any,
    y: Any = None,
    *,
    format: Format | None = None,  # noqa: A002  # what everybody calls it
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
        Arrow, NumPy ``.npy`` and ``.npz``, SciPy sparse ``.npz``. Text may be compressed; gzip, zstd,
        bzip2 and xz are recognised by content. Or an object: a pandas, polars or Arrow table, a matrix with
        its labels y, or any iterable of blocks ``(X, y)``.
    y : array, or path of a NumPy file
        The labels, where `data` is a matrix or holds one.
    format : str
        ``"libsvm"``, ``"csv"``, ``"parquet"``, ``"arrow"``, ``"npy"`` or ``"npz"``. Default: what the file looks like.
    classes : pair
        The labels (negative, positive). Default: the first two that turn up, in their order.
    n_features : int
        The number of features, where a rule has to know it beforehand and the data cannot tell.
    max_features : int
        An index or a vocabulary beyond this is an error, before anything is allocated for it.
    on_error : {"raise", "skip"}
        A line that no example can be made of, or with a third label, is an error with its place; or it is
        skipped and counted, and never learned from.
    quarantine : path
        A file for the lines that are skipped.
    labelled : bool
        Whether there are labels; to predict, none are needed.
    like : Run
        Read as this run's examples were read: the same columns, features and classes.
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
        raise ParameterError(f"max_features is {max_features!r}; it must be an integer from 1 to 2^31")
    known = getattr(like, "state", like)
    names: tuple[str, ...] | None = None
    options = Reading()
    if known is not None:
        options = Reading(**(known.reading or {}))
        names = None if known.names is None else without_blanks(known.names)
        if classes is None and not known.multiclass:
            classes = known.classes
    options = options.but(**reading)
    source = _Source(data, y, options, max_features, labelled, names, _label_kind(classes))
    if _are_paths(data):
        files = found(data)
        if quarantine is not None and any(_same_file(quarantine, name) for name in files):
            raise ParameterError(f"the quarantine {os.fspath(quarantine)} is one of the files to read")
        reader = source.of_files(files, format)
        options = options.but(format=source.kind)
    else:
        reader = source.of_object()
    source.check_options(reading)
    if reader.width is not None and reader.width > max_features:
        raise DataError(
            f"there are {reader.width:,} features; at most {max_features:,} (--max-features, max_features=)"
        )
    if isinstance(reader, packed.PackedReader):
        options = Reading(**reader.reading)
        classes = reader.classes if classes is None else classes
    elif isinstance(reader, tables.TableReader) and options.encode == "hash":
        options = options.but(kinds=reader.kinds)  # names would tell, but there are none
    n_features = reader.width if n_features is None else n_features
    return Stream(reader, options, Quarantine(on_error, quarantine), classes, n_features, source.once, max_features)


class _Source:
    """What a stream is opened from."""

    def __init__(
        self,
        data: Any,
        y: Any,
        reading: Reading,
        max_features: int,
        labelled: bool,
        names: tuple[str, ...] | None,
        label_kind: Kind | None,
    ) -> None:
        self.data, self.y, self.reading, self.max_features, self.labelled = data, y, reading, max_features, labelled
        self.columns: dict[str, Any] = {"max_features": max_features, "labelled": labelled, "names": names}
        self.columns["label_kind"] = label_kind
        self.once = ""
        """What can be read only once, if it can."""
        self.kind = "matrices"
        """What it is."""

    def check_options(self, given: dict[str, Any]) -> None:
        """Raise for an option of reading that means nothing here."""
        usual = Reading()
        for name, value in given.items():
            if name not in _OPTIONS.get(self.kind, ()) and value not in (None, (), [], getattr(usual, name)):
                raise ParameterError(f"{name} says nothing about {self.kind}; it is for {_known_to(name)}")

    def of_files(self, files: list[str], kind: str | None) -> Reader:
        looked, kind = kind is None, kind or looks_like(files[0])
        if kind not in _FORMATS:
            raise ParameterError(f"format is {kind!r}; it must be one of {list(_FORMATS)}")
        self.kind = kind
        pipes = [name for name in files if isinstance(name, Pipe)]
        if pipes:
            self.once = "the standard input" if pipes[0] == STDIN else pipes[0]
            if kind in {"parquet", "npz"} or (kind == "arrow" and looked):
                # An Arrow stream has nothing to tell it by; this is a file, which is read from its end.
                raise DataError(f"a file of {kind} cannot be read from {self.once}; give it by name")
        if self.y is not None and kind not in {"npy", "npz"}:
            raise ParameterError(
                f"labels of their own (--labels, y=) are for matrices; {kind} files have them inside (--label)"
            )
        if kind in {"csv", "parquet", "arrow"}:
            return self._table(files, kind)
        if self.reading.encode == "hash":
            raise DataError(f"features that were hashed have no numbers in {kind} files; give a table with the names")
        if kind == "libsvm":
            return LibsvmReader(files, 0 if self.reading.zero_based else 1, self.max_features, self.labelled)
        read = arrays.npy_reader if kind == "npy" else arrays.npz_reader
        return read(files, self.y, self.reading, labelled=self.labelled)

    def _table(self, files: list[str], kind: str) -> Reader:
        if kind == "csv":
            return tables.csv_reader(files, self.reading, **self.columns)
        if not self.once and packed.is_packed(files[0]):
            self.kind = "converted files"
            return packed.packed_reader(files, max_features=self.max_features, labelled=self.labelled)
        read = tables.parquet_reader if kind == "parquet" else tables.arrow_reader
        return read(files, self.reading, **self.columns)

    def of_object(self) -> Reader:
        data, y = self.data, self.y
        library = type(data).__module__.partition(".")[0]
        if y is None and (hasattr(data, "__arrow_c_stream__") or library in {"pandas", "polars"}):
            # Of a table its size is known; what has none gives out its batches once.
            self.once = "" if hasattr(data, "shape") or hasattr(data, "num_rows") else "this table"
            self.kind = "tables in memory"
            return tables.frame_reader(data, self.reading, **self.columns)
        if y is not None or hasattr(data, "shape"):
            return arrays.matrix_reader(data, y, labelled=self.labelled)
        if not isinstance(data, Iterable) or isinstance(data, Mapping):
            raise ParameterError(
                f"{type(data).__name__} is neither a path, a table, a matrix nor an iterable of (X, y)"
            )
        if isinstance(data, Iterator):
            self.once = "an iterator"
        return arrays.blocks_reader(data)


def looks_like(name: str) -> str:
    """Return the format of a file: by its first bytes, by its ending, or by its first line."""
    stem = PurePath(name)
    ending = PurePath(stem.stem).suffix if stem.suffix in {".gz", ".zst", ".bz2", ".xz"} else stem.suffix
    start = beginning(name, _SAMPLE)
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    if ending.lower() in _ENDINGS:
        return _ENDINGS[ending.lower()]
    if b"\n" not in start:
        # All that has arrived of a pipe so far; the last word may be cut off.
        start = start.rpartition(b" ")[0] or start
    lines = [line for line in start.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#")]
    if lines and _LIBSVM_LINE.fullmatch(lines[0]):
        return "libsvm"
    if lines and (b"," in lines[0] or b"\t" in lines[0]):
        return "csv"
    if not start.strip():
        raise EmptyFileError(f"{shown(name)}: the file is empty")
    hint = " (Vowpal Wabbit's text is none: write libsvm text or CSV)" if lines and b"|" in lines[0] else ""
    raise DataError(
        f"{shown(name)}: its first line looks like no format known here; name it with --format, format={hint}"
    )


def _same_file(path: str | os.PathLike[str], name: str) -> bool:
    return os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name)  # noqa: PTH110, PTH121


def _label_kind(classes: Any) -> Kind | None:
    """Return what labels are where two are known; text may stand for numbers, as on a command line."""
    if classes is None:
        return None
    labels = declared_classes(classes).labels
    if labels.dtype.kind == "U":
        return None if all(map(_is_number, labels)) and not hasattr(classes, "dtype") else "category"
    return "number" if labels.dtype.kind in "fiu" else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _known_to(option: str) -> str:
    return ", ".join(kind for kind, options in _OPTIONS.items() if option in options)


def _are_paths(data: Any) -> bool:
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(one, str | os.PathLike) for one in data)
