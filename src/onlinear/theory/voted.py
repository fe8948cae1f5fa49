"""Examples of any number of classes, as a vote sees them: only their labels matter to its theorems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onlinear.data.checksum import Checksum
from onlinear.data.labels import ManyClasses
from onlinear.theory.reading import LabelledData, LabelledRows


class VotedExamples:
    """Examples with the numbers of their classes, read again and again; nothing is held in memory."""

    def __init__(self, X: Any, y: Any, classes: Any, n_features: int) -> None:
        self._data = data = LabelledData(X, y)
        self._classes = ManyClasses(np.asarray(classes))
        self.n, self.entries, self.layout = data.n, data.entries, data.layout
        self.width = max(data.width, n_features)
        self.bias = 0

    @property
    def classes(self) -> Any:
        """The labels."""
        return self._classes.labels

    @property
    def seen(self) -> VotedExamples:
        """The examples that the proofs are about: these."""
        return self

    def blocks(self, passes: int = 1) -> Iterator[LabelledRows]:
        """Yield all rows in order."""
        return self._data.rows(self._classes, passes)

    def checksum(self, passes: int) -> str:
        """Return the running checksum of a stream that consists of several passes over the examples."""
        checksum = Checksum()
        for rows in self.blocks(passes):
            checksum.add(rows.row_sums(), rows.y)
        return str(checksum)
