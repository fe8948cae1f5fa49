"""Streams: labelled examples from files and objects, chunk by chunk, read anew each time they are iterated."""

from __future__ import annotations

import copy
import heapq
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk, Fault, name_column
from onlinear.data.labels import (
    Classes,
    ManyClasses,
    checked_labels,
    found_classes,
    labels_like,
    list_labels,
    named_classes,
    unknown_label_reason,
)
from onlinear.data.look_ahead import look_ahead
from onlinear.data.matrices import CsrMatrix
from onlinear.data.one_label import plain
from onlinear.errors import DataError, ParameterError
from onlinear.spelling import option
from onlinear.streams.quarantine import Quarantine
from onlinear.streams.reader import Reader
from onlinear.streams.reading import Reading, without_blanks

MAX_FEATURES = 1 << 27


@dataclass
class Once:
    """Something that can be read only once, such as a pipe; all streams over it share this."""

    what: str
    begun: bool = False


class Stream:
    """Labelled examples, read block by block; `onlinear.open_stream` makes one.

    Iterate it for blocks ``(X, y)``, or pass it to `onlinear.run` and the like. The data are read anew each
    time; at most a few blocks are in memory.

    Attributes
    ----------
    reading : Reading
        How columns become features.
    skipped : int
        The number of lines that the last reading has skipped.
    n_features : int or None
        The number of features, if it is known in advance.
    """

    def __init__(
        self,
        reader: Reader,
        reading: Reading,
        quarantine: Quarantine,
        classes: Any = None,
        n_features: int | None = None,
        once: str = "",
        max_features: int = MAX_FEATURES,
    ) -> None:
        if n_features is not None and n_features > max_features:
            raise ParameterError(
                f"{option('n_features')} is {n_features:,}; at most {max_features:,} ({option('max_features')})"
            )
        self._max_features = max_features
        self.reading = reading
        self.n_features = n_features
        self._reader = reader
        self._quarantine = quarantine
        self.declared = classes
        """The labels that the user has declared."""
        self._any_label = False
        self.encoding: Classes | ManyClasses | None = None
        """The classes, once they are known: declared, expected by a learner, or found."""
        self._once = Once(once) if once else None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features read so far, if they have any."""
        return self._reader.names

    @property
    def columns(self) -> dict[str, str] | None:
        """The columns of a table that are read, each with its kind, or "label"; None for anything but a table."""
        return self._reader.column_kinds

    @property
    def unknown_columns(self) -> tuple[str, ...]:
        """The columns of a table that are not read, since the model that is to predict does not have them."""
        return self._reader.unknown_columns

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels, once they are known; of two, the negative one is first."""
        return None if self.encoding is None else self.encoding.labels

    @property
    def skipped(self) -> int:
        """The number of lines that the last reading has skipped."""
        return self._quarantine.count

    @property
    def once(self) -> str:
        """What can be read only once, such as a pipe; otherwise empty."""
        return self._once.what if self._once else ""

    def declare(self, classes: Any) -> None:
        """Use these labels instead of those that were declared when the stream was opened."""
        self.declared, self.encoding = classes, None

    def accept_any_label(self) -> None:
        """Leave it to the learner to add new classes; then the stream does not know the classes."""
        self._any_label, self.encoding = True, None

    def expect(self, classes: Classes | ManyClasses) -> None:
        """Use a learner's labels; raise if others were declared."""
        if self._any_label:
            return
        if self.declared is not None:
            declared = labels_like(checked_labels(self.declared), classes.labels)
            if not np.array_equal(declared, classes.labels):
                mine, others = map(list_labels, (declared, classes.labels))
                raise ParameterError(f"{option('classes')} are {mine}, but the run has {others}, in this order")
        self.encoding = classes

    def check_features(self, names: tuple[str, ...] | None, reading: Mapping[str, Any] | None) -> None:
        """Raise if a learner's features have other names, or are numbered in another way."""
        here, known = (None if listed is None else without_blanks(listed) for listed in (self.names, names))
        if (known is None) != (here is None) or (known and here and here[: len(known)] != known[: len(here)]):
            raise DataError(
                "the features of these data are not those of the model: their names differ, or only one has names"
                "; read them as the training data were read, or convert them with the same options"
            )
        before = Reading.remembered(reading).features_by()
        for name, value in self.reading.features_by().items():
            if value != before[name]:
                was = before[name]
                raise DataError(
                    f"the features of these data are not those of the model: {name} is {value!r}, not {was!r}"
                )

    def scanned_width(self) -> int:
        """Return the number of features; if it is not known in advance, the data are read to find it."""
        if self.n_features is None:
            if self._once:
                raise DataError(
                    f"the number of features must be known in advance, and {self.once} can be read only once;"
                    f" give it with {option('n_features')}"
                )
            self.n_features = max((chunk.width for chunk in self.chunks()), default=None)
            if self.n_features is None:
                raise DataError("no examples")
        return self.n_features

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield blocks ``(X, y)``."""
        return ((chunk.X, chunk.y) for chunk in self.chunks())

    def chunks(self) -> Iterator[Chunk]:
        """Yield chunks in which every label is one of the classes."""
        with self._quarantine:
            chunks = self._read()
            if self.encoding is None and not self._any_label:
                chunks = self._find_classes(chunks)
            for chunk in chunks:
                yield from self._sort_out(chunk, self.encoding)

    def unlabelled(self) -> Iterator[Chunk]:
        """Yield chunks with unchecked labels."""
        with self._quarantine:
            for chunk in self._read():
                yield from self._sort_out(chunk, None)

    def independent(self) -> Stream:
        """Return a stream over the same data; reading it leaves this one's classes, width and names as they are."""
        twin = copy.copy(self)
        twin._reader = copy.copy(self._reader)
        return twin

    def _read(self) -> Iterator[Chunk]:
        """Yield the reader's chunks, with the names of their features."""
        if self._once and self._once.begun:
            raise DataError(f"{self._once.what} can be read only once")
        if self._once:
            self._once.begun = True
        for chunk in self._reader.chunks():
            if chunk.width > self._max_features:
                raise DataError(
                    f"from {chunk.place(0)} on there are {chunk.width:,} features;"
                    f" at most {self._max_features:,} ({option('max_features')})"
                )
            yield replace(chunk, feature=self._reader.feature) if chunk.feature is name_column else chunk

    def _known_labels(self) -> Any:
        """Return the labels that are known before anything is read: those declared, or those that the reader knows."""
        return self._reader.classes if self.declared is None else self.declared

    def _find_classes(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Find the classes, in what was declared or in the data; return all the chunks again."""
        known = self._known_labels()
        if known is not None:
            first = next(chunks, None)
            if first is None:
                return chunks
            self.encoding = named_classes(known).like(first.y)
            return itertools.chain([first], chunks)
        labels, chunks = look_ahead(chunks)
        if len(labels) < 2:
            held = []
            for chunk in chunks:
                for fault in chunk.faults:  # a malformed line may be the reason
                    self._quarantine.take(fault)
                held.append(chunk)
            if held:
                found_classes([plain(label) for label in labels])
            return iter(held)
        first = next(chunks)
        self.encoding = found_classes(labels).like(first.y)
        return itertools.chain([first], chunks)

    def _sort_out(self, chunk: Chunk, classes: Classes | ManyClasses | None) -> Iterator[Chunk]:
        """Yield the examples to learn from; raise or skip the others, and the faults among them, in order.

        Where faults are raised, the examples before the first one are yielded before.
        """
        strange = np.zeros(chunk.n, dtype=bool) if classes is None else classes.unknown(chunk.y)
        # A learner would refuse what is not finite, but it cannot skip it.
        bad = strange | ~chunk.matrix.finite_rows() if self._quarantine.skips else strange
        own = (self._fault(chunk, i, classes if strange[i] else None) for i in np.flatnonzero(bad).tolist())
        for fault in heapq.merge(chunk.faults, own, key=lambda one: one.before):
            if fault.before and not self._quarantine.skips:
                yield _with_labels(self._some(chunk, np.arange(fault.before)), classes)
            self._quarantine.take(fault)
        if bad.any():
            chunk = self._some(chunk, np.flatnonzero(~bad))
        if chunk.n:
            yield _with_labels(chunk, classes)

    def _fault(self, chunk: Chunk, i: int, classes: Classes | ManyClasses | None) -> Fault:
        """Return the fault of example i: its label, if classes are given, otherwise a value."""
        value = "a value is not a finite number"
        reason = value if classes is None else unknown_label_reason(chunk.y[i], classes)
        return Fault(i, chunk.place(i), reason, chunk.written(i))

    def _some(self, chunk: Chunk, rows: NDArray[np.intp]) -> Chunk:
        """Return some examples; where only the lines tell how many features there are, those that are left tell it."""
        some = chunk.take(rows)
        if self._reader.width_from_entries and isinstance(some.matrix, CsrMatrix):
            return replace(some, matrix=some.matrix.narrowed())
        return some


def _with_labels(chunk: Chunk, classes: Classes | ManyClasses | None) -> Chunk:
    """Return a chunk with labels of the classes' own type, and its faults dealt with."""
    y = chunk.y if classes is None else chunk.y.astype(classes.labels.dtype, copy=False)
    return replace(chunk, y=y, faults=())
