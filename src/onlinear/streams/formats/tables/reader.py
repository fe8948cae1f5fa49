"""Reads tables of any format: columns become features."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from onlinear.data.chunk import Chunk
from onlinear.data.matrices import as_matrix
from onlinear.streams.ahead import map_ahead
from onlinear.streams.formats.format import Request
from onlinear.streams.formats.tables.cells import Cells, Decoder, TableRows
from onlinear.streams.formats.tables.columns import Layout
from onlinear.streams.formats.tables.vocabulary import Hashing, Vocabulary
from onlinear.streams.formats.tables.wrong import faults
from onlinear.streams.reader import Reader
from onlinear.streams.reading import Reading

TABLE_OPTIONS = frozenset({"label", "features", "drop", "text", "encode", "hash_bits", "missing", "kinds"})
"""The options of `Reading` that apply to every table."""


class Table(Protocol):
    """A table in one format: items are read one after another, and each is decoded in any thread."""

    layout: Layout
    where: str
    header: bool | None
    """Whether the first row of a CSV file named the columns."""

    def items(self) -> Iterator[Any]:
        """Yield the parts of the table, as they are stored."""

    def rows(self, item: Any) -> TableRows:
        """Return the columns of a part."""


class TableReader(Reader):
    """Reads a table: dense rows if all columns are numbers, sparse ones if there are categories or text.

    Attributes
    ----------
    width : int or None
        The number of features, where it is known before reading.
    kinds : dict of str to str
        The kind of each column: "number", "category" or "text".
    """

    width: int | None = None

    def __init__(self, table: Table, request: Request) -> None:
        reading, max_features, names = request.reading, request.max_features, request.names
        self.kinds = dict(table.layout.kinds)
        self._table = table
        self._decoder = Decoder(table.layout.label, self.kinds, reading.missing, None)
        self._features: Vocabulary | Hashing
        if reading.encode == "hash":
            self._features = Hashing(reading.hash_bits, max_features)
            self.width = self._features.width
            return
        self._features = vocabulary = Vocabulary(names or (), max_features, grows=request.labelled or not names)
        numbers = [name for name, kind in self.kinds.items() if kind == "number"]
        vocabulary.add(numbers, table.where)
        only_numbers = len(numbers) == len(self.kinds) == len(vocabulary.names)
        if only_numbers and reading.missing != "indicator":
            places = vocabulary.find(numbers).astype(np.intp)
            self._decoder = Decoder(table.layout.label, self.kinds, reading.missing, places)
            self.width = len(numbers)
        elif not vocabulary.grows:
            self.width = len(vocabulary.names)

    @property
    def column_kinds(self) -> dict[str, str]:
        """The kind of each column; "label" for that of the labels."""
        label = self._table.layout.label
        return {**self.kinds, **({} if label is None else {label: "label"})}

    @property
    def unknown_columns(self) -> tuple[str, ...]:
        """The columns that are not read, since the model that is to predict does not have them."""
        return self._table.layout.unknown

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features read so far; None where they are hashed."""
        return self._features.names

    def chunks(self) -> Iterator[Chunk]:
        """Yield the examples from the first one on, with the faults among them."""
        for cells in map_ahead(self._table.items(), self._decode):
            matrix = as_matrix(self._features.matrix(cells) if cells.X is None else cells.X)
            bad = () if cells.rows is None else faults(cells.faults, cells.rows, cells.origin)
            yield Chunk(matrix, cells.y, cells.origin, cells.rows, faults=bad, feature=self._feature_in(cells))

    def _feature_in(self, cells: Cells) -> Callable[[int], str]:
        """Return what a column of some rows is called: their matrix may have columns for names that are not kept."""
        features = self._features
        if isinstance(features, Hashing) or features.grows:
            return self.feature
        return lambda column: f"feature {features.name(column, cells)!r}"

    def __copy__(self) -> TableReader:
        """Return a reader of the same table with a vocabulary of its own."""
        twin = object.__new__(TableReader)
        twin.__dict__ |= self.__dict__
        twin._features = copy.deepcopy(self._features)
        return twin

    def reading_to_remember(self, asked: Reading) -> Reading:
        """Return the reading; with the kinds of the columns where features are hashed, and names do not tell them."""
        asked = asked.but(header=self._table.header, label=self._table.layout.remembered)
        return asked.but(kinds=self.kinds) if asked.encode == "hash" else asked

    def _decode(self, item: Any) -> Cells:
        """Return the cells of an item, with their matrix unless new names must be numbered in order."""
        import pyarrow as pa

        cells = self._decoder.decode(self._table.rows(item))
        if cells.X is not None:
            return cells
        # Each thread of Arrow keeps memory that it has freed; with words and categories that adds up.
        pa.default_memory_pool().release_unused()
        return cells if self._features.grows else replace(cells, X=self._features.matrix(cells))
