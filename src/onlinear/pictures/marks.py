"""The layers of a picture as SVG elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from onlinear.pictures.markup import cut_text, element, escaped, line_path, px
from onlinear.pictures.palette import LIGHT, MARKERS, dashes
from onlinear.pictures.picture import Floats, Kind, Layer
from onlinear.pictures.scale import Scale
from onlinear.pictures.thin import stretches, thin_line, thin_points

_RADIUS = 3.5
_FEW = 16
"""Up to this many points of a line have markers."""
_LABELLED = 40
"""Up to this many points have their texts beside them."""


class PlotArea(NamedTuple):
    """Where layers are drawn; its corner is the origin."""

    x: Scale
    y: Scale
    width: float
    height: float
    bar: float
    """How thick a bar is, and how far below its place, where its name stands above it."""
    lowered: float

    def places(self, layer: Layer) -> tuple[Floats, Floats]:
        """Return the points of a layer in pixels, within reach of the field: far away SVG has no precision."""
        x, y = (np.where(np.isfinite(one), one, np.nan) for one in (self.x.pixels(layer.x), self.y.pixels(layer.y)))
        return np.clip(x, -self.width, 2 * self.width), self.vertical(y) + self.lowered

    def vertical(self, y: Floats) -> Floats:
        """Return heights within reach of the field."""
        return np.clip(y, -self.height, 2 * self.height)


def coloured(layer: Layer, number: int, *content: str, **attributes: str | float | None) -> str:
    """Return a group in the colour of a layer."""
    colour = LIGHT.colour(layer.role, number)
    return element("g", *content, class_=colour_class(layer, number), color=colour, **attributes)


def colour_class(layer: Layer, number: int) -> str:
    """Return the class that stands for a layer's colour."""
    return layer.role if layer.role in {"bound", "baseline"} else f"s{number % len(LIGHT.series)}"


def draw_layer(layer: Layer, number: int, field: PlotArea) -> str:
    """Return the elements of a layer."""
    return _DRAWN[layer.kind](layer, number, field)


def sample(layer: Layer, number: int) -> str:
    """Return what stands for a layer in the legend, 22 pixels wide and centred on height 0."""
    if layer.kind in {"points", "cells"}:
        return _filled(_marker(layer, number, np.array([11.0]), np.array([0.0])), number)
    if layer.kind in {"band", "bars"}:
        return element("rect", x=0, y=-5, width=22, height=10, fill="currentColor", fill_opacity=_opacity(layer))
    return _stroke("M0 0H22", layer, number)


def _line(layer: Layer, number: int, field: PlotArea) -> str:
    x, y = field.places(layer)
    parts, markers = [], []
    for stretch in stretches(x, y):
        kept = thin_line(x[stretch], y[stretch]) + stretch.start
        parts.append(line_path(x[kept], y[kept]))
        alone = stretch.stop - stretch.start == 1
        if alone or (layer.role == "series" and 2 < x.size <= _FEW):
            markers.append(_filled(_marker(layer, number, x[stretch], y[stretch]), number))
    return (_stroke("".join(parts), layer, number) if parts else "") + "".join(markers)


def _path(layer: Layer, number: int, field: PlotArea) -> str:
    x, y = field.places(layer)
    return _line(layer, number, field) + _arrow(x, y) + _labels(layer, x, y)


def _points(layer: Layer, number: int, field: PlotArea) -> str:
    x, y = field.places(layer)
    kept = thin_points(x, y)
    return _filled(_marker(layer, number, x[kept], y[kept]), number) + _labels(layer, x, y)


def _band(layer: Layer, number: int, field: PlotArea) -> str:
    if layer.low is None or layer.high is None:
        return ""
    x = field.places(layer)[0]
    # On a logarithmic axis a band that reaches down to 0 goes to the edge.
    bottom = np.where(layer.low <= 0, field.y.low, layer.low) if field.y.axis.log else layer.low
    low, high = (field.vertical(field.y.pixels(side)) for side in (bottom, layer.high))
    parts = []
    for stretch in stretches(x, low, high):
        under, over = (thin_line(x[stretch], side[stretch]) + stretch.start for side in (low, high))
        back = under[::-1]
        outline = np.concatenate([x[over], x[back]]), np.concatenate([high[over], low[back]])
        parts.append(line_path(*outline) + "Z")
    return element("path", d="".join(parts), fill="currentColor", fill_opacity=_opacity(layer)) if parts else ""


def _level(layer: Layer, number: int, field: PlotArea) -> str:
    y = field.y.pixel(float(layer.y[0]))
    return _stroke(f"M0 {px(y)}H{px(field.width)}", layer, number) if math.isfinite(y) else ""


def _bars(layer: Layer, number: int, field: PlotArea) -> str:
    zero = field.x.pixel(0.0)
    x, y = field.places(layer)
    thick = field.bar
    ends = zip(x.tolist(), y.tolist(), strict=True)
    bars = "".join(
        f"M{px(zero)} {px(b - thick / 2)}H{px(a)}v{px(thick)}H{px(zero)}Z" for a, b in ends if math.isfinite(a + b)
    )
    return element("path", d=bars, fill="currentColor", fill_opacity=_opacity(layer)) if bars else ""


def _cells(layer: Layer, number: int, field: PlotArea) -> str:
    shade = np.zeros(layer.x.size) if layer.low is None else np.nan_to_num(layer.low)
    deepest = max(float(shade.max(initial=0.0)), 1e-300)
    x, y = field.places(layer)
    wide, high = (abs(scale.pixel(1.0) - scale.pixel(0.0)) for scale in (field.x, field.y))
    rectangles, texts = [], []
    for i in range(layer.x.size):
        corner = {"x": x[i] - wide / 2 + 1, "y": y[i] - high / 2 + 1}
        # Up to half opaque: the text on it stays legible in both themes.
        filled = f"{0.03 + 0.47 * max(0.0, shade[i]) / deepest:.2f}"
        rectangles.append(element("rect", **corner, width=wide - 2, height=high - 2, fill_opacity=filled))
        if layer.texts:
            texts.append(element("text", escaped(cut_text(layer.texts[i], wide - 4)), x=x[i], y=y[i] + 4))
    inked = element("g", *texts, class_="ink", color=LIGHT.ink, fill="currentColor", text_anchor="middle")
    return element("g", *rectangles, fill="currentColor") + (inked if texts else "")


_DRAWN: Final[dict[Kind, Callable[[Layer, int, PlotArea], str]]] = {
    "line": _line,
    "points": _points,
    "path": _path,
    "band": _band,
    "level": _level,
    "bars": _bars,
    "cells": _cells,
}


def _stroke(path: str, layer: Layer, number: int) -> str:
    pattern = " ".join(px(length) for length in dashes(layer.role, number))
    width = "2" if layer.role == "series" else "1.5"
    return element(
        "path", d=path, fill="none", stroke="currentColor", stroke_width=width, stroke_dasharray=pattern or None
    )


def _marker(layer: Layer, number: int, x: Floats, y: Floats) -> str:
    """Return one path with a marker at each point."""
    r = _RADIUS
    shape = {
        "circle": f"m-{r} 0a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 -{2 * r} 0",
        "square": "m-3 -3h6v6h-6z",
        "triangle": f"m-{r} 3h{2 * r}l-{r} -{2 * r}z",
        "diamond": f"m-{r + 1} 0l{r + 1} -{r + 1}l{r + 1} {r + 1}l-{r + 1} {r + 1}z",
        "plus": f"m-{r} 0h{2 * r}m-{r} -{r}v{2 * r}",
        "cross": "m-3 -3l6 6m0 -6l-6 6",
    }[MARKERS[number % len(MARKERS)]]
    return "".join(f"M{px(a)} {px(b)}{shape}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _filled(path: str, number: int) -> str:
    if not path:
        return ""
    if MARKERS[number % len(MARKERS)] in {"plus", "cross"}:
        return element("path", d=path, fill="none", stroke="currentColor", stroke_width="1.5")
    return element("path", d=path, fill="currentColor", fill_opacity="0.8")


def _arrow(x: Floats, y: Floats) -> str:
    """Return an arrow's head at the last point, in the direction of the last step that has a length."""
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    steps = np.hypot(np.diff(x[known]), np.diff(y[known]))
    moved = np.flatnonzero(steps > 0)
    if not moved.size:
        return ""
    i = moved[-1]
    tip, back = known[i + 1], known[i]
    ux, uy = (x[tip] - x[back]) / steps[i], (y[tip] - y[back]) / steps[i]
    corners = [(x[tip] - 9 * ux + side * uy, y[tip] - 9 * uy - side * ux) for side in (4, -4)]
    points = np.array([(x[tip], y[tip]), *corners])
    return element("path", d=line_path(points[:, 0], points[:, 1]) + "Z", fill="currentColor")


def _labels(layer: Layer, x: Floats, y: Floats) -> str:
    if not 0 < len(layer.texts) <= _LABELLED:
        return ""
    shown = (i for i in range(len(layer.texts)) if layer.texts[i] and math.isfinite(x[i] + y[i]))
    texts = (element("text", escaped(cut_text(layer.texts[i], 160)), x=x[i] + 6, y=y[i] - 5) for i in shown)
    return element("g", *texts, class_="ink", color=LIGHT.ink, fill="currentColor")


def _opacity(layer: Layer) -> str:
    return "0.2" if layer.kind == "band" else "0.85"
