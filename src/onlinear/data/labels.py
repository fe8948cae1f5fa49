"""Labels: two of them become −1 and +1, more than two become 0, 1, 2 and so on."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_unmasked
from onlinear.data.one_label import can_be_label, check_label, check_text_label, plain, show
from onlinear.data.signs import are_equal, signs_of
from onlinear.errors import DataError, ParameterError
from onlinear.spelling import advice, option

_SEARCHED = 1 << 16
"""Labels that are searched at a time."""

MOST_FOUND = 1000
"""The largest number of classes that are found in the data; more must be declared: labels may be numbers to predict."""
_SHOWN = 10
"""How many labels a message lists."""
_BOOLS = {"false": False, "true": True, "0": False, "1": True}

Place: TypeAlias = Callable[[int], str]
"""Where a label stands, given its number in an array."""


def name_row(i: int) -> str:
    """Return the place of a label in an array."""
    return f"row {i}"


def declare_labels() -> str:
    """Return what to do where the data do not show all labels in time."""
    return f"declare all labels ({option('classes')})"


def declare_or_accept() -> str:
    """Return what to do about an unknown label where something is learned."""
    return ", or ".join([declare_labels(), *advice(("accept new ones ({})", "new_classes", True))])


class Classes:
    """The two labels: the smaller one is negative, the larger positive, as NumPy sorts them."""

    remedy: Callable[[], str] = staticmethod(declare_or_accept)
    """What to do about an unknown label."""

    def __init__(self, labels: NDArray[Any]) -> None:
        self.labels = labels.copy()
        self.labels.flags.writeable = False

    def encode(self, y: NDArray[Any], place: Place = name_row) -> NDArray[np.int8]:
        """Return −1 or +1 for each label."""
        signs, complete = signs_of(y, *self.labels)
        if not complete:
            raise _unknown_label(self, y, place)
        return signs

    def unknown(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which labels are neither of the two."""
        signs, _ = signs_of(y, *self.labels)
        unknown: NDArray[np.bool_] = signs == 0
        return unknown

    def like(self, y: NDArray[Any]) -> Classes:
        """Return these classes in the type of the labels y; see `labels_like`."""
        return Classes(labels_like(self.labels, y))

    def decode(self, signs: NDArray[np.int8]) -> NDArray[Any]:
        """Return the label for each sign; a sign of 0 is shown as the first class."""
        chosen: NDArray[Any] = self.labels[(signs > 0).astype(np.intp)]
        return chosen

    def codes_of(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.int8]:
        """Return the codes of labels by their numbers, 0 and 1."""
        return (numbers * 2 - 1).astype(np.int8)

    def __str__(self) -> str:
        return f"{show(self.labels[0])} (negative) and {show(self.labels[1])} (positive)"


class ManyClasses:
    """Any number of labels, in the given order, each with its own weight vector."""

    remedy: Callable[[], str] = staticmethod(declare_or_accept)
    """What to do about an unknown label."""

    def __init__(self, labels: NDArray[Any]) -> None:
        self.labels = labels.copy()
        self.labels.flags.writeable = False

    def encode(self, y: NDArray[Any], place: Place = name_row) -> NDArray[np.intp]:
        """Return the number of each label."""
        codes = self._find(y)
        if codes.size and codes.min() < 0:
            raise _unknown_label(self, y, place)
        return codes

    def unknown(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which labels are not among these."""
        return self._find(y) < 0

    def like(self, y: NDArray[Any]) -> ManyClasses:
        """Return these classes in the type of the labels y; see `labels_like`."""
        return ManyClasses(labels_like(self.labels, y))

    def decode(self, codes: NDArray[np.intp]) -> NDArray[Any]:
        """Return the label for each number."""
        chosen: NDArray[Any] = self.labels[codes]
        return chosen

    def with_label(self, label: Any, place: str) -> tuple[ManyClasses, NDArray[np.intp]]:
        """Return these classes with another one, in sorted order, and where the old ones are among them."""
        check_label(label, place)
        joined = _joined(self.labels, label, place)
        order = np.argsort(joined, kind="stable")
        places = np.empty(order.size, dtype=np.intp)
        places[order] = np.arange(order.size)
        new = ManyClasses(joined[order])
        new._order = np.arange(order.size)  # they are sorted
        return new, places[:-1]

    def codes_of(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
        """Return the codes of labels by their numbers, which these are."""
        return numbers.astype(np.intp)

    def __str__(self) -> str:
        return f"{self.labels.size:,}: {list_labels(self.labels)}"

    def _find(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return the number of each label, −1 for unknown ones."""
        if not self.labels.size:
            return np.full(y.size, -1, dtype=np.intp)
        # Fewer labels than classes are found faster than a table is built.
        if y.dtype.kind in "iuf" and y.size >= self.labels.size and self._table is not None:
            return _looked_up(y, *self._table)
        labels = self.labels[self._order]
        try:
            places = np.minimum(np.searchsorted(labels, y), labels.size - 1)
        except TypeError as error:
            raise DataError(f"the labels cannot be compared with {show(labels[0])}: {error}") from error
        return np.where(np.asarray(labels[places] == y, dtype=bool), self._order[places], -1)

    @functools.cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.labels, kind="stable")

    @functools.cached_property
    def _table(self) -> tuple[int, NDArray[np.intp]] | None:
        return _table_of(self.labels)


def first_classes(declared: Any, y: NDArray[Any], place: Place = name_row) -> ManyClasses:
    """Return the classes before the first example, where new ones are accepted: those declared, or its own."""
    if declared is not None:
        return ManyClasses(np.sort(checked_labels(declared)))
    check_label(y[0], place(0))
    return ManyClasses(np.array(y[:1].tolist()) if y.dtype.kind == "O" else y[:1])


def _joined(labels: NDArray[Any], label: Any, place: str) -> NDArray[Any]:
    """Return labels with another one of their type; numbers of different types need a type that keeps them apart."""
    value = plain(label) if labels.dtype.kind in "iu" else label
    if isinstance(value, str | bytes):
        check_text_label(value, place)
    same = labels.dtype.kind in "iu" and isinstance(value, int) and np.can_cast(np.min_scalar_type(value), labels.dtype)
    joined = np.append(labels, np.asarray(value, dtype=labels.dtype if same else None))
    same = joined.dtype.kind == labels.dtype.kind or (joined.dtype.kind in "biuf" and labels.dtype.kind in "iuf")
    if not same or (joined.dtype != labels.dtype and joined.tolist() != [*labels.tolist(), value]):
        raise DataError(
            f"{place}: label {show(label)}, after labels such as {show(labels[0])}; labels must be of one type"
        )
    return joined


def list_labels(labels: NDArray[Any]) -> str:
    """Return labels as they are written in Python, the first ones if there are many."""
    if labels.size == 2:
        return " and ".join(map(show, labels))
    return ", ".join([*map(show, labels[:_SHOWN]), *(["…"] if labels.size > _SHOWN else [])])


def unknown_label_reason(label: Any, classes: Classes | ManyClasses) -> str:
    """Return what is wrong with a label that is not one of the classes, and what to do."""
    return f"label {show(plain(label))}; the labels are {classes}; {classes.remedy()}"


def _unknown_label(classes: Classes | ManyClasses, y: NDArray[Any], place: Place) -> DataError:
    """Return the error for the first label that is not one of the classes."""
    i = int(np.argmax(classes.unknown(y)))
    check_label(y[i], place(i))
    return DataError(f"{place(i)}: {unknown_label_reason(y[i], classes)}")


def labels_like(labels: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Return declared labels in the type of the labels y.

    Text becomes numbers if the labels are numbers, and whole numbers become integers; true and false become booleans.
    """
    if y.dtype.kind in "fiub" and labels.dtype.kind == "U":
        try:
            if y.dtype.kind == "b":
                return np.array([_BOOLS[label.lower()] for label in labels.tolist()])
            labels = labels.astype(np.float64)
        except (ValueError, KeyError) as error:
            kind = "booleans" if y.dtype.kind == "b" else "numbers"
            raise ParameterError(
                f"classes are {list_labels(labels)}, but the labels are {kind}, such as {show(y[0])}"
            ) from error
    if labels.dtype.kind == "f" and all(isinstance(plain(label), int) for label in labels):
        labels = labels.astype(np.int64)
    return labels


def _looked_up(y: NDArray[Any], least: int, table: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the numbers of labels by a table of integers, −1 for unknown labels."""
    if y.dtype.kind in "iu" and y.size and least <= int(y.min()) and int(y.max()) < least + table.size:
        return table[y.astype(np.int64, copy=False) - least]
    inside = (y >= least) & (y < least + table.size)
    whole = np.full(y.size, least, dtype=np.int64)
    whole[inside] = y[inside]
    codes: NDArray[np.intp] = table[whole - least]
    return np.where(inside & (whole == y), codes, -1)


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


def checked_labels(classes: Any) -> NDArray[Any]:
    """Return the labels that the caller has declared as an array; they must be distinct and of one type."""
    labels = np.asarray(classes)
    mixed = labels.dtype.kind in "US" and not all(isinstance(label, str | bytes) for label in classes)
    if labels.ndim == 1 and not mixed and all(map(can_be_label, labels)):
        with contextlib.suppress(TypeError):  # where they cannot be ordered
            if np.unique(labels).size == labels.size:
                return labels
    raise ParameterError(f"{option('classes')}: {classes!r}; they must be distinct labels of one type")


def declared_classes(classes: Any) -> Classes:
    """Return the two labels that the caller has declared, in the caller's order: negative, positive."""
    try:
        labels = checked_labels(classes)
    except ParameterError:
        labels = np.empty(0)
    if labels.size != 2:
        raise ParameterError(f"{option('classes')}: {classes!r}; they must be two labels of one type, negative first")
    return Classes(labels)


def named_classes(classes: Any) -> Classes | ManyClasses:
    """Return the labels that the caller has declared, in the caller's order: two (negative, positive), or more."""
    if np.size(classes) == 1:
        raise ParameterError(f"{option('classes')}: {classes!r} is one label; there must be at least two")
    return ManyClasses(checked_labels(classes)) if np.size(classes) > 2 else declared_classes(classes)


def distinct(y: NDArray[Any], known: list[Any], place: Place = name_row) -> list[Any]:
    """Return `known` with the labels of y that are not in it, in the order of their first examples."""
    known = list(known)
    for first in range(0, y.size, _SEARCHED):
        part = y[first : first + _SEARCHED]
        fresh = np.ones(part.size, dtype=bool)
        for label in known:
            fresh &= ~are_equal(part, label)
        while fresh.any():
            i = int(np.argmax(fresh))
            check_label(part[i], place(first + i))
            known.append(part[i])
            fresh &= ~are_equal(part, part[i])
            if len(known) > MOST_FOUND:
                doubt = f"more than {MOST_FOUND:,} labels; are these classes, or numbers to predict?"
                raise DataError(f"{place(first + i)}: {doubt} If they are classes, {declare_labels()}")
    return known


def found_codes(y: NDArray[Any]) -> tuple[Classes | ManyClasses, NDArray[np.int8] | None]:
    """Return the classes of labels, and if there are two the code of each label: it takes time to read them twice."""
    labels = distinct(y[:_SEARCHED], [])
    if len(labels) == 2:
        found = found_classes(labels)
        signs, complete = signs_of(y, *found.labels)
        if complete:
            return found, signs
    return found_classes(distinct(y, labels)), None


def second_label(y: NDArray[Any], label: Any, place: Place = name_row) -> list[Any]:
    """Return a label, and the first other one in y, if there is one."""
    fresh = ~are_equal(y, label)
    if not fresh.any():
        return [label]
    i = int(np.argmax(fresh))
    check_label(y[i], place(i))
    return [label, y[i]]


def found_classes(labels: list[Any]) -> Classes | ManyClasses:
    """Return the labels that were found in the data, in order: two, or more."""
    if len(labels) < 2:
        seen = show(labels[0]) if labels else "none"
        raise DataError(f"only one label ({seen}) in the data; {declare_labels()}")
    for label in labels:
        if isinstance(label, str | bytes):
            check_text_label(label, "y")
    try:
        found = np.array(sorted(labels))
    except TypeError as error:
        shown = " and ".join(map(show, labels))
        raise DataError(f"the labels {shown} cannot be ordered; labels must be of one type") from error
    return Classes(found) if found.size == 2 else ManyClasses(found)


def rows_of_new_labels(y: NDArray[Any], known: ManyClasses) -> list[int]:
    """Return the rows at which a label appears that is not known, and not in an earlier row."""
    unknown = np.flatnonzero(known.unknown(y))
    try:
        _, firsts = np.unique(y[unknown], return_index=True)
    except TypeError as error:
        raise DataError(f"the labels cannot be ordered: {error}; labels must be of one type") from error
    rows: list[int] = np.sort(unknown[firsts]).tolist()
    return rows


def cut_at_new_labels(y: NDArray[Any], known: ManyClasses) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Cut labels before the first of each unknown one; yield the rows of each part, and the label that is new there.

    The first part has no new label if it starts with a known one.
    """
    edges = rows_of_new_labels(y, known)
    if not edges or edges[0] > 0:
        yield slice(0, edges[0] if edges else y.size), y[:0]
    for first, end in itertools.pairwise([*edges, y.size]):
        yield slice(first, end), y[first : first + 1]
