"""Scoring examples with what has been learned, and noticing features that the model does not have."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.matrices import as_matrix
from onlinear.display import counted
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block, DenseBlock
from onlinear.errors import DataError, DataWarning
from onlinear.models.state import State
from onlinear.runs.learner import classes_of
from onlinear.runs.learners import scoring_learner
from onlinear.spelling import option

_LOOKED_AT = 1 << 12
"""Entries that are looked at together."""
_SHOWN = 5
"""How many columns a message lists."""
_NONE = np.empty(0, dtype=np.intp)


class Scored(NamedTuple):
    """Scored examples of a chunk: which ones, as a pass took them, their scores, and the predicted codes."""

    span: slice
    block: Block
    scores: Floats
    codes: NDArray[Any]


def _leave_out() -> str:
    return f"the model does not know this one; leave such examples out ({option('on_error', 'skip')})"


class Scorer:
    """Scores chunks, one after another, with the final weights of a state.

    Features beyond those of the state have the weights that the rule starts with. The examples that have such features
    are counted, or refused if `strict`.
    """

    def __init__(self, state: State, *, strict: bool = False) -> None:
        self._learner = scoring_learner(state)
        self.state = state
        self.classes = classes_of(state)
        self.classes.remedy = _leave_out
        self.examples = 0
        self.unknown = 0
        """Examples with features that the model does not have."""
        self._strict = strict
        self._first = ""
        self._any_known = False

    def score(self, chunk: Chunk) -> Iterator[Scored]:
        """Yield the scores of a chunk's examples, block by block."""
        learner = self._learner
        scored = self._without_new_features(chunk) if learner.has_fixed_width else chunk
        learner.make_room(scored)
        for span in chunk.spans():
            self._look_at(chunk, span)
            block = scored.block(span, learner.bias, learner.normalize)
            n = span.stop - span.start
            scores, codes, end = learner.score(block, n, self.state.rounds + self.examples)
            if end < n:
                raise learner.refuse(chunk, span.start + end)
            self.examples += n
            yield Scored(span, block, scores, codes)

    def score_all(self, chunk: Chunk, wanted: Callable[[Scored], NDArray[Any]]) -> NDArray[Any]:
        """Return what is wanted of each scored block of a chunk, joined; no examples give an empty array."""
        parts = [wanted(scored) for scored in self.score(chunk)]
        self.finish()
        if not parts:
            none = chunk.block(slice(0, 0))
            scores, codes, _ = self._learner.score(none, 0, 0)
            return wanted(Scored(slice(0, 0), none, scores, codes))
        return np.concatenate(parts)

    def finish(self) -> None:
        """Warn if examples had features that the model does not have."""
        if not self.unknown:
            return
        width = counted(self.state.n_features, "feature")
        if not self._any_known:
            words = f"no example has any of the model's {width}: are these the right data for this model?"
        else:
            weight = self._effect()
            words = (
                f"{self.unknown:,} of {counted(self.examples, 'example')} have features that are not among the model's"
                f" {width}; these features have {weight}"
            )
        warnings.warn(f"{words} (first: {self._first}; {option('strict', True)} makes it an error)", DataWarning, 4)

    def _effect(self) -> str:
        """Return in words what features have that the model does not have."""
        if self._learner.new_features_count():
            return "their first weights"
        return "an effect on the norm alone" if self._learner.normalizes else "no effect"

    def leave_out(self, columns: Sequence[str]) -> None:
        """Warn of columns that are not read, since the model does not have them; raise if `strict`."""
        if not columns:
            return
        listed = ", ".join(map(repr, columns[:_SHOWN])) + (", …" if len(columns) > _SHOWN else "")
        words = "the column is" if len(columns) == 1 else "these columns are"
        if self._strict:
            raise DataError(f"{words} not among the model's: {listed}")
        remedy = f"{option('strict', True)} makes it an error"
        warnings.warn(f"{words} not among the model's and not read: {listed} ({remedy})", DataWarning, 4)

    def _without_new_features(self, chunk: Chunk) -> Chunk:
        known = self.state.n_features
        if chunk.width <= known:
            return chunk
        return replace(chunk, matrix=as_matrix(chunk.matrix.native()[:, :known]))

    def _look_at(self, chunk: Chunk, span: slice) -> None:
        """Count the examples with features that the model does not have."""
        known = self.state.n_features
        if self._any_known and chunk.width <= known:
            return
        block = chunk.block(span)
        self._any_known = self._any_known or _has_entry_below(block, known)
        rows, columns = _entries_from(block, known) if chunk.width > known else (_NONE, _NONE)
        if not rows.size:
            return
        if not self._first:
            self._first = f"{chunk.place(span.start + int(rows[0]))}, {chunk.feature(int(columns[0]))}"
        if self._strict:
            raise DataError(f"{self._first}: the model has no such feature; it has {known:,}")
        self.unknown += np.unique(rows).size


def _has_entry_below(block: Block, width: int) -> bool:
    """Tell whether a block has features below `width`; a dense one has all of them."""
    if isinstance(block, DenseBlock):
        return True
    # A few at a time: nearly always the first ones will do.
    begins = range(int(block.indptr[0]), int(block.indptr[-1]), _LOOKED_AT)
    parts = (slice(begin, min(begin + _LOOKED_AT, begins.stop)) for begin in begins)
    return any(((block.indices[part] < width) & (block.values[part] != 0.0)).any() for part in parts)


def _entries_from(block: Block, width: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the rows and columns of the entries from column `width` on that are not 0."""
    if isinstance(block, DenseBlock):
        rows, columns = np.nonzero(block.values[:, width:])
        return rows, columns + width
    first, end = int(block.indptr[0]), int(block.indptr[-1])
    entries = first + np.flatnonzero((block.indices[first:end] >= width) & (block.values[first:end] != 0.0))
    return np.searchsorted(block.indptr, entries, side="right") - 1, block.indices[entries]
