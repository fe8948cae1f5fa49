"""Which column of a table is the label, which ones are features, and the kind of each."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from onlinear.errors import DataError, ParameterError
from onlinear.spelling import advice, option
from onlinear.streams.formats.format import Request
from onlinear.streams.reading import ColumnKind, Reading

_LABELS = ("label", "y", "target", "class")
_SHOWN = 12
"""How many columns a message lists."""
_MARK = re.compile("[=:?]")
"""What follows the column in the name of a feature: a category, a word, or a missing value."""


@dataclass(frozen=True)
class Layout:
    """The label's column, and the columns of the features with their kinds, in order."""

    label: str | None
    kinds: dict[str, ColumnKind]
    remembered: str | int | None = None
    """What a model should remember as the label: its name, unless that could also be a number."""
    unknown: tuple[str, ...] = ()
    """Columns that are not read, since the model that is to predict does not have them."""

    @property
    def columns(self) -> list[str]:
        """All columns that are read, the label first."""
        return [*([] if self.label is None else [self.label]), *self.kinds]


@dataclass(frozen=True)
class ModelColumns:
    """The columns that the features of a model come from, by kind."""

    numbers: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    stray: str | None = None
    """A feature that comes from none of the columns."""

    def __contains__(self, column: str) -> bool:
        return column in self.numbers or column in self.categories or column in self.others


def columns_of(names: Iterable[str], columns: Iterable[str]) -> ModelColumns:
    """Return which columns the features of a model come from."""
    there = set(columns)
    found: dict[str, set[str]] = {"": set(), "=": set(), ":": set(), "?": set()}
    stray = None
    for name in names:
        explained = name in there
        if explained:
            found[""].add(name)
        for mark in _MARK.finditer(name):
            column = name[: mark.start()]
            if column in there:
                found[mark.group()].add(column)
                explained = True
        if not explained and stray is None:
            stray = name
    return ModelColumns(frozenset(found[""]), frozenset(found["="]), frozenset(found[":"] | found["?"]), stray)


def choose_columns(
    available: Sequence[str], request: Request, guess: Callable[[str], ColumnKind], where: str
) -> Layout:
    """Return the layout of a table with these columns; `guess` gives the kind of a column that is not known."""
    reading, labelled, names = request.reading, request.labelled, request.names
    model = columns_of(names or (), available)
    if model.stray is not None:
        raise DataError(
            f"{where}: the feature {model.stray!r} of the model comes from none of the columns {_list(available)}"
        )
    label, left_out = _label(available, reading, where, model, labelled)
    check_columns(request.required, available, where, option("kinds"))
    for name in request.required:
        if name in reading.text and (reading.kinds or {})[name] != "text":
            both = f"({option('text')}) and has another kind ({option('kinds')})"
            raise ParameterError(f"{name!r} is among the columns of text {both}")
    if reading.features is not None:
        check_columns(reading.features, available, where, option("features"))
    check_columns(reading.text, available, where, option("text"))
    if labelled:
        check_columns(reading.drop, available, where, option("drop"))
    if label is not None and label in (reading.features or ()):
        raise DataError(f"{where}: the column {label!r} is the label and cannot also be a feature")
    wanted = set(available if reading.features is None else reading.features) - left_out - set(reading.drop)
    chosen = [name for name in available if name in wanted]
    unknown: list[str] = []
    if names and not labelled:
        # A column that the model does not know cannot change a prediction.
        unknown = [name for name in chosen if name not in model]
        chosen = [name for name in chosen if name in model]
    if not chosen:
        raise DataError(f"{where}: no column is left to learn from; the columns are {_list(available)}")
    kinds = {name: _kind(name, reading, model, guess) for name in chosen}
    _check_names(kinds, reading, where)
    numbered = label is not None and len(_readings(available, label)) > 1
    remembered = reading.label if numbered or reading.label is None else label
    return Layout(label, kinds, remembered, tuple(unknown))


def check_columns(wanted: Iterable[str], available: Sequence[str], where: str, named_in: str = "") -> None:
    """Raise for the first column that is not there."""
    there = set(available)
    for name in wanted:
        if name not in there:
            near = difflib.get_close_matches(name, available, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            named = f", named in {named_in}" if named_in else ""
            raise DataError(f"{where}: there is no column {name!r}{named}{hint}; the columns are {_list(available)}")


def check_distinct(columns: Sequence[str], where: str) -> None:
    """Raise where two columns have the same name."""
    if len(set(columns)) < len(columns):
        twice = Counter(columns).most_common(1)[0][0]
        raise DataError(f"{where}: two columns are called {twice!r}; column names must be unique")


def check_like(available: Sequence[str], layout: Layout, reading: Reading, first: Sequence[str], where: str) -> None:
    """Raise where a file does not have the same columns as the first one."""
    check_columns(layout.columns, available, where)
    new = set(available) - set(first) if reading.features is None else set()
    if new:
        remedy = advice(("; name the columns to read ({})", "features", None))
        raise DataError("".join([f"{where}: the column {min(new)!r} is not in the first file", *remedy]))


def _check_names(kinds: dict[str, ColumnKind], reading: Reading, where: str) -> None:
    """Raise where features of two columns could have the same name."""
    for column, kind in kinds.items():
        for mark in _MARK.finditer(column):
            other, rest = column[: mark.start()], column[mark.end() :]
            if other not in kinds:
                continue
            # Any string can be a category; nothing follows a word or the mark of a missing value.
            category = mark.group() == "=" and kinds[other] == "category"
            word = mark.group() == ":" and kinds[other] == "text" and kind == "number" and re.fullmatch(r"\w+", rest)
            gap = mark.group() == "?" and reading.missing == "indicator" and kind == "number" and not rest
            if category or word or gap:
                raise DataError(
                    f"{where}: the columns {other!r} and {column!r} can give features of the same name; "
                    + ", or ".join(["rename one of them", *advice(("leave it out ({})", "drop", None))])
                )


def _kind(name: str, reading: Reading, model: ModelColumns, guess: Callable[[str], ColumnKind]) -> ColumnKind:
    if name in reading.text:
        return "text"
    known: ColumnKind | None = None
    if name in model.numbers or name in model.categories:
        known = "number" if name in model.numbers else "category"
    asked = (reading.kinds or {}).get(name)
    if known is not None and asked not in {None, known}:
        raise DataError(f"column {name!r} is a {known} in the model and cannot become a {asked} ({option('kinds')})")
    return asked or known or guess(name)


def _label(
    available: Sequence[str], reading: Reading, where: str, model: ModelColumns, labelled: bool
) -> tuple[str | None, set[str]]:
    """Return the label's column, and the columns that therefore are not features."""
    if reading.label is None:
        usual = [name for name in available if name.lower() in _LABELS]
        if not labelled:
            return None, {name for name in usual if name not in model and name not in (reading.features or ())}
        if len(usual) != 1:
            what = (
                f"{_list(usual)} could each be the label" if usual else "no column is called label, y, target or class"
            )
            raise DataError(f"{where}: {what}; name it ({option('label')}): {_list(available)}")
        return usual[0], set(usual)
    found = _readings(available, reading.label)
    if not labelled:
        return None, {name for name in found[:1] if name not in model}
    if not found:
        check_columns([str(reading.label)], available, where, option("label"))
    if len(found) > 1:
        from_end = [available.index(name) - len(available) for name in found]
        raise DataError(
            f"{where}: label {reading.label} could be the column named {found[0]!r}, or column number {reading.label}"
            f" counted from 0, which is named {found[1]!r}; say which by a number counted from the end"
            f" ({option('label')}): {from_end[0]} for the first, {from_end[1]} for the second"
        )
    return found[0], set(found)


def _readings(available: Sequence[str], label: str | int) -> list[str]:
    """Return the columns that a label may mean: the one of that name, and the one of that number, counted from 0."""
    found = [str(label)] if str(label) in available else []
    if re.fullmatch(r"-?\d{1,9}", str(label)):
        number = int(label)
        if -len(available) <= number < len(available) and available[number] not in found:
            found.append(available[number])
    return found


def _list(columns: Sequence[str]) -> str:
    listed = ", ".join(map(repr, columns[:_SHOWN]))
    return f"{listed} and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else listed
