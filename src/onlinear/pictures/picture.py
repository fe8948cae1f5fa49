"""What a picture shows, as plain data; `onlinear.plot` draws it with matplotlib, `onlinear.pictures.svg` as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.display import Pictured, counted

Floats: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["line", "points", "path", "band", "level", "bars", "cells"]
"""How a layer is drawn: a line from point to point; a marker at each point; a line with an arrow at its end; the area
between `low` and `high`; a horizontal line at y[0] over the whole width; a horizontal bar of length x for each text; or
a cell of a matrix for each point, shaded by `low` and with its text."""
Role: TypeAlias = Literal["series", "bound", "baseline", "class"]
"""What a layer stands for, which decides its colour and dashes: something measured, what a theorem allows, what is
known without learning, or the examples of a class."""


class Axis(NamedTuple):
    """An axis of a picture."""

    label: str
    log: bool = False
    percent: bool = False
    """Whether numbers are shown in percent: 0.25 as 25 %."""
    low: float | None = None
    """The limits, if the data do not decide."""
    high: float | None = None
    names: tuple[str, ...] = ()
    """What is written instead of the numbers 0, 1, 2, …"""


@dataclass(frozen=True, eq=False)
class Layer:
    """Points that belong together, with a name for the legend; without a name it is not in the legend."""

    name: str
    x: Floats
    y: Floats
    kind: Kind = "line"
    role: Role = "series"
    low: Floats | None = None
    high: Floats | None = None
    texts: Sequence[str] = ()
    """A text for each point."""

    @classmethod
    def of(cls, name: str, x: Any, y: Any, kind: Kind = "line", role: Role = "series", **more: Any) -> Layer:
        """Return a layer of anything that can become arrays of floats."""
        more |= {side: np.asarray(more[side], dtype=np.float64) for side in ("low", "high") if side in more}
        return cls(name, np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), kind, role, **more)

    @classmethod
    def level(cls, name: str, y: float, role: Role = "bound") -> Layer:
        """Return a horizontal line over the whole width."""
        return cls.of(name, [np.nan], [y], "level", role)


@dataclass(frozen=True, eq=False, repr=False)
class Picture(Pictured):
    """A picture, as plain data.

    Attributes
    ----------
    title : str
        What it shows.
    x, y : Axis
        Its axes.
    layers : tuple of Layer
        What is drawn, the first at the back.
    notes : tuple of str
        What the picture cannot say, in sentences.
    square : bool
        Whether a unit has the same length on both axes.
    """

    title: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    notes: tuple[str, ...] = ()
    square: bool = False

    def frame(self) -> Any:
        """Return the data behind the picture as a PyArrow table, one row for each point: series, x, y, and the rest.

        pandas and Polars take it: ``frame().to_pandas()``, ``polars.from_arrow(frame())``.
        """
        import pyarrow as pa

        sizes = [layer.x.size for layer in self.layers]
        columns: dict[str, Any] = {
            "series": [layer.name for layer, size in zip(self.layers, sizes, strict=True) for _ in range(size)],
            "x": _joined([layer.x for layer in self.layers]),
            "y": _joined([layer.y for layer in self.layers]),
        }
        for side in ("low", "high"):
            ends = [getattr(layer, side) for layer in self.layers]
            if any(end is not None for end in ends):
                filled = zip(ends, sizes, strict=True)
                columns[side] = _joined([np.full(size, np.nan) if end is None else end for end, size in filled])
        if any(layer.texts for layer in self.layers):
            filled_texts = zip(self.layers, sizes, strict=True)
            columns["text"] = [text for layer, size in filled_texts for text in (layer.texts or [""] * size)]
        return pa.table(columns)

    def _repr_html_(self) -> str:
        return self._picture_html()

    def _title(self) -> str:
        return self.title

    def _facts(self) -> list[tuple[str, str]]:
        facts = [(layer.name, f"{layer.kind}, {counted(layer.x.size, 'point')}") for layer in self.layers if layer.name]
        axes = [("x", self.x.label), ("y", self.y.label)]
        return [*axes, *facts, *(("", note) for note in self.notes)]


def _joined(parts: Sequence[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])
