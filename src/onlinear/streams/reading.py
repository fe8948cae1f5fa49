"""How columns or indices become features, which a model must remember."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from onlinear.errors import ParameterError
from onlinear.spelling import option

Encode: TypeAlias = Literal["names", "hash"]
Missing: TypeAlias = Literal["error", "zero", "indicator"]

ColumnKind: TypeAlias = Literal["number", "category", "text"]

_CHOICES = {"encode": ("names", "hash"), "missing": ("error", "zero", "indicator")}
_COLUMNS = ("features", "drop", "text")


@dataclass(frozen=True)
class Reading:
    """How examples are read. The same reading of the same data gives the same features.

    Parameters
    ----------
    label : str, int, or None
        The column of the labels, by name or number. Default: the column called ``label``, ``y``, ``target`` or
        ``class``.
    features : tuple of str, or None
        The columns to learn from. Default: all but the label.
    drop : tuple of str
        Columns to leave out.
    text : tuple of str
        Columns of which each word is a feature; other columns that are not numbers are categories.
    encode : {"names", "hash"}
        Whether categories and words become features by a growing vocabulary or by hashing.
    hash_bits : int
        Hashing uses ``2 ** hash_bits`` features.
    missing : {"error", "zero", "indicator"}
        A missing value is an error, 0, or 0 together with an indicator feature ``column?``.
    header : bool, or None
        Whether the first row of a CSV file names its columns; otherwise they are 0, 1, 2, … Default: it does, unless
        all its values are numbers.
    delimiter : str, or None
        The delimiter of the columns of a CSV file. Default: a tab in ``.tsv`` files, otherwise a comma.
    zero_based : bool
        Whether libsvm indices start at 0 instead of 1.
    kinds : dict, or None
        The kinds of columns: ``"number"``, ``"category"`` or ``"text"``. Default: the type of the column; in a CSV
        file, numbers if more than half of its values in the first megabyte are numbers.
    format : str, or None
        The format of the first examples, for reports; further data may have another format.
    """

    label: str | int | None = None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    encode: Encode = "names"
    hash_bits: int = 20
    missing: Missing = "error"
    header: bool | None = None
    delimiter: str | None = None
    zero_based: bool = False
    kinds: Mapping[str, ColumnKind] | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            value = getattr(self, name)
            if isinstance(value, str):
                raise ParameterError(f"{option(name)} is {value!r}; it must be a list of column names")
            if value is not None:
                object.__setattr__(self, name, tuple(map(str, value)))
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ParameterError(f"{option(name)} is {getattr(self, name)!r}; it must be one of {list(choices)}")
        for column, kind in (self.kinds or {}).items():
            if kind not in get_args(ColumnKind):
                raise ParameterError(
                    f"{option('kinds')}: {column!r} is {kind!r}; it must be one of {list(get_args(ColumnKind))}"
                )
        if not (isinstance(self.hash_bits, int) and 1 <= self.hash_bits <= 30):
            raise ParameterError(f"{option('hash_bits')} is {self.hash_bits!r}; it must be an integer from 1 to 30")
        one = self.delimiter is None or (isinstance(self.delimiter, str) and len(self.delimiter.encode()) == 1)
        if not one:
            raise ParameterError(f"{option('delimiter')} is {self.delimiter!r}; it must be one ASCII character")

    @classmethod
    def remembered(cls, stored: Mapping[str, Any] | None) -> Reading:
        """Return the reading that `as_dict` stored; unless it says otherwise, the first row named the columns."""
        return cls(**{"header": True, **(stored or {})})

    def as_dict(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, as JSON can hold them."""
        usual = Reading(header=None if self.header is None else True)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value != getattr(usual, name)
        }

    def features_by(self) -> dict[str, Any]:
        """Return the options that decide which feature a cell becomes; tables for the same model must agree in them."""
        hashed = self.encode == "hash"
        return {
            "encode": self.encode,
            "hash_bits": self.hash_bits if hashed else None,
            "text": sorted(self.text),
            "missing": "indicator" if self.missing == "indicator" else "none",
            "kinds": dict(self.kinds) if hashed and self.kinds is not None else None,
        }

    def but(self, **given: Any) -> Reading:
        """Return this reading with the given options replaced; None keeps an option."""
        unknown = set(given) - {field.name for field in fields(self)}
        if unknown:
            raise ParameterError(f"unknown reading option {unknown.pop()!r}")
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def without_blanks(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names without the blank ones at the end, which are those of features not seen yet."""
    n = len(names)
    while n and not names[n - 1]:
        n -= 1
    return names[:n]
