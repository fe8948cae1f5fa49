"""Reading converted files: each batch is checked, and then used without copying."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import RowSums, dense_sums, sparse_sums
from onlinear.data.chunk import Chunk
from onlinear.data.labels import list_labels, named_classes
from onlinear.data.matrices import CsrMatrix, DenseMatrix, Matrix
from onlinear.data.numbered import numbered_chunk, row_place
from onlinear.errors import DataError
from onlinear.spelling import option
from onlinear.streams.ahead import map_ahead
from onlinear.streams.files import Pipe
from onlinear.streams.formats.format import Format, Request
from onlinear.streams.formats.packed.checked import checked_batches
from onlinear.streams.formats.packed.files import BatchFile, Guard, arrow_errors, open_batches
from onlinear.streams.formats.packed.form import MARK, SUMS, End, batch_sum, damage_error
from onlinear.streams.reader import Reader
from onlinear.streams.reading import Reading


def is_packed(name: str) -> bool:
    """Tell whether a file is a converted one; False if it cannot be read."""
    if isinstance(name, Pipe):
        return False
    try:
        with open_batches(name) as file:
            return MARK in (file.types.metadata or {})
    except DataError:
        return False


class PackedReader(Reader):
    """Reads converted files; their labels are there whether they are needed or not.

    Attributes
    ----------
    names, width
        The names of the features, or None, and their number.
    classes : array
        The labels; of two, the negative one is first.
    reading : dict
        How the examples were read when they were converted, as `Reading.as_dict` returns it.
    n : int
        The number of examples.
    """

    names: tuple[str, ...] | None = None
    width: int = 0
    classes: NDArray[Any] = np.zeros(0)

    def __init__(self, files: list[str], max_features: int) -> None:
        self._files = files
        ends, dense = [], []
        for name in files:
            with open_batches(name) as file:
                ends.append(_checked_end(file, name, max_features))
                dense.append(_is_dense(file.types))
        first = ends[0]
        self.classes, self.reading = first.classes, first.reading
        self.names = max((end.names or () for end in ends), key=len) or None
        self.width = max(end.n_features for end in ends)
        self.n = sum(end.n_examples for end in ends)
        self._max_features = max_features
        for name, end, full in zip(files, ends, dense, strict=True):
            if end.classes.tolist() != first.classes.tolist():
                here, there = map(list_labels, (end.classes, first.classes))
                raise DataError(f"{name}: the labels are {here}; {files[0]} has {there}")
            if full != dense[0]:
                raise DataError(f"{name}: it and {files[0]} differ: one has sparse examples, the other dense ones")
            if full and end.n_features != first.n_features:
                raise DataError(f"{name}: {end.n_features} features; {files[0]} has {first.n_features}")
            names = end.names or ()
            if (end.names is None) != (first.names is None) or names != (self.names or ())[: len(names)]:
                raise DataError(
                    f"{name}: the names of its features differ from those of {files[0]} (convert the files together)"
                )

    def reading_to_remember(self, asked: Reading) -> Reading:
        """Return the reading of the conversion: it decided what the features are."""
        return Reading.remembered(self.reading)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the examples batch by batch; a thread reads ahead."""
        return map_ahead(self._batches(), self._decode)

    def _batches(self) -> Iterator[_StoredBatch]:
        for name in self._files:
            with open_batches(name) as file:
                end = _checked_end(file, name, self._max_features)
                checked = checked_batches(name)
                first = 0
                for i in range(len(end.sums)):
                    batch = file.batch(i)
                    yield _StoredBatch(name, first, batch, file.types, end, i, checked)
                    first += batch.num_rows
                if first != end.n_examples:
                    raise damage_error(row_place(name, first))

    def _decode(self, batch: _StoredBatch) -> Chunk:
        try:
            X, y, sums = _arrays(batch, self.width)
        except arrow_errors() as error:
            raise damage_error(row_place(batch.name, batch.first)) from error
        return replace(numbered_chunk(X, y, batch.name, batch.first), sums=sums)


class _StoredBatch(NamedTuple):
    """A batch of a file, not decoded yet."""

    name: str
    first: int
    records: Any
    types: Any
    end: End
    number: int
    checked: set[int]
    """The batches of this file that have been checked already."""


def _checked_end(file: BatchFile, name: str, max_features: int) -> End:
    """Return the end record of a file, if it agrees with the schema and with the limit."""
    if MARK not in (file.types.metadata or {}):
        raise DataError(f"{name}: not a converted file: the mark of `onlinear convert` is missing from its schema")
    with Guard(name):
        text, batches = file.end()
        end = End.of(text, name)
        fits = len(end.sums) == batches and _fits(file.types, end)
    if end.n_features > max_features:
        raise DataError(f"{name}: {end.n_features:,} features; at most {max_features:,} ({option('max_features')})")
    if not fits:
        raise damage_error(name)
    return end


def _fits(types: Any, end: End) -> bool:
    """Tell whether a schema is that of a converted file."""
    import pyarrow as pa

    if types.names != ["label", "features", *SUMS]:
        return False
    label, features, *sums = (field.type for field in types)
    if any(kind != pa.uint64() for kind in sums):
        return False
    kinds = {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "U": pa.string()}
    if label != kinds[end.classes.dtype.kind]:
        return False
    if pa.types.is_fixed_size_list(features):
        return features.list_size == end.n_features and _is_float(features.value_type)
    if not pa.types.is_list(features) or not pa.types.is_struct(features.value_type):
        return False
    pair = features.value_type
    return pair.num_fields == 2 and pair.field(0).type == pa.int32() and _is_float(pair.field(1).type)


def _is_dense(types: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_list(types.field("features").type))


def _is_float(number: Any) -> bool:
    import pyarrow as pa

    return number in {pa.float64(), pa.float32()}


def _arrays(batch: _StoredBatch, width: int) -> tuple[Matrix, NDArray[Any], RowSums]:
    """Return the matrix, the labels and the row sums of a batch, if it is as it was written."""
    records, place = batch.records, row_place(batch.name, batch.first)
    if records.schema.types != batch.types.types:
        raise damage_error(place)
    records.validate(full=True)
    label, features, *taken = records.columns
    flat = features.flatten()
    if label.null_count or features.null_count or flat.null_count:
        raise damage_error(place)
    y, codes = _labels(label, batch.end.classes, place)
    sums = RowSums(*(_numbers(one, place) for one in taken))
    X: DenseMatrix | CsrMatrix
    if not hasattr(features, "offsets"):
        X = DenseMatrix(_numbers(flat, place).reshape(records.num_rows, width))
    else:
        indptr = _numbers(features.offsets, place)
        indices, values = (_numbers(flat.field(k), place) for k in range(2))
        if indptr[0] != 0:
            raise damage_error(place)
        X = CsrMatrix(values, indices, indptr, width)
    good = batch_sum(sums, codes) == batch.end.sums[batch.number]
    if good and batch.number not in batch.checked:
        good = _as_written(X, sums, batch.end.n_features)
    if not good:
        raise damage_error(place)
    batch.checked.add(batch.number)
    return X, y, sums


def _as_written(X: DenseMatrix | CsrMatrix, sums: RowSums, n_features: int) -> bool:
    """Tell whether rows match their sums, and their indices ascend and are in range, which passes rely on."""
    if isinstance(X, DenseMatrix):
        return all(map(np.array_equal, dense_sums(X.X), sums))
    found, ascending = sparse_sums(X.data, X.indices, X.indptr)
    filled = X.indptr[1:] > X.indptr[:-1]
    lowest, highest = X.indices[X.indptr[:-1][filled]], X.indices[X.indptr[1:][filled] - 1]
    inside = bool(lowest.min(initial=0) >= 0 and highest.max(initial=0) < n_features)
    return inside and ascending == X.n and all(map(np.array_equal, found, sums))


def _numbers(array: Any, place: str) -> NDArray[Any]:
    """Return an Arrow array as a NumPy array, without copying."""
    if array.null_count:
        raise damage_error(place)
    numbers: NDArray[Any] = array.to_numpy(zero_copy_only=True)
    return numbers


def _labels(label: Any, classes: NDArray[Any], place: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels and their codes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = named_classes(classes)
    if classes.dtype.kind != "U":
        y = label.to_numpy(zero_copy_only=False)
        if known.unknown(y).any():
            raise damage_error(place)
        return y, known.encode(y)
    numbers = pc.index_in(label, pa.array(classes)).fill_null(-1).to_numpy(zero_copy_only=False)
    if numbers.min(initial=0) < 0:
        raise damage_error(place)
    return classes[numbers], known.codes_of(numbers)


def _open(files: list[str], request: Request) -> PackedReader:
    return PackedReader(files, request.max_features)


FORMAT = Format(
    "converted", _open, carriers=("arrow", "parquet"), is_carried=is_packed, piped=False, records_reading=True
)
