"""Labels: two of them become −1 and +1, more than two become 0, 1, 2 and so on."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_unmasked
from onlinear.errors import DataError, ParameterError

_SEARCHED = 1 << 16
"""Labels that are searched at a time."""

Place: TypeAlias = Callable[[int], str]
"""Where a label stands, given its number in an array."""


def name_row(i: int) -> str:
    """Return the place of a label in an array."""
    return f"row {i}"


class Classes:
    """The two labels: the smaller one is negative, the larger positive, as NumPy sorts them."""

    def __init__(self, labels: NDArray[Any]) -> None:
        self.labels = labels.copy()
        self.labels.flags.writeable = False

    def encode(self, y: NDArray[Any], place: Place = name_row) -> NDArray[np.int8]:
        """Return −1 or +1 for each label."""
        positive = _equal(y, self.labels[1])
        known = _equal(y, self.labels[0])
        if np.count_nonzero(positive) + np.count_nonzero(known) != y.size:
            i = int(np.argmin(positive | known))
            check_label(y[i], place(i))
            raise DataError(
                f"{place(i)}: label {show(y[i])}; the labels are {show(self.labels[0])} (negative)"
                f" and {show(self.labels[1])} (positive)"
            )
        codes: NDArray[np.int8] = positive.view(np.int8) * np.int8(2) - np.int8(1)
        return codes

    def like(self, y: NDArray[Any]) -> Classes:
        """Return these classes in the type of the labels y.

        Classes declared as text become numbers if the labels are numbers, and whole numbers become integers.
        """
        labels = self.labels
        if y.dtype.kind in "fiu" and labels.dtype.kind == "U":
            try:
                labels = labels.astype(np.float64)
            except ValueError as error:
                shown = " and ".join(map(show, self.labels))
                raise ParameterError(
                    f"classes are {shown}, but the labels are numbers, such as {show(y[0])}"
                ) from error
        if labels.dtype.kind == "f" and all(isinstance(plain(label), int) for label in labels):
            labels = labels.astype(np.int64)
        return Classes(labels)

    def decode(self, signs: NDArray[np.int8]) -> NDArray[Any]:
        """Return the label for each sign; a sign of 0 is shown as the first class."""
        chosen: NDArray[Any] = self.labels[(signs > 0).astype(np.intp)]
        return chosen


class ManyClasses:
    """Any number of labels, in the given order, each with its own weight vector."""

    def __init__(self, labels: NDArray[Any]) -> None:
        self.labels = labels.copy()
        self.labels.flags.writeable = False
        self._order = np.argsort(self.labels, kind="stable")
        self._table = _table_of(self.labels)

    def encode(self, y: NDArray[Any], place: Place = name_row) -> NDArray[np.intp]:
        """Return the number of each label."""
        codes = self._looked_up(y) if self._table is not None and y.dtype.kind in "iu" else self._searched(y)
        unknown = codes < 0
        if unknown.any():
            i = int(np.argmax(unknown))
            check_label(y[i], place(i))
            shown = ", ".join(map(show, self.labels[:10])) + (", …" if self.labels.size > 10 else "")
            raise DataError(f"{place(i)}: label {show(y[i])}; the labels are {shown}")
        return codes

    def decode(self, codes: NDArray[np.intp]) -> NDArray[Any]:
        """Return the label for each number."""
        chosen: NDArray[Any] = self.labels[codes]
        return chosen

    def _looked_up(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return the numbers of integers, −1 for unknown labels."""
        least, table = self._table  # type: ignore[misc]  # only called where there is one
        inside = (y >= least) & (y < least + table.size)
        codes: NDArray[np.intp] = table[np.where(inside, y.astype(np.int64), least) - least]
        return np.where(inside, codes, -1)

    def _searched(self, y: NDArray[Any]) -> NDArray[np.intp]:
        labels = self.labels[self._order]
        try:
            places = np.minimum(np.searchsorted(labels, y), labels.size - 1)
        except TypeError as error:
            raise DataError(f"the labels cannot be compared with {show(labels[0])}: {error}") from error
        return np.where(np.asarray(labels[places] == y, dtype=bool), self._order[places], -1)


_MOST_SPREAD = 1 << 16
"""The largest range of integer labels for which a look-up table is used."""


def _table_of(labels: NDArray[Any]) -> tuple[int, NDArray[np.intp]] | None:
    """Return the least of some integers and a table of their numbers from there on, −1 where there is none."""
    if labels.dtype.kind not in "iu" or not labels.size:
        return None
    least, most = int(labels.min()), int(labels.max())
    if most - least >= _MOST_SPREAD or most >= 2**63:
        return None
    table = np.full(most - least + 1, -1, dtype=np.intp)
    table[labels.astype(np.int64) - least] = np.arange(labels.size)
    return least, table


def as_labels(y: Any, n: int) -> NDArray[Any]:
    """Return labels as an array of length n."""
    check_unmasked("y", y)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y has {labels.ndim} dimension(s); it needs one, with a label for each row")
    if labels.size != n:
        raise DataError(f"X has {n} row(s) and y has {labels.size} label(s)")
    if labels.dtype.kind in "US" and isinstance(y, list | tuple):
        # NumPy turns a list such as [1, "a"] into strings silently.
        for i, given in enumerate(y):
            label = given[0] if isinstance(given, list | tuple) else given
            if not isinstance(label, str | bytes):
                raise DataError(f"row {i}: label {label!r} among strings; labels must be of one type")
            check_text_label(label, name_row(i))
    return labels


def check_text_label(label: Any, place: str) -> None:
    """Raise if a label ends in a null character, which NumPy takes for the end of the text."""
    if label[-1:] in ("\0", b"\0"):
        raise DataError(f"{place}: label {label!r} ends in a null character; remove it")


def checked_labels(classes: Any) -> NDArray[Any]:
    """Return the labels that the caller has declared as an array; they must be distinct and of one type."""
    labels = np.asarray(classes)
    mixed = labels.dtype.kind in "US" and not all(isinstance(label, str | bytes) for label in classes)
    if labels.ndim == 1 and not mixed and all(map(can_be_label, labels)):
        with contextlib.suppress(TypeError):  # where they cannot be ordered
            if np.unique(labels).size == labels.size:
                return labels
    raise ParameterError(f"classes is {classes!r}; it must list distinct labels of one type")


def declared_classes(classes: Any) -> Classes:
    """Return the two labels that the caller has declared, in the caller's order: negative, positive."""
    try:
        labels = checked_labels(classes)
    except ParameterError:
        labels = np.empty(0)
    if labels.size != 2:
        raise ParameterError(f"classes is {classes!r}; it must be two labels of one type: (negative, positive)")
    return Classes(labels)


def named_classes(classes: Any) -> Classes | ManyClasses:
    """Return the labels that the caller has declared, in the caller's order: two (negative, positive), or more."""
    return ManyClasses(checked_labels(classes)) if np.size(classes) > 2 else declared_classes(classes)


def distinct(y: NDArray[Any], known: list[Any], place: Place = name_row) -> list[Any]:
    """Return `known` with the first labels of y that are not in it, up to two."""
    for first in range(0, y.size, _SEARCHED):
        part = y[first : first + _SEARCHED]
        while len(known) < 2:
            fresh = np.ones(part.size, dtype=bool)
            for label in known:
                fresh &= ~_equal(part, label)
            if not fresh.any():
                break
            i = int(np.argmax(fresh))
            check_label(part[i], place(first + i))
            known = [*known, part[i]]
        if len(known) == 2:
            break
    return known


def found_classes(labels: list[Any]) -> Classes:
    """Return two labels that were found in the data, in order."""
    if len(labels) < 2:
        seen = show(labels[0]) if labels else "none"
        raise DataError(f"only one label ({seen}) in the data; name both with --classes, classes=(negative, positive)")
    for label in labels:
        if isinstance(label, str | bytes):
            check_text_label(label, "y")
    try:
        return Classes(np.array(sorted(labels)))
    except TypeError as error:
        shown = " and ".join(map(show, labels))
        raise DataError(f"the labels {shown} cannot be ordered; labels must be of one type") from error


def cut_at_new_labels(y: NDArray[Any], known: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Cut labels before the first of each unknown one; yield the rows of each part, and the label that is new there.

    The first part has no new label if it starts with a known one.
    """
    found, firsts = np.unique(y, return_index=True)
    edges = sorted(firsts[~np.isin(found, known)].tolist())
    if not edges or edges[0] > 0:
        yield slice(0, edges[0] if edges else y.size), known[:0]
    for first, end in itertools.pairwise([*edges, y.size]):
        yield slice(first, end), y[first : first + 1]


def check_label(label: Any, place: str) -> None:
    """Raise if a label is missing or infinite."""
    if not can_be_label(label):
        raise DataError(f"{place}: {describe_missing(label)}")


def describe_missing(label: Any) -> str:
    """Return what is wrong with a label that is missing or infinite."""
    return "label is NaN" if isinstance(label, float | np.floating) and math.isnan(label) else f"label is {show(label)}"


def can_be_label(label: Any) -> bool:
    """Tell whether a label is neither missing nor infinite."""
    # pandas' NA is not equal to itself, nor to anything: it cannot even be asked.
    if label is None or type(label).__name__ in {"NAType", "NaTType"}:
        return False
    return not (isinstance(label, float | np.floating) and not math.isfinite(label))


def _equal(y: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    try:
        return np.broadcast_to(np.asarray(y == label, dtype=bool), y.shape)
    except TypeError:
        return np.fromiter((can_be_label(one) and bool(one == label) for one in y), dtype=bool, count=y.size)


def plain(label: Any) -> Any:
    """Return a label as a plain value: a float that is a whole number as an integer."""
    value = label.item() if isinstance(label, np.generic) else label
    whole = isinstance(value, float) and abs(value) <= 2.0**53 and value == int(value)
    return int(value) if whole else value


def show(label: Any) -> str:
    """Return a label as it is written in Python."""
    return repr(label.item() if isinstance(label, np.generic) else label)
