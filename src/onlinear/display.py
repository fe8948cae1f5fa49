"""Display of results: aligned lines of text, or a table in a notebook."""

from __future__ import annotations

import decimal
import html
import importlib
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

_WIDTH = 67
"""The width of a value in a summary."""


class Facts:
    """The base of results that are shown as a title and (name, value) pairs."""

    def _title(self) -> str:
        return type(self).__name__

    def _facts(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return aligned lines of text."""
        facts = self._facts()
        width = max(len(name) for name, _ in facts)
        lines = [f"  {name:<{width}}  {value}" for name, value in facts]
        return "\n".join(map(printable, [*self._title().split("\n"), *lines]))

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(printable(value))}</td></tr>"
            for name, value in self._facts()
        )
        return f"<table><caption>{html.escape(self._title())}</caption>{rows}</table>"


class Pictured(Facts):
    """The base of results that have a picture, too."""

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the picture of this result with matplotlib; `onlinear.plot` has others.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.
        **options
            Those of the function of `onlinear.plot` that draws this kind of result.

        Returns
        -------
        matplotlib axes
        """
        # By name: pictures are drawn from results, which import nothing of them.
        return importlib.import_module("onlinear.plot").draw(self, ax, **options)

    def _repr_html_(self) -> str:
        """Return an HTML table and the picture, for notebooks."""
        return super()._repr_html_() + self._picture_html()

    def _picture_html(self) -> str:
        drawn: str = importlib.import_module("onlinear.pictures.notebook").notebook_svg(self)
        return drawn


class Reported:
    """The base of results that a report can be made of."""

    def report(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Return the report on this result: ``run.report(X, y).save("report.html")``.

        Parameters
        ----------
        X, y : matrix and labels, optional
            The examples. With them the report says which cost most, and what is proven about them.
        **options
            Those of `onlinear.report.report`.

        Returns
        -------
        onlinear.report.Page
        """
        # By name, as in `Pictured.plot`.
        return importlib.import_module("onlinear.report").report(self, X, y, **options)


class TextTable(NamedTuple):
    """A table of texts: the first column is aligned left, the others right."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Return aligned lines."""
        lines = [self.names, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if i else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    def html(self) -> str:
        """Return an HTML table for notebooks."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.names)
        rows = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self.rows)
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def printable(text: str) -> str:
    """Return a line of text with control characters escaped: some of it may come from a file."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def confidence(delta: float) -> str:
    """Return 1 − δ, rounded down to six digits; where these would say too little, as a difference."""
    exact = decimal.Decimal(repr(float(delta)))
    if delta < 1e-5:
        return f"1 − {float(decimal.Context(prec=6, rounding=decimal.ROUND_CEILING).plus(exact)):g}"
    return f"{float(decimal.Context(prec=6, rounding=decimal.ROUND_FLOOR).subtract(decimal.Decimal(1), exact)):g}"


def wrapped(name: str, text: str) -> list[tuple[str, str]]:
    """Return a text as one or more (name, value) pairs, for a summary of at most 80 columns.

    A no-break space is shown as a space.
    """
    lines = (line.replace("\u00a0", " ") for line in textwrap.wrap(text, _WIDTH))
    return [("" if i else name, line) for i, line in enumerate(lines)]


def shortened(facts: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Return the first (name, value) pairs, and how many more there are."""
    return facts[:most] + [("…", f"{len(facts) - most:,} more")] * (len(facts) > most)


def rounded_up(value: float) -> str:
    """Return an upper bound, rounded up to six digits."""
    return _rounded(value, decimal.ROUND_CEILING)


def rounded_down(value: float) -> str:
    """Return a lower bound, rounded down to six digits."""
    return _rounded(value, decimal.ROUND_FLOOR)


def counted(n: int | None, noun: str) -> str:
    """Return a count with its noun, in the plural if needed."""
    plural = f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{n:,} {noun if n == 1 else plural}"


def _rounded(value: float, rounding: str) -> str:
    context = decimal.Context(prec=6, rounding=rounding)
    return f"{float(context.create_decimal_from_float(value)):.6g}"
