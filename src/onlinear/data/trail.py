"""The checksum of chunks of examples, as they are read."""

from __future__ import annotations

import hashlib

import numpy as np

from onlinear.data.checksum import Checksum
from onlinear.data.chunk import Chunk
from onlinear.data.labels import Classes, ManyClasses, rows_of_new_labels
from onlinear.data.one_label import plain


class Trail:
    """The examples read so far: their number, and their checksum.

    Labels count by their codes. Where new classes are accepted (None), they are numbered in the order of their first
    examples, so that it makes no difference which classes a learner knows, and count by this list as well.
    """

    def __init__(self, classes: Classes | ManyClasses | None) -> None:
        self.rows = 0
        self._classes = classes
        self._met = ManyClasses(np.empty(0, dtype=bool))
        self._checksum = Checksum()

    def add(self, chunk: Chunk, rows: slice) -> None:
        """Take in some of the examples of a chunk."""
        for span in chunk.spans(rows):
            self._checksum.add(chunk.row_sums(span), chunk.codes(self._classes or self._meet(chunk, span), span))
        self.rows += rows.stop - rows.start

    def _meet(self, chunk: Chunk, rows: slice) -> ManyClasses:
        """Return the labels so far, in the order of their first examples."""
        y = chunk.y[rows]
        new = rows_of_new_labels(y, self._met)
        if new:
            self._met = ManyClasses(np.concatenate([self._met.labels, y[new]]) if self._met.labels.size else y[new])
        return self._met

    def __str__(self) -> str:
        if not self._met.labels.size:
            return str(self._checksum)
        labels = [plain(label) for label in self._met.labels]
        return hashlib.blake2b(f"{self._checksum} {labels!r}".encode(), digest_size=16).hexdigest()
