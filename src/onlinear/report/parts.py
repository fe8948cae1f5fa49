"""What a report consists of, as plain data: sections of parts, each of which has a template and a style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from onlinear.pictures.picture import Picture


@dataclass(frozen=True)
class Sentences:
    """Sentences, each a paragraph."""

    kind: ClassVar[str] = "sentences"
    sentences: Sequence[str]


@dataclass(frozen=True)
class FactList:
    """Names and values."""

    kind: ClassVar[str] = "facts"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ValueTable:
    """A table; the first column names its row, and all but the first `words` are aligned right."""

    kind: ClassVar[str] = "table"
    caption: str
    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Chart:
    """A picture with the table behind it."""

    kind: ClassVar[str] = "chart"
    name: str
    """It is unique in its report."""
    picture: Picture
    table: ValueTable


@dataclass(frozen=True)
class Quoted:
    """An example as it stood in the data."""

    place: str
    """Where it was read, such as ``data.svm:41``."""
    said: str
    """What is to be said about it, such as its label."""
    text: str
    """As it was written, cut if it is long; empty if that is unknown."""


@dataclass(frozen=True)
class QuotedExamples:
    """Examples as they stood in the data."""

    kind: ClassVar[str] = "examples"
    examples: Sequence[Quoted]


@dataclass(frozen=True)
class SourceCode:
    """Lines to copy."""

    kind: ClassVar[str] = "code"
    language: str
    text: str


Part: TypeAlias = Sentences | FactList | ValueTable | Chart | QuotedExamples | SourceCode


@dataclass(frozen=True)
class Section:
    """A section with its heading."""

    name: str
    """Its anchor."""
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class KeyNumber:
    """A number that the report begins with."""

    value: str
    what: str
    beside: str = ""
    """What to compare it with."""


@dataclass(frozen=True)
class ReportContents:
    """All that a report says."""

    title: str
    lead: str
    numbers: Sequence[KeyNumber]
    sections: Sequence[Section]
    signature: str
    """What made it, and when if that was asked for."""
