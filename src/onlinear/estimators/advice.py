"""Experts of every make: asked for their advice on an example, and then told the answer.

An expert is an online classifier: one of this package's, any of scikit-learn's make with ``partial_fit`` and
``predict``, or any of River's with ``learn_one`` and ``predict_one``. Advice is −1 (the first class) or +1. An expert
that has nothing to say before it has learned (scikit-learn's `NotFittedError`, River's None) advises the first class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing

from onlinear.data.labels import Classes
from onlinear.errors import DataError, ParameterError

Advice: TypeAlias = NDArray[np.int8]

_SIGNS = {None: -1, False: -1, True: +1}
"""What River's answers mean."""


class Rows(NamedTuple):
    """Examples in the forms in which experts take them."""

    table: Any
    """As they were given where their columns have names; otherwise the matrix."""
    matrix: Any
    """An array or a CSR matrix."""
    names: Sequence[Any]
    """The names of the columns, or their numbers."""

    def one_by_one(self) -> Iterator[Any]:
        """Yield tables of one row."""
        for i in range(self.matrix.shape[0]):
            yield _safe_indexing(self.table, slice(i, i + 1))

    def as_dicts(self) -> Iterator[dict[Any, Any]]:
        """Yield dicts by name; of a sparse matrix, with the entries that are stored."""
        if scipy.sparse.issparse(self.matrix):
            yield from _stored(self.matrix, self.names)
            return
        for row in self.matrix:
            yield dict(zip(self.names, row.tolist(), strict=True))


def _stored(matrix: Any, names: Sequence[Any]) -> Iterator[dict[Any, Any]]:
    for first, last in pairwise(matrix.indptr):
        columns = [names[j] for j in matrix.indices[first:last]]
        yield dict(zip(columns, matrix.data[first:last].tolist(), strict=True))


def rows_of(X: Any, matrix: Any, names: NDArray[Any] | None) -> Rows:
    """Return the rows of X, of which a matrix has been made, with the names of the columns where they have any."""
    if scipy.sparse.issparse(matrix):
        matrix = _without_duplicates(matrix)
    if names is None:
        return Rows(matrix, matrix, range(matrix.shape[1]))
    return Rows(X if hasattr(X, "columns") else matrix, matrix, names.tolist())


def _without_duplicates(matrix: Any) -> Any:
    """Return a CSR matrix whose entries each stand for themselves: some experts count them."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def named(experts: Any) -> list[tuple[str, Any]]:
    """Return pairs (name, expert); one that comes without a name is called by its class, and numbered among equals.

    What is no list of experts has none: it is refused when they are needed.
    """
    if not isinstance(experts, list | tuple):
        return []
    kinds = [None if _is_pair(expert) else type(expert).__name__.lower() for expert in experts]
    pairs = []
    for k, (expert, kind) in enumerate(zip(experts, kinds, strict=True)):
        number = f"-{kinds[: k + 1].count(kind)}" if kinds.count(kind) > 1 else ""
        pairs.append(expert if kind is None else (f"{kind}{number}", expert))
    return pairs


def _is_pair(expert: Any) -> bool:
    return isinstance(expert, tuple) and len(expert) == 2 and isinstance(expert[0], str)


def fresh(name: str, expert: Any) -> Any:
    """Return an expert with the same parameters that has learned nothing, once it is known to be one."""
    if isinstance(expert, type):
        raise ParameterError(f"{expert.__name__} is a class; an expert is an instance of it: {expert.__name__}(...)")
    if hasattr(expert, "learn_one") and hasattr(expert, "predict_one"):
        return expert.clone()
    if hasattr(expert, "partial_fit") and hasattr(expert, "predict"):
        return clone(expert)
    raise ParameterError(
        f"expert {name!r} is {expert!r}, which cannot learn online; an expert has partial_fit and predict"
        " (scikit-learn) or learn_one and predict_one (River)"
    )


def asked(experts: Mapping[str, Any], rows: Rows, classes: Classes) -> Advice:
    """Return the experts' advice on each row, one column an expert; nobody learns."""

    def answers(expert: Any) -> Advice:
        if hasattr(expert, "predict_one"):
            return _signs([expert.predict_one(x) for x in rows.as_dicts()])
        return classes.encode(np.asarray(expert.predict(rows.table)))

    return _columns(experts, rows, answers)


def told(experts: Mapping[str, Any], rows: Rows, y: NDArray[Any], classes: Classes) -> Advice:
    """Tell the experts the answers one after the other; return the advice that each had given before, as columns."""
    positive = classes.encode(y) > 0  # a label that is neither is refused before anybody learns

    def answers(expert: Any) -> Advice:
        if hasattr(expert, "learn_one"):
            return _told_by_dict(expert, rows, positive)
        if hasattr(expert, "_advise"):
            return classes.encode(expert._advise(rows.table, y, classes.labels))
        return classes.encode(_told_by_row(expert, rows, y, classes.labels))

    return _columns(experts, rows, answers)


def _columns(experts: Mapping[str, Any], rows: Rows, answers: Callable[[Any], Advice]) -> Advice:
    advice = np.empty((rows.matrix.shape[0], len(experts)), dtype=np.int8)
    for k, (name, expert) in enumerate(experts.items()):
        try:
            advice[:, k] = answers(expert)
        except Exception as error:
            error.add_note(f"This was the expert {name!r}.")
            raise
    return advice


def _told_by_dict(expert: Any, rows: Rows, y: NDArray[np.bool_]) -> Advice:
    """River's way; two classes are False and True to its classifiers."""
    said = []
    for x, answer in zip(rows.as_dicts(), y.tolist(), strict=True):
        said.append(expert.predict_one(x))
        expert.learn_one(x, answer)
    return _signs(said)


def _told_by_row(expert: Any, rows: Rows, y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """scikit-learn's way."""
    said = []
    for i, x in enumerate(rows.one_by_one()):
        try:
            said.append(expert.predict(x)[0])
        except NotFittedError:
            said.append(classes[0])
        # Once is enough, and comparing them with those known takes a good part of the time.
        expert.partial_fit(x, y[i : i + 1], classes=classes if i == 0 else None)
    return np.array(said)


def _signs(said: list[Any]) -> Advice:
    try:
        return np.array([_SIGNS[answer] for answer in said], dtype=np.int8)
    except KeyError as error:
        raise DataError(
            f"advice {error}; it was told False and True, and must answer so: is it a classifier?"
        ) from error
