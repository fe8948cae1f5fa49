"""What a stream needs from the reader of a format, or of an object in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from onlinear.data.chunk import Chunk, name_column
from onlinear.streams.reading import Reading


class Reader(ABC):
    """Reads labelled examples in chunks; each call of `chunks` starts again at the first example."""

    width_from_entries = False
    """Whether the number of features of sparse rows follows from their largest index."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features read so far; None where features have no names."""
        return None

    @property
    def column_kinds(self) -> dict[str, str] | None:
        """The columns of a table that are read: "number", "category", "text" or "label"; None for anything else."""
        return None

    @property
    def unknown_columns(self) -> tuple[str, ...]:
        """The columns of a table that are not read, since the model that is to predict does not have them."""
        return ()

    @property
    def width(self) -> int | None:
        """The number of features, where it is known before anything is read."""
        return None

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels, where they are known before anything is read; of two, the negative one is first."""
        return None

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Yield the examples from the first one on, with the faults among them."""

    def feature(self, column: int) -> str:
        """Return what a column is called in the data, for messages."""
        names = self.names
        return f"feature {names[column]!r}" if names is not None and column < len(names) else name_column(column)

    def reading_to_remember(self, asked: Reading) -> Reading:
        """Return how the data are read, as a model should remember it."""
        return asked
