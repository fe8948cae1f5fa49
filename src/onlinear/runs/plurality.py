"""A learner from experts' advice on more than two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.matrices import from_block
from onlinear.engine import plurality
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block, DenseBlock, SparseBlock
from onlinear.errors import DataError, RuleError
from onlinear.models.state import weights_of
from onlinear.rules.rule import predicts_by_sign
from onlinear.runs.learner import Learner


class PluralityLearner(Learner):
    """Learns from the numbers of the classes that experts name; it predicts the class with the largest weight."""

    def _learn(
        self,
        runner: Any,
        block: Block,
        y: NDArray[Any],
        first: int,
        limit: int,
        scores: Floats,
        events: NDArray[np.int32],
    ) -> int:
        advice = self._advice(block)
        right = np.where(advice == y[: len(advice), None], 1.0, -1.0)
        given = weights_of(self.arrays), advice, DenseBlock(right, 0, normalize=False), y[: len(advice)], first
        draws, votes = not predicts_by_sign(self.rule), np.empty(self.classes.labels.size)
        record = limit, self.counts, votes, scores, events
        return int(runner(plurality.learn_plurality, self.arrays, *given, draws, *record))

    def _score(self, runner: Any, block: Block, n: int, t: int) -> tuple[Floats, NDArray[Any], int]:
        k = self.classes.labels.size
        scores, codes, advice = np.empty((n, k)), np.empty(n, dtype=np.intp), self._advice(block)
        given = weights_of(self.arrays), advice, k, scores.reshape(-1), codes[: len(advice)]
        return scores, codes, int(runner(plurality.score_plurality, self.arrays, *given))

    def refuse(self, chunk: Chunk, i: int) -> DataError | RuleError:
        """Return the error for row i of a chunk."""
        k = self.classes.labels.size
        bad = chunk.matrix.find(i, lambda values: _are_codes(values, k))
        if bad is None:
            return super().refuse(chunk, i)
        column, value = bad
        demand = f"advice on {k} classes must be the number of a class in every column, 0 to {k - 1}"
        return DataError(f"{chunk.place(i)}, {chunk.feature(column)}: value {value}; {demand}")

    def _advice(self, block: Block) -> NDArray[np.intp]:
        """Return the advice in a block, up to the first row that names no class."""
        values: Any = block.values
        if isinstance(block, SparseBlock):
            stored: Any = from_block(block).native()
            values = stored.toarray()
        good = _are_codes(values, self.classes.labels.size).all(axis=1)
        end = len(values) if good.all() else int(np.argmin(good))
        return np.ascontiguousarray(values[:end], dtype=np.intp)


def _are_codes(values: NDArray[Any], classes: int) -> NDArray[np.bool_]:
    """Tell which values are numbers of classes."""
    good: NDArray[np.bool_] = (values >= 0) & (values < classes) & (values == np.floor(values))
    return good
