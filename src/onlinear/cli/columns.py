"""The columns of a table and their kinds, as they are shown at the start of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlinear.cli.output import say, visible

if TYPE_CHECKING:
    from onlinear.streams import Stream

_SHOWN = 10
"""How many columns of each kind are listed."""
_PLURALS = {"number": "numbers", "category": "categories", "text": "texts"}


def say_columns(stream: Stream, *, quiet: bool, header: bool | None) -> None:
    """Print which column is the label and the kinds of the others; `header` is what was asked for."""
    if quiet or stream.columns is None:
        return
    by_kind: dict[str, list[str]] = {}
    for name, kind in stream.columns.items():
        by_kind.setdefault(kind, []).append(visible(name))
    parts = [
        f"{len(names):,} {kind if len(names) == 1 else _PLURALS[kind]} ({_listed(names)})"
        for kind, names in by_kind.items()
        if kind != "label"
    ]
    parts += [f"label {name}" for name in by_kind.get("label", ())]
    say(f"columns: {', '.join(parts)}")
    if header is None and stream.reading.format == "csv":
        _say_header(stream.reading.header, list(stream.columns))


def _say_header(header: bool | None, names: list[str]) -> None:
    """Say what the first row was taken for, where that could be wrong."""
    if header is False:
        say("the first row has only numbers: it is data, and columns are numbered from 0 (--header if it has names)")
    elif any(map(_is_number, names)):
        say("the first row has the names of the columns (--no-header if it is data)")


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return f"{', '.join(names[:_SHOWN])} and {more:,} more" if more > 0 else ", ".join(names)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
