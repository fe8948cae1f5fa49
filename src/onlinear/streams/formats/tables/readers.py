"""Tables: CSV, Parquet, Arrow files and data frames as streams of examples."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any, NotRequired, Protocol, TypedDict, Unpack

import numpy as np

from onlinear.data.chunk import Chunk
from onlinear.data.matrices import as_matrix
from onlinear.errors import DataError
from onlinear.streams.ahead import ahead
from onlinear.streams.files import Pipe, shown
from onlinear.streams.formats.tables import batches, csv_text
from onlinear.streams.formats.tables.arrow_types import fit, fit_label, guessed
from onlinear.streams.formats.tables.cells import Cells, Rows, decoded
from onlinear.streams.formats.tables.columns import Layout, check_distinct, check_like, laid_out
from onlinear.streams.formats.tables.vocabulary import Hashing, Vocabulary
from onlinear.streams.formats.tables.wrong import faults
from onlinear.streams.reading import Kind, Reading

_LOOKED_THROUGH = 1 << 26
"""In about so many bytes a row is sought to guess by: what has come through a pipe is held meanwhile."""


class Options(TypedDict):
    """What the reader of a table must know, besides how columns become features."""

    max_features: int
    labelled: bool
    names: tuple[str, ...] | None
    """The features that a model has."""
    label_kind: NotRequired[Kind | None]
    """What the labels are, where that is known: numbers, or categories."""


class _Source(Protocol):
    """A table in one format: parts that are drawn one after the other, and read in any thread."""

    layout: Layout
    where: str

    def items(self) -> Iterator[Any]: ...

    def rows(self, item: Any) -> Rows: ...


class TableReader:
    """Reads a table; columns of numbers only are dense rows, and with categories or words sparse ones.

    Attributes
    ----------
    width : int or None
        The number of features, where it is known before reading.
    kinds : dict of str to str
        What each column is read as: "number", "category" or "text". To read another table for the same model by
        hashing, hand these over: its first rows might look different.
    """

    def __init__(self, source: _Source, reading: Reading, options: Options) -> None:
        max_features, names = options["max_features"], options["names"]
        self.kinds = dict(source.layout.kinds)
        self._source = source
        self._label = source.layout.label
        self._missing = reading.missing
        self._places = None
        self.width: int | None = None
        self._features: Vocabulary | Hashing
        if reading.encode == "hash":
            self._features = Hashing(reading.hash_bits, max_features)
            self.width = self._features.width
            return
        self._features = vocabulary = Vocabulary(names or (), max_features, grows=options["labelled"] or not names)
        numbers = [name for name, kind in self.kinds.items() if kind == "number"]
        vocabulary.add(numbers, source.where)
        only_numbers = len(numbers) == len(self.kinds) == len(vocabulary.names)
        if only_numbers and reading.missing != "indicator":
            self._places = np.array([vocabulary.number(name) for name in numbers])
            self.width = len(numbers)
        elif not vocabulary.grows:
            self.width = len(vocabulary.names)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features read so far; None where they are hashed."""
        return self._features.names

    def chunks(self) -> Iterator[Chunk]:
        """Yield the examples from the first one on, with the faults among them."""
        for cells, X in ahead(self._source.items(), self._worked):
            matrix = as_matrix(self._features.matrix(cells) if X is None else X)
            bad = () if cells.rows is None else faults(cells.faults, cells.rows, cells.origin)
            yield Chunk(matrix, cells.y, cells.origin, cells.rows, faults=bad)

    def __copy__(self) -> TableReader:
        """Return a reader of the same table with a vocabulary of its own."""
        twin = object.__new__(TableReader)
        twin.__dict__ |= self.__dict__
        twin._features = copy.deepcopy(self._features)
        return twin

    def _worked(self, item: Any) -> tuple[Cells, Any]:
        """Return the cells of an item; and, where it need not wait for those before, the matrix."""
        import pyarrow as pa

        cells = decoded(self._source.rows(item), self._label, self.kinds, self._missing, self._places)
        if cells.dense is not None:
            return cells, cells.dense
        # Arrow keeps what it has freed, for each thread; with words and categories that adds up.
        pa.default_memory_pool().release_unused()
        return cells, None if self._features.growing else self._features.matrix(cells)


def csv_reader(files: list[str], reading: Reading, **options: Unpack[Options]) -> TableReader:
    """Return a reader of CSV files, or of the standard input.

    A column of which nothing is known is one of numbers where all values in the first megabyte that has rows are;
    a later value that is none is a fault.
    An empty field is missing, and among numbers also ``NA``, ``NaN``, ``null`` and the like.
    """
    return TableReader(_Csv(files, reading, options), reading, options)


def parquet_reader(files: list[str], reading: Reading, **options: Unpack[Options]) -> TableReader:
    """Return a reader of Parquet files."""
    return TableReader(_Batches(batches.Parquet(files), reading, options), reading, options)


def arrow_reader(files: list[str], reading: Reading, **options: Unpack[Options]) -> TableReader:
    """Return a reader of Arrow files (Feather, too), or of an Arrow stream on the standard input."""
    return TableReader(_Batches(batches.Arrow(files), reading, options), reading, options)


def frame_reader(table: Any, reading: Reading, **options: Unpack[Options]) -> TableReader:
    """Return a reader of a pandas or polars data frame, an Arrow table, or whatever gives an Arrow stream."""
    return TableReader(_Batches(batches.Frame(table), reading, options), reading, options)


class _Csv:
    """CSV files; what kind a column is follows from the first piece that has rows, where nothing else says it."""

    def __init__(self, files: list[str], reading: Reading, options: Options) -> None:
        self._files, self._reading = files, reading
        self.where = shown(files[0])
        pieces = csv_text.csv_pieces(files, reading)
        seen = [next(pieces)]
        self._first = seen[0].columns

        @cache
        def sample() -> dict[str, Any]:
            """Return the columns of the first piece that has rows, as strings."""
            room = _LOOKED_THROUGH
            while not (rows := csv_text.parsed(seen[-1], dict.fromkeys(seen[-1].columns, "category"))).n:
                room -= len(seen[-1].text)
                piece = next(pieces, None) if room > 0 else None
                if piece is None:
                    break
                seen.append(piece)
            return rows.columns

        def guess(column: str) -> Kind:
            return "number" if column not in sample() or csv_text.numeric(sample()[column]) else "category"

        names, labelled = options["names"], options["labelled"]
        self.layout = laid_out(self._first, reading, guess, self.where, labelled=labelled, names=names)
        self._read: dict[str, Kind] = self.layout.kinds
        label = self.layout.label
        if label is not None:
            kind = options.get("label_kind") or (reading.kinds or {}).get(label) or guess(label)
            self._read = {label: kind, **self.layout.kinds}
        # What has come through a pipe does not come again.
        self._pipe: Iterator[csv_text.CsvPiece] | None = chain(seen, pieces) if _piped(files) else None
        if self._pipe is None:
            pieces.close()

    def items(self) -> Iterator[csv_text.CsvPiece]:
        pieces: Iterable[csv_text.CsvPiece] = csv_text.csv_pieces(self._files, self._reading)
        if _piped(self._files):
            if self._pipe is None:
                raise DataError(f"{shown(self._files[0])} can be read only once")
            pieces, self._pipe = self._pipe, None
        checked = None
        for piece in pieces:
            if piece.columns is not checked:
                check_like(piece.columns, self.layout, self._reading, self._first, piece.name)
                checked = piece.columns
            yield piece

    def rows(self, item: csv_text.CsvPiece) -> Rows:
        return csv_text.parsed(item, self._read, self.layout.label)


class _Batches:
    """A table in Arrow batches; what kind a column is follows from its type."""

    def __init__(self, table: batches.Batched, reading: Reading, options: Options) -> None:
        self._table, self._reading = table, reading
        self._label_kind = options.get("label_kind")
        self.where = table.where
        schema = table.schema
        check_distinct(schema.names, self.where)
        self._first = tuple(schema.names)

        def guess(column: str) -> Kind:
            return guessed(column, schema.field(column).type, self.where)

        names, labelled = options["names"], options["labelled"]
        self.layout = laid_out(self._first, reading, guess, self.where, labelled=labelled, names=names)
        self._check(schema, self.where)

    def items(self) -> Iterator[batches.Batch]:
        categories = [name for name, kind in self.layout.kinds.items() if kind == "category"]
        return self._table.batches(self.layout.columns, categories, self._check)

    def rows(self, item: batches.Batch) -> Rows:
        return batches.unpacked(item, self.layout.kinds, self.layout.label)

    def _check(self, schema: Any, name: str) -> None:
        check_distinct(schema.names, name)
        check_like(schema.names, self.layout, self._reading, self._first, name)
        for column, kind in self.layout.kinds.items():
            fit(column, schema.field(column).type, kind, name)
        if self.layout.label is not None:
            fit_label(self.layout.label, schema.field(self.layout.label).type, self._label_kind, name)


def _piped(files: list[str]) -> bool:
    return any(isinstance(name, Pipe) for name in files)
