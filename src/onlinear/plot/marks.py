"""The layers of a picture as artists of matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from onlinear.pictures.palette import MARKERS, Theme, dashes
from onlinear.pictures.picture import Kind, Layer
from onlinear.plot import style

_FEW = 16
"""Up to this many points of a line have markers."""
_FILLED = 0.85
"""The opacity of bars, and of the darkest cell of a matrix: its text stays legible."""
_DEEPEST = 0.5


class Look(NamedTuple):
    """How a layer is drawn."""

    theme: Theme
    number: int
    """Of the layer, among those with its role."""
    layer: Layer

    @property
    def colour(self) -> str:
        """Its colour."""
        return self.theme.colour(self.layer.role, self.number)

    @property
    def marker(self) -> str:
        """Its marker."""
        return style.MARKERS[MARKERS[self.number % len(MARKERS)]]

    @property
    def line(self) -> dict[str, Any]:
        """Its stroke."""
        pattern = dashes(self.layer.role, self.number)
        width = 1.8 if self.layer.role == "series" else 1.4
        # matplotlib measures dashes in line widths.
        strokes = (0, tuple(length / 2.0 for length in pattern)) if pattern else "solid"
        return {"color": self.colour, "linewidth": width, "linestyle": strokes}


def draw_marks(ax: Any, look: Look) -> Any:
    """Draw a layer, and return the artist that stands for it in the legend."""
    return _DRAWN[look.layer.kind](ax, look)


def _draw_line(ax: Any, look: Look) -> Any:
    layer = look.layer
    few = layer.role == "series" and 2 < layer.x.size <= _FEW
    marker = {"marker": look.marker, "markersize": 5, "clip_on": False} if few else {}
    return ax.plot(layer.x, layer.y, **look.line, **marker)[0]


def _draw_path(ax: Any, look: Look) -> Any:
    x, y = look.layer.x, look.layer.y
    drawn = ax.plot(x, y, **look.line)[0]
    moved = np.flatnonzero((np.diff(x) != 0.0) | (np.diff(y) != 0.0))
    if moved.size:
        tip, back = moved[-1] + 1, moved[-1]
        arrow = {"arrowstyle": "-|>", "color": look.colour, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}
        ax.annotate("", (x[tip], y[tip]), (x[back], y[back]), arrowprops=arrow)
    return drawn


def _draw_points(ax: Any, look: Look) -> Any:
    layer = look.layer
    if not layer.texts:
        return ax.scatter(layer.x, layer.y, s=22, marker=look.marker, color=look.colour, alpha=0.8, linewidths=0)
    # Points with texts stand around others.
    ink = look.theme.ink
    rings = ax.scatter(layer.x, layer.y, s=70, marker="o", facecolors="none", edgecolors=ink, linewidths=1.2)
    for x, y, text in zip(layer.x, layer.y, layer.texts, strict=True):
        place = {"xytext": (5, 5), "textcoords": "offset points", "annotation_clip": True}
        ax.annotate(text, (x, y), **place, fontsize=style.SMALL, color=ink, parse_math=False)
    return rings


def _draw_band(ax: Any, look: Look) -> Any:
    layer = look.layer
    return ax.fill_between(layer.x, layer.low, layer.high, color=look.colour, alpha=0.2, linewidth=0)


def _draw_level(ax: Any, look: Look) -> Any:
    return ax.axhline(float(look.layer.y[0]), **look.line)


def _draw_bars(ax: Any, look: Look) -> Any:
    return ax.barh(look.layer.y, look.layer.x, height=0.66, color=look.colour, alpha=_FILLED)


def _draw_cells(ax: Any, look: Look) -> Any:
    layer = look.layer
    shape = int(layer.y.max()) + 1, int(layer.x.max()) + 1
    shades, texts = np.zeros(shape), np.full(shape, "", dtype=object)
    at = layer.y.astype(int), layer.x.astype(int)
    shades[at] = 0.0 if layer.low is None else layer.low
    texts[at] = layer.texts or [""] * layer.x.size
    from matplotlib.colors import to_rgba

    colours = np.empty((*shape, 4))
    colours[..., :3] = to_rgba(look.colour)[:3]
    colours[..., 3] = 0.03 + (_DEEPEST - 0.03) * shades / max(float(shades.max()), 1e-300)
    drawn = ax.imshow(colours, aspect="auto", interpolation="nearest")
    room = 380.0 / shape[1]  # points
    for (i, j), text in np.ndenumerate(texts):
        if text:
            size = min(style.TEXT, max(4.0, room / (0.7 * len(text))))
            ax.text(j, i, text, ha="center", va="center", fontsize=size, color=look.theme.ink, parse_math=False)
    return drawn


_DRAWN: Final[dict[Kind, Callable[[Any, Look], Any]]] = {
    "line": _draw_line,
    "points": _draw_points,
    "path": _draw_path,
    "band": _draw_band,
    "level": _draw_level,
    "bars": _draw_bars,
    "cells": _draw_cells,
}
