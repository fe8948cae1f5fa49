"""Streams: labelled examples from files and objects, block by block, again each time they are iterated."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk, Fault, Read
from onlinear.data.csr import Csr
from onlinear.data.labels import Classes, declared_classes, distinct, found_classes, plain, show
from onlinear.errors import DataError, ParameterError
from onlinear.streams.formats.libsvm import LibsvmReader
from onlinear.streams.quarantine import Quarantine
from onlinear.streams.reading import Reading, without_blanks

MAX_FEATURES = 1 << 27
_LOOK_AHEAD = 1 << 26
"""How many bytes are held back, at most, until both labels have been seen."""


class Reader(Protocol):
    """Reads one format."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features read so far, where they have any."""

    @property
    def width(self) -> int | None:
        """The number of features, where it is known before anything is read."""

    def reads(self) -> Iterator[Read]:
        """Yield the examples from the first one on, with what could not be read."""


class Stream:
    """Labelled examples, read block by block; `onlinear.open_stream` makes one.

    Iterate it for blocks ``(X, y)``, or hand it to `onlinear.run` and the like. Everything is read anew each
    time; memory holds a few blocks at most.

    Attributes
    ----------
    reading : Reading
        How columns become features.
    skipped : int
        How many lines the last reading has put aside.
    n_features : int or None
        The number of features, where it is known beforehand.
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
                f"n_features is {n_features:,}; at most {max_features:,} (--max-features, max_features=)"
            )
        self._max_features = max_features
        self.reading = reading
        self.n_features = n_features
        self._reader = reader
        self._quarantine = quarantine
        self._declared = classes
        self._classes: Classes | None = None
        self._once = once
        self._begun = False

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features read so far, where they have any."""
        return self._reader.names

    @property
    def classes(self) -> NDArray[Any] | None:
        """The two labels (negative, positive), once they are known."""
        return None if self._classes is None else self._classes.labels

    @property
    def skipped(self) -> int:
        """How many lines the last reading has put aside."""
        return self._quarantine.count

    @property
    def once(self) -> str:
        """What can be read only once, if it is that; otherwise nothing."""
        return self._once

    def expect(self, classes: Classes) -> None:
        """Take a learner's labels for the stream's; others that were declared are refused."""
        if self._declared is not None:
            declared = declared_classes(self._declared).like(classes.labels).labels
            if not np.array_equal(declared, classes.labels):
                mine, others = (" and ".join(map(show, labels)) for labels in (declared, classes.labels))
                raise ParameterError(f"classes are {mine}, but those of the run are {others}, in this order")
        self._classes = classes

    def check_features(self, names: tuple[str, ...] | None, reading: Mapping[str, Any] | None) -> None:
        """Raise where a learner knows its features by other names, or numbers them in another way."""
        here, known = (None if listed is None else without_blanks(listed) for listed in (self.names, names))
        if (known is None) != (here is None) or (known and here and here[: len(known)] != known[: len(here)]):
            raise DataError(
                "the features of these data are not those of the model: their names, or that they have any"
                " (read them as the model's were, like=, and convert them with the same options)"
            )
        before = Reading(**(reading or {})).features_by()
        for name, value in self.reading.features_by().items():
            if value != before[name]:
                was = before[name]
                raise DataError(
                    f"the features of these data are not those of the model: {name} is {value!r}, not {was!r}"
                )

    def scanned_width(self) -> int:
        """Return the number of features; where it is not known beforehand everything is read for it."""
        if self.n_features is None:
            if self._once:
                raise DataError(
                    f"the number of features must be known beforehand, and {self._once} can be read only once;"
                    " say it with --n-features, n_features="
                )
            self.n_features = max((chunk.width for chunk in self.chunks()), default=None)
            if self.n_features is None:
                raise DataError("no examples")
        return self.n_features

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield blocks ``(X, y)``."""
        return ((chunk.X, chunk.y) for chunk in self.chunks())

    def chunks(self) -> Iterator[Chunk]:
        """Yield blocks that know where their examples stand; every label is one of the two."""
        held: list[Chunk] = []
        labels: list[Any] = []
        size = 0
        for chunk, faults in self._reads():
            if self._classes is None:
                labels = distinct(chunk.y, labels)
                self._classes = self._found(labels, chunk)
            if self._classes is None:
                for fault in faults:
                    self._quarantine.take(fault)
                # A copy: whoever makes the blocks may reuse their memory.
                held.append(chunk.copied())
                size += chunk.nbytes
                if size > _LOOK_AHEAD:
                    raise DataError(
                        f"{chunk.place(chunk.n - 1)}: all examples so far have the label {show(plain(labels[0]))};"
                        " name both with --classes, classes=(negative, positive)"
                    )
                continue
            for early in held:
                yield from self._sorted_out(early, (), self._classes)
            held = []
            yield from self._sorted_out(chunk, faults, self._classes)
        if held:
            found_classes([plain(label) for label in labels])

    def unlabelled(self) -> Iterator[Chunk]:
        """Yield blocks whose labels nobody has looked at."""
        for chunk, faults in self._reads():
            yield from self._sorted_out(chunk, faults, None)

    def _reads(self) -> Iterator[Read]:
        """Yield what the reader yields, with what only the stream knows."""
        if self._once and self._begun:
            raise DataError(f"{self._once} can be read only once")
        self._begun = True
        with self._quarantine:
            for chunk, faults in self._reader.reads():
                if chunk.width > self._max_features:
                    raise DataError(
                        f"{chunk.place(0)} and on: there are {chunk.width:,} features;"
                        f" at most {self._max_features:,} (--max-features, max_features=)"
                    )
                yield Read(replace(chunk, feature=self._feature), faults)

    def _feature(self, column: int) -> str:
        """Return what a feature is called where it was read."""
        names = self.names
        if names is not None and column < len(names):
            return f"feature {names[column]!r}"
        return f"index {column + self._reader.lowest}" if isinstance(self._reader, LibsvmReader) else f"column {column}"

    def _found(self, labels: list[Any], chunk: Chunk) -> Classes | None:
        """Return the classes, where they are declared or both have been seen."""
        if self._declared is not None:
            return declared_classes(self._declared).like(chunk.y)
        return found_classes(labels).like(chunk.y) if len(labels) == 2 else None

    def _sorted_out(self, chunk: Chunk, faults: Iterable[Fault], classes: Classes | None) -> Iterator[Chunk]:
        """Yield the examples that can be learned from; the others, and the faults among them, in their order.

        Where faults are raised, what stands before the first of them is yielded before.
        """
        strange = np.zeros(chunk.n, dtype=bool)
        if classes is not None:
            strange = (chunk.y != classes.labels[0]) & (chunk.y != classes.labels[1])
        # A learner would refuse what is not finite, but there it could not be put aside.
        bad = strange | _not_finite(chunk.matrix) if self._quarantine.skips else strange
        own = (self._fault(chunk, i, classes if strange[i] else None) for i in np.flatnonzero(bad).tolist())
        for fault in heapq.merge(faults, own, key=lambda one: one.before):
            if fault.before and not self._quarantine.skips:
                yield _with_labels(self._some(chunk, np.arange(fault.before)), classes)
            self._quarantine.take(fault)
        if bad.any():
            chunk = self._some(chunk, np.flatnonzero(~bad))
        if chunk.n:
            yield _with_labels(chunk, classes)

    def _fault(self, chunk: Chunk, i: int, classes: Classes | None) -> Fault:
        """Return what is wrong with example i: its label, where there are classes, otherwise a value."""
        if classes is not None:
            both = f"{show(classes.labels[0])} (negative) and {show(classes.labels[1])} (positive)"
            reason = f"label {show(plain(chunk.y[i]))}; the labels are {both}"
        else:
            reason = "a value is not a finite number"
        return Fault(i, chunk.place(i), reason, chunk.written(i))

    def _some(self, chunk: Chunk, rows: NDArray[np.intp]) -> Chunk:
        """Return some examples; where only the lines say how many features there are, those that are left say it."""
        some = chunk.take(rows)
        if not isinstance(self._reader, LibsvmReader):
            return some
        X = some.matrix
        return replace(some, matrix=Csr(X.data, X.indices, X.indptr, int(X.indices.max(initial=0)) + 1))


def _with_labels(chunk: Chunk, classes: Classes | None) -> Chunk:
    """Return a chunk with labels of the classes' own type."""
    return chunk if classes is None else replace(chunk, y=chunk.y.astype(classes.labels.dtype, copy=False))


def _not_finite(X: Any) -> NDArray[np.bool_]:
    """Tell which rows have an entry that is no finite number."""
    if not hasattr(X, "indptr"):
        finite = np.isfinite(X) if X.dtype.kind == "f" else np.ones(X.shape, dtype=bool)
        return np.asarray(~finite.all(axis=1), dtype=bool)
    rows = np.zeros(X.shape[0], dtype=bool)
    places = np.flatnonzero(~np.isfinite(X.data))
    rows[np.searchsorted(X.indptr, places, side="right") - 1] = True
    return rows
