"""Learning in compiled code, with the weights in arrays and an index for each name."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.labels import Classes, cut_at_new_labels
from onlinear.engine.flat import Floats
from onlinear.engine.rows import NO_WEIGHTS, SparseBlock
from onlinear.errors import DataError, OnlinearError
from onlinear.river.values import row_refusal
from onlinear.rules.rule import INPUTS
from onlinear.runs.blame import rule_fault
from onlinear.runs.learner import Learner
from onlinear.runs.learners import resume_learner
from onlinear.runs.majority import MajorityLearner

_ENTRIES = 1 << 16
"""The number of table entries per block."""
_ORDINARY = 1e60
"""Numbers below this are too small for any rule to overflow."""


class ByNumber:
    """A `Learner`, and the index of each feature in its arrays.

    Examples come as tables: names, and a row of values per example. A failure leaves the state unchanged, except when a
    user's rule fails in the middle of its update on a single example.

    Attributes
    ----------
    learner : Learner
        Replaced by a new one when learning has succeeded.
    index : dict
        The index of each feature, in the order of their first example.
    """

    def __init__(self, learner: Learner, names: Iterable[Hashable]) -> None:
        self.learner = learner
        self.index = {name: j for j, name in enumerate(names)}
        self._codes_of: Any = None
        self._codes: dict[Any, NDArray[Any]] = {}

    def __getstate__(self) -> tuple[Any, ...]:
        return self.learner.rule, self.learner.glance(), tuple(self.index)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        rule, rest, names = state
        self.__init__(resume_learner(rule, rest), names)  # type: ignore[misc]

    def score(self, names: list[Any], values: Floats) -> tuple[Floats, NDArray[Any]]:
        """Return the score of each row and its predicted sign; or a row of scores and the index of the predicted class.

        A new feature has its initial weight.
        """
        numbers, learner = self._locate(names)
        learner = learner.predictor()
        parts = []
        for rows, block in _blocks(values, numbers, learner, NO_WEIGHTS):
            scores, codes, end = learner.score(block, rows.stop - rows.start, learner.rounds + rows.start)
            if end < rows.stop - rows.start:
                raise _refusal(names, values, rows.start + end, numbers, learner)
            parts.append((scores, codes))
        if len(parts) == 1:
            return parts[0]
        all_scores, all_codes = zip(*parts, strict=True)
        return np.concatenate(all_scores), np.concatenate(all_codes)

    def learn(self, names: list[Any], values: Floats, labels: NDArray[Any], weights: Floats = NO_WEIGHTS) -> None:
        """Learn from the rows in order; labels may be new if each class has a weight vector."""
        numbers, learner = self._locate(names)
        if len(values) > 1 or not _is_learned_from_or_not_at_all(values, learner):
            learner = learner.twin()
        for part, new in _parts(labels, learner):
            if new.size:
                learner = copy.copy(learner)
                learner.take_classes(np.append(learner.classes.labels, new))
            codes = self._encode(learner.classes, labels[part], part.start)
            for rows, block in _blocks(values[part], numbers, learner, weights[part]):
                done = rows.start + learner.learn(block, codes[rows])
                if done < rows.stop:
                    raise _refusal(names, values, part.start + done, numbers, learner)
        self.learner = learner
        if learner.n_features > len(self.index):
            for name in names:
                self.index.setdefault(name, len(self.index))

    def _encode(self, classes: Any, labels: NDArray[Any], first: int) -> NDArray[Any]:
        """Return the codes of labels; that of a single label is cached, since encoding takes longer than learning."""
        if labels.size > 1:
            return classes.encode(labels, lambda i: f"row {first + i}")  # type: ignore[no-any-return]
        if self._codes_of is not classes:
            self._codes_of, self._codes = classes, {}
        label = labels[0].item()
        if label not in self._codes:
            self._codes[label] = classes.encode(labels, lambda i: f"row {first + i}")
        return self._codes[label]

    def _locate(self, names: list[Any]) -> tuple[NDArray[np.int32], Learner]:
        """Return the indices of features, and a learner that has weights for all of them."""
        index = self.index
        try:
            return np.array([index[name] for name in names], dtype=np.int32), self.learner
        except KeyError:
            new = [name for name in names if name not in index]
        places = {name: len(index) + i for i, name in enumerate(new)}
        wider = copy.copy(self.learner)
        wider.grow(len(index) + len(new))
        return np.array([index[name] if name in index else places[name] for name in names], dtype=np.int32), wider

    @property
    def counts(self) -> list[int]:
        """The counters of the passes, in their order."""
        counts: list[int] = self.learner.counts.tolist()
        return counts


def _is_learned_from_or_not_at_all(values: Floats, learner: Learner) -> bool:
    """Tell whether a single row cannot leave a state half changed, unless a rule fails in the middle of its update.

    Of a majority, a member may have learned from a row that another one refuses. A row of ordinary numbers is refused
    by none.
    """
    rules = getattr(learner.rule, "members", ())
    return not rules or bool(
        (np.abs(values) < _ORDINARY).all() and all(INPUTS[one.rule.inputs].good(values).all() for one in rules)
    )


def _parts(labels: NDArray[Any], learner: Learner) -> Iterable[tuple[slice, NDArray[Any]]]:
    """Return the rows in parts, each with the label that is new there, if any."""
    classes = learner.classes
    if isinstance(classes, Classes) or (labels.size == 1 and labels[0] in classes.labels):
        return [(slice(0, labels.size), labels[:0])]
    return cut_at_new_labels(labels, classes)


def _refusal(names: list[Any], values: Floats, i: int, numbers: NDArray[np.int32], learner: Learner) -> OnlinearError:
    """Return the error for row i of a table, or for the rule, where that is to blame."""
    if isinstance(learner, MajorityLearner):
        learner = learner.refusing
    if not (np.isfinite(values[i]) & INPUTS[learner.rule.inputs].good(values[i])).all():
        return row_refusal(names, values, i, learner.rule.inputs)
    (_, block), *_ = _blocks(values[i : i + 1], numbers, learner, NO_WEIGHTS)
    where = f"row {i}, " if len(values) > 1 else ""
    return rule_fault(learner, block, f"row {i}") or DataError(f"{where}{learner.overflow(block)}; scale the inputs")


def _blocks(
    values: Floats, numbers: NDArray[np.int32], learner: Learner, weights: Floats
) -> Iterator[tuple[slice, SparseBlock]]:
    """Cut a table into blocks of sparse rows, whose sums run from left to right like those of a single example."""
    n, width = values.shape
    most = min(n, max(1, _ENTRIES // max(1, width)))
    indices = np.tile(numbers, most) if most > 1 else numbers
    indptr = np.arange(most + 1, dtype=np.int32) * np.int32(width)
    for first in range(0, n, max(1, most)):
        rows = slice(first, min(first + most, n))
        size = rows.stop - first
        part = values[rows].ravel(), indices[: size * width], indptr[: size + 1]
        yield rows, SparseBlock(*part, learner.n_features, learner.bias, learner.normalize, weights[rows])
