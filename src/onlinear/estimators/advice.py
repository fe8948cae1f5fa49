"""Experts of any library: ask them for advice on examples, and teach them the labels.

An expert is an online classifier: one of this package's, any scikit-learn classifier with ``partial_fit`` and
``predict``, or any River classifier with ``learn_one`` and ``predict_one``. Advice is −1 (the first class) or +1; with
more than two classes, the number of a class. An expert that cannot predict yet (scikit-learn raises `NotFittedError`,
River returns None) advises the first class.
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
from sklearn.utils import _safe_indexing, get_tags

from onlinear.data.labels import Classes, ManyClasses
from onlinear.errors import DataError, ParameterError

AdviceMatrix: TypeAlias = NDArray[Any]
"""±1, or the numbers of classes, with a row per example and a column per expert."""
Encoding: TypeAlias = Classes | ManyClasses

_SIGNS = {None: -1, False: -1, True: +1}
"""The advice that each answer of a River classifier about two classes stands for."""


class ExpertInputs(NamedTuple):
    """Examples in the forms that experts take."""

    table: Any
    """The frame that was given, if its columns have names; otherwise the matrix."""
    matrix: Any
    """An array or a CSR matrix."""
    names: Sequence[Any]
    """The names of the columns, or their numbers."""

    def one_by_one(self) -> Iterator[Any]:
        """Yield tables of one row."""
        for i in range(self.matrix.shape[0]):
            yield _safe_indexing(self.table, slice(i, i + 1))

    def as_dicts(self) -> Iterator[dict[Any, Any]]:
        """Yield dicts by name; for a sparse matrix, of the stored entries."""
        if scipy.sparse.issparse(self.matrix):
            yield from _stored(self.matrix, self.names)
            return
        for row in self.matrix:
            yield dict(zip(self.names, row.tolist(), strict=True))


def _stored(matrix: Any, names: Sequence[Any]) -> Iterator[dict[Any, Any]]:
    for first, last in pairwise(matrix.indptr):
        columns = [names[j] for j in matrix.indices[first:last]]
        yield dict(zip(columns, matrix.data[first:last].tolist(), strict=True))


def expert_inputs(X: Any, matrix: Any, names: NDArray[Any] | None) -> ExpertInputs:
    """Return X, which was converted to a matrix, with the names of its columns if they have any."""
    if scipy.sparse.issparse(matrix):
        matrix = _with_unique_entries(matrix)
    if names is None:
        return ExpertInputs(matrix, matrix, range(matrix.shape[1]))
    return ExpertInputs(X if hasattr(X, "columns") else matrix, matrix, names.tolist())


def _with_unique_entries(matrix: Any) -> Any:
    """Return a CSR matrix without duplicate entries: some experts count entries."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def name_experts(experts: Any) -> list[tuple[str, Any]]:
    """Return pairs (name, expert). The default name is that of the class, numbered if several experts share it.

    Anything but a list gives no experts; they are checked when they are needed.
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


def clone_expert(name: str, expert: Any) -> Any:
    """Return an untrained expert with the same parameters; raise if it is not an online classifier."""
    if isinstance(expert, type):
        raise ParameterError(f"{expert.__name__} is a class; an expert must be an instance: {expert.__name__}(...)")
    if hasattr(expert, "learn_one") and hasattr(expert, "predict_one"):
        return expert.clone()
    if hasattr(expert, "partial_fit") and hasattr(expert, "predict"):
        return clone(expert)
    raise ParameterError(
        f"expert {name!r} is {expert!r}, which cannot learn online; an expert needs partial_fit and predict"
        " (scikit-learn) or learn_one and predict_one (River)"
    )


def has_many_classes(expert: Any) -> bool:
    """Tell whether an expert says that it can learn more than two classes, or does not say."""
    tags = tags_of(expert)
    if tags is None:
        return bool(getattr(expert, "_multiclass", True))
    return tags.classifier_tags is None or bool(tags.classifier_tags.multi_class)


def tags_of(expert: Any) -> Any:
    """Return scikit-learn's tags of an expert; None if it is not of that kind."""
    # River's wrappers claim to have whatever is asked of them.
    has = not hasattr(expert, "learn_one") and hasattr(expert, "__sklearn_tags__") and not isinstance(expert, type)
    return get_tags(expert) if has else None


def ask(experts: Mapping[str, Any], inputs: ExpertInputs, classes: Encoding) -> AdviceMatrix:
    """Return the advice of the experts; they do not learn."""

    def answers(expert: Any) -> NDArray[Any]:
        if hasattr(expert, "predict_one"):
            return _codes([expert.predict_one(x) for x in inputs.as_dicts()], classes)
        return classes.encode(np.asarray(expert.predict(inputs.table)))

    return _columns(experts, inputs, answers)


def train_experts(experts: Mapping[str, Any], inputs: ExpertInputs, y: NDArray[Any], classes: Encoding) -> AdviceMatrix:
    """Train the experts on the examples in order; return their advice on each example before they learned from it."""
    codes = classes.encode(y)  # raises for an unknown label before any expert learns
    labels = (codes > 0).tolist() if isinstance(classes, Classes) else y.tolist()

    def answers(expert: Any) -> NDArray[Any]:
        if hasattr(expert, "learn_one"):
            return _codes(_teach_by_dict(expert, inputs, labels), classes)
        if hasattr(expert, "_advise"):
            return classes.encode(expert._advise(inputs.table, y, classes.labels))
        return classes.encode(_teach_by_row(expert, inputs, y, classes.labels))

    return _columns(experts, inputs, answers)


def _columns(experts: Mapping[str, Any], inputs: ExpertInputs, answers: Callable[[Any], NDArray[Any]]) -> AdviceMatrix:
    advice = np.empty((inputs.matrix.shape[0], len(experts)), dtype=np.int64)
    for k, (name, expert) in enumerate(experts.items()):
        try:
            advice[:, k] = answers(expert)
        except Exception as error:
            error.add_note(f"This was the expert {name!r}.")
            raise
    return advice


def _teach_by_dict(expert: Any, inputs: ExpertInputs, labels: list[Any]) -> list[Any]:
    """Train a River classifier: two classes have the labels False and True."""
    answers = []
    for x, label in zip(inputs.as_dicts(), labels, strict=True):
        answers.append(expert.predict_one(x))
        expert.learn_one(x, label)
    return answers


def _teach_by_row(expert: Any, inputs: ExpertInputs, y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Train a scikit-learn classifier."""
    answers = []
    for i, x in enumerate(inputs.one_by_one()):
        try:
            answers.append(expert.predict(x)[0])
        except NotFittedError:
            answers.append(classes[0])
        # Once is enough, and scikit-learn takes long to compare them with the known ones.
        expert.partial_fit(x, y[i : i + 1], classes=classes if i == 0 else None)
    return np.array(answers)


def _codes(answers: list[Any], classes: Encoding) -> NDArray[Any]:
    """Return what the answers of a River classifier stand for."""
    if isinstance(classes, ManyClasses):
        first = classes.labels[0].item()
        return classes.encode(np.array([first if answer is None else answer for answer in answers]))
    try:
        return np.array([_SIGNS[answer] for answer in answers], dtype=np.int8)
    except KeyError as error:
        raise DataError(
            f"advice {error}; the labels are False and True, and the advice must be too: is it a classifier?"
        ) from error
