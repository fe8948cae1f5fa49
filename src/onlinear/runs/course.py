"""The examples of a stream, pass after pass; every pass must read the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from onlinear.checks import check_integers
from onlinear.data.checksum import RowSums
from onlinear.data.chunk import Chunk
from onlinear.data.trail import Trail
from onlinear.errors import DataError
from onlinear.models.checkpoint import Contents
from onlinear.streams.shuffle import shuffled
from onlinear.streams.stream import Stream


class Course:
    """The examples of a stream, pass after pass, in order or shuffled for each pass.

    What a pass has read is compared with what the first one read: a file may change in the meantime. With a single
    pass there is nothing to compare, unless there is a checkpoint, from which the pass may be resumed.
    """

    def __init__(self, stream: Stream, passes: int, window: int, seed: int, *, checkpoint: bool = False) -> None:
        check_integers(1, passes=passes)
        check_integers(0, shuffle=window, seed=seed)
        if passes > 1 and stream.once:
            raise DataError(f"{stream.once} can be read only once, but {passes} passes were requested")
        self.passes, self.window, self.seed = passes, window, seed
        # What is found out about the labels and the features stays out of the caller's stream.
        self.stream = stream.independent()
        self._watched = checkpoint or passes > 1
        self._remedy = "; remove the checkpoint to start again" if checkpoint else ""
        self.contents: Contents | None = None
        """What a whole pass has read, once there has been one."""
        self.number = 0
        """The number of the current pass."""
        self.begins = False
        """Whether the chunk yielded last is its first."""
        self.read = False
        """Whether anything has been yielded."""

    def chunks(self, first: int = 0) -> Iterator[Chunk]:
        """Yield the examples of all passes from pass `first` on."""
        for number in range(first, self.passes):
            chunks = self._watch() if self._watched else self.stream.chunks()
            if self.window:
                chunks = shuffled(chunks, self.window, self.seed, number)
            self.number, self.begins = number, True
            for chunk in chunks:
                self.read = True
                yield chunk
                self.begins = False

    def read_again(self) -> None:
        """Read the data once more, only to see whether they are the same as before."""
        for _ in self._watch():
            pass

    def _watch(self) -> Iterator[Chunk]:
        """Yield the examples of a pass, and compare them with those of the first pass at the end."""
        trail: Trail | None = None
        for chunk in self.stream.chunks():
            trail = trail or Trail(self.stream.encoding)
            summed = _with_sums(chunk)
            trail.add(summed, slice(0, chunk.n))
            yield summed
        trail = trail or Trail(None)
        found = Contents(trail.rows, str(trail))
        if self.contents is None:
            self.contents = found
        elif found != self.contents:
            before = self.contents.rows
            how = "their checksums differ"
            if trail.rows != before:
                how = f"it had {before:,} examples, this one {trail.rows:,}"
            raise DataError(f"the data have changed since the first pass: {how}{self._remedy}")


def _with_sums(chunk: Chunk) -> Chunk:
    """Return a chunk with its row sums, so that they are computed once."""
    if chunk.sums is not None:
        return chunk
    parts = [chunk.row_sums(span) for span in chunk.spans()]
    return replace(chunk, sums=RowSums(*map(np.concatenate, zip(*parts, strict=True))))
