"""Streams: labelled examples from files and objects, block by block, again each time they are iterated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError
from onlinear.streams.chunk import Chunk, Fault, Read
from onlinear.streams.labels import Classes, declared_classes, distinct, found_classes, plain, show
from onlinear.streams.quarantine import Quarantine
from onlinear.streams.reading import Reading

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
    ) -> None:
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

    def expect(self, classes: Classes) -> None:
        """Take a learner's labels for the stream's, unless others are known."""
        if self._classes is None and self._declared is None:
            self._classes = classes

    def check_names(self, known: tuple[str, ...] | None) -> None:
        """Raise where a learner knows its features by other names, or only one of the two has names for them."""
        here = self.names
        if (known is None) != (here is None) or (known and here and here[: len(known)] != known[: len(here)]):
            raise DataError(
                "the features of these data are not those of the model: their names, or that they have any"
                " (read them with like=, and convert them with the same options)"
            )

    def scanned_width(self) -> int:
        """Return the number of features; where it is not known beforehand everything is read for it."""
        if self.n_features is None:
            if self._once:
                raise DataError(
                    f"the number of features must be known beforehand, and {self._once} can be read only once;"
                    " say it with --n-features, n_features="
                )
            self.n_features = max((chunk.X.shape[1] for chunk in self.chunks()), default=None)
            if self.n_features is None:
                raise DataError("no examples")
        return self.n_features

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield blocks ``(X, y)``."""
        return ((chunk.X, chunk.y) for chunk in self.chunks())

    def chunks(self) -> Iterator[Chunk]:
        """Yield blocks that know where their examples stand; every label is one of the two."""
        held: list[Chunk] = []
        for chunk in self.unlabelled():
            if self._classes is None:
                held.append(chunk)
                self._classes = self._found(held)
                if self._classes is None:
                    # Whoever makes the blocks may reuse their memory.
                    held[-1] = chunk.copied()
                    continue
                for early in held:
                    yield from self._labelled(early, self._classes)
                held = []
            else:
                yield from self._labelled(chunk, self._classes)
        if held:
            found_classes([plain(label) for label in distinct(held[0].y, [])])

    def unlabelled(self) -> Iterator[Chunk]:
        """Yield blocks whose labels nobody has looked at."""
        if self._once and self._begun:
            raise DataError(f"{self._once} can be read only once")
        self._begun = True
        with self._quarantine:
            for chunk, faults in self._reader.reads():
                if faults and not self._quarantine.skips:
                    if faults[0].before:
                        yield chunk.take(np.arange(faults[0].before))
                    self._quarantine.take(faults[0])
                for fault in faults:
                    self._quarantine.take(fault)
                if chunk.n:
                    yield chunk

    def _found(self, held: list[Chunk]) -> Classes | None:
        """Return the classes, where they are declared or have both been seen."""
        if self._declared is not None:
            return declared_classes(self._declared).like(held[0].y)
        labels: list[Any] = []
        for chunk in held:
            labels = distinct(chunk.y, labels)
        if len(labels) == 2:
            return found_classes(labels).like(held[0].y)
        if sum(chunk.nbytes for chunk in held) > _LOOK_AHEAD:
            raise DataError(
                f"{held[-1].place(held[-1].n - 1)}: all examples so far have the label {show(plain(labels[0]))};"
                " name both with --classes, classes=(negative, positive)"
            )
        return None

    def _labelled(self, chunk: Chunk, classes: Classes) -> Iterator[Chunk]:
        """Yield the examples whose label is one of the two; put the others aside."""
        known = (chunk.y == classes.labels[0]) | (chunk.y == classes.labels[1])
        good = np.flatnonzero(known)
        if good.size == chunk.n:
            yield _with_labels(chunk, classes)
            return
        strange = np.flatnonzero(~known)
        if not self._quarantine.skips:
            good = good[good < strange[0]]
            strange = strange[:1]
        if good.size:
            kept = chunk.take(good)
            # Where nothing but the examples says how many features there are, those that are left say it.
            unknown = self._reader.names is None and self._reader.width is None
            yield _with_labels(_narrowed(kept) if unknown else kept, classes)
        both = f"{show(classes.labels[0])} (negative) and {show(classes.labels[1])} (positive)"
        for i in strange.tolist():
            reason = f"label {show(plain(chunk.y[i]))}; the labels are {both}"
            self._quarantine.take(Fault(i, chunk.place(i), reason, chunk.written(i)))


def _with_labels(chunk: Chunk, classes: Classes) -> Chunk:
    """Return a chunk with labels of the classes' own type."""
    return replace(chunk, y=chunk.y.astype(classes.labels.dtype, copy=False))


def _narrowed(chunk: Chunk) -> Chunk:
    """Return a sparse chunk no wider than its examples; a dense one as it is."""
    X = chunk.X
    if not hasattr(X, "indptr"):
        return chunk
    width = int(X.indices.max(initial=0)) + 1
    return replace(chunk, X=type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], width)))
