"""A `Picture` as SVG text, legible without scripts, in light and in dark."""

from __future__ import annotations

import hashlib
import math
from typing import Final, NamedTuple

from onlinear.display import counted
from onlinear.pictures.marks import PlotArea, coloured, draw_layer, sample
from onlinear.pictures.markup import cut_text, element, escaped, px, text_width, wrap_text
from onlinear.pictures.palette import DARK, LIGHT, layer_numbers
from onlinear.pictures.picture import Axis, Layer, Picture
from onlinear.pictures.scale import Scale, Tick, limits

_ROW = 18
"""The height of a line of text."""
_BAR = 24
"""The height of a bar with its gap."""
_CELL = 34
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg(picture: Picture, *, width: int = 720, height: int = 400, standalone: bool = True, name: str = "") -> str:
    """Return a picture as an SVG element.

    Lines are thinned to what a column of pixels shows, so the size is bounded and no burst is hidden.

    Parameters
    ----------
    picture : Picture
        What to draw.
    width, height : int
        The size in pixels. Bars, cells and long legends get the height that they need.
    standalone : bool
        Whether it stands alone: then it has its title, its notes and a style for dark pages. Otherwise these belong to
        the page, which contains `dark_style`.
    name : str
        What the ids begin with; by default it is derived from the content.

    Examples
    --------
    >>> from onlinear.pictures import Axis, Layer, Picture
    >>> from onlinear.pictures.svg import svg
    >>> line = Layer.of("Perceptron", [0, 10, 20], [0, 4, 5])
    >>> svg(Picture("Mistakes", Axis("round"), Axis("mistakes"), (line,)))[:26]
    '<svg xmlns="http://www.w3.'
    """
    return _Sheet(picture, width, height, standalone=standalone).drawn(name)


def dark_style() -> str:
    """Return the style sheet that gives pictures the colours of a dark page."""
    colours = {"paper": DARK.paper, "ink": DARK.ink, "muted": DARK.muted, "grid": DARK.grid}
    colours |= {"bound": DARK.bound, "baseline": DARK.baseline}
    colours |= {f"s{i}": colour for i, colour in enumerate(DARK.series)}
    rules = "".join(f".onlinear .{name}{{color:{colour}}}" for name, colour in colours.items())
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"


def describe_picture(picture: Picture) -> str:
    """Return what a picture shows, in words: its axes, and where each line ends."""
    said = [f"{picture.y.label} against {picture.x.label}."]
    for layer in picture.layers:
        if not layer.name or not layer.y.size:
            continue
        if layer.kind == "level":
            said.append(f"{layer.name}: {_value(picture.y, layer.y[0])}.")
        elif layer.kind in {"line", "path"}:
            said.append(f"{layer.name}: {_value(picture.y, layer.y[-1])} at {_value(picture.x, layer.x[-1])}.")
        else:
            said.append(f"{layer.name}: {counted(layer.x.size, 'point')}.")
    return " ".join(said)


class _LegendEntry(NamedTuple):
    """An entry of the legend, and where it stands."""

    layer: Layer
    number: int
    x: float
    row: int


class _Sheet:
    """The sheet that a picture is drawn on: the places of title, legend, axes and notes."""

    def __init__(self, picture: Picture, width: int, height: int, *, standalone: bool) -> None:
        self.picture, self.width, self.standalone = picture, width, standalone
        self.numbers = layer_numbers(picture.layers)
        self.kinds = {layer.kind for layer in picture.layers}
        self.title = wrap_text(picture.title, width - 24, 15) if standalone else []
        self.notes = [line for note in picture.notes for line in wrap_text(note, width - 24)] if standalone else []
        self.legend = self._legend()
        rows = 1 + max((entry.row for entry in self.legend), default=-1)
        self.legend_top = 8 + (len(self.title) * 20 + 6 if self.title else 0)
        self.top = self.legend_top + rows * _ROW + (_ROW + 6 if picture.y.label else 8)
        below = (len(self.notes) * 16 + 8) * bool(self.notes)
        self.x_limits, self.y_limits = self._limits()
        self.names = self._names()
        widest = max((text_width(tick.label) for tick in self.names), default=0.0)
        # Long names stand above their bars.
        self.above = widest > 0.42 * width
        left = self._left()
        right = 18 if not picture.x.names else 12
        inner = width - left - right
        self.slanted = self._slanted(inner)
        bottom = 24 + (_ROW if picture.x.label else 0) + self.slanted
        plot = max(height - self.top - bottom - below, 120)
        if self.names or "cells" in self.kinds:
            each = _CELL if "cells" in self.kinds else _BAR + _ROW * self.above
            plot = each * (self.y_limits[1] - self.y_limits[0])
        if picture.square:
            self._make_square(inner, plot)
        self.left = left
        self.field = PlotArea(
            Scale(picture.x, *self.x_limits, 0.0, inner),
            # Bars and rows of a matrix are read from the top.
            Scale(picture.y, *self.y_limits, *((0.0, plot) if self._from_top() else (plot, 0.0))),
            inner,
            plot,
            _BAR * 0.66,
            _ROW / 2 if self.above else 0.0,
        )
        self.bottom = self.top + plot
        self.height = math.ceil(self.bottom + bottom + below)

    def drawn(self, name: str) -> str:
        """Return the whole element."""
        inside = self._frame() + self._plot() + self._legend_drawn() + self._words()
        name = name or "picture-" + hashlib.sha256(inside.encode()).hexdigest()[:8]
        style = element("style", dark_style()) if self.standalone else ""
        paper = element("rect", class_="paper", color=LIGHT.paper, fill="currentColor", width="100%", height="100%")
        title = element("title", escaped(self.picture.title), id=f"{name}-title")
        return element(
            "svg",
            title if self.standalone else "",
            element("desc", escaped(describe_picture(self.picture)), id=f"{name}-desc"),
            style,
            paper if self.standalone else "",
            inside,
            xmlns="http://www.w3.org/2000/svg",
            class_="onlinear",
            viewBox=f"0 0 {self.width} {self.height}",
            width=self.width,
            height=self.height,
            role="img",
            # In a page, browsers would show a title element as a tooltip wherever the pointer is.
            aria_labelledby=f"{name}-title" if self.standalone else None,
            aria_label=None if self.standalone else self.picture.title,
            aria_describedby=f"{name}-desc",
            font_family=_FONT,
            font_size="12",
        )

    def _limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        picture, layers = self.picture, self.picture.layers
        if "cells" in self.kinds or "bars" in self.kinds:
            y = limits(picture.y._replace(names=()), [layer.y for layer in layers], pad=0)
            edge = 0.5 if "cells" in self.kinds else 0.6
            rows = (min(y[0], y[1] - 1) if "cells" not in self.kinds else y[0]) - edge, y[1] + edge
            if "cells" in self.kinds:
                x = limits(picture.x._replace(names=()), [layer.x for layer in layers], pad=0)
                return (x[0] - edge, x[1] + edge), rows
            low, high = limits(picture.x, [layer.x for layer in layers], pad=0.05, zero=True)
            return (min(low, 0.0), max(high, 0.0)), rows
        joined = self.kinds & {"line", "band"}
        heights = [one for layer in layers for one in (layer.y, layer.low, layer.high) if one is not None]
        x = limits(picture.x, [layer.x for layer in layers], pad=0 if joined and not picture.square else 0.06)
        return x, limits(picture.y, heights, pad=0.05, zero=bool(joined) and not picture.square)

    def _from_top(self) -> bool:
        return bool(self.kinds & {"bars", "cells"})

    def _names(self) -> list[Tick]:
        """Return the names of bars."""
        bars = [layer for layer in self.picture.layers if layer.kind == "bars"]
        pairs = (zip(layer.y.tolist(), layer.texts, strict=False) for layer in bars)
        named = [Tick(place, text) for each in pairs for place, text in each]
        return named or ([Tick(i, text) for i, text in enumerate(self.picture.y.names)] if bars else [])

    def _y_ticks(self, scale: Scale) -> list[Tick]:
        return self.names or scale.ticks(48)

    def _left(self) -> float:
        """Return the width of the labels left of the plot."""
        if self.above:
            return 12.0
        ticks = self._y_ticks(Scale(self.picture.y, *self.y_limits, 300, 0))
        widest = max((text_width(tick.label) for tick in ticks), default=0.0)
        return min(widest, 0.45 * self.width) + 18

    def _slanted(self, inner: float) -> float:
        """Return the height that names below the plot need in addition, where they do not fit side by side."""
        names = self.picture.x.names
        if not names:
            return 0.0
        widest = max(map(text_width, names))
        if widest <= inner / len(names) - 6:
            return 0.0
        return min(widest, 110.0) * 0.75

    def _make_square(self, inner: float, plot: float) -> None:
        """Widen one axis until a unit has the same length on both."""
        (x0, x1), (y0, y1) = self.x_limits, self.y_limits
        unit = max((x1 - x0) / inner, (y1 - y0) / plot)
        dx, dy = (unit * inner - (x1 - x0)) / 2, (unit * plot - (y1 - y0)) / 2
        self.x_limits, self.y_limits = (x0 - dx, x1 + dx), (y0 - dy, y1 + dy)

    def _legend(self) -> list[_LegendEntry]:
        entries: list[_LegendEntry] = []
        x, row, seen = 12.0, 0, set()
        for layer, number in zip(self.picture.layers, self.numbers, strict=True):
            if not layer.name or (layer.role, layer.name) in seen:
                continue
            seen.add((layer.role, layer.name))
            wide = 28 + text_width(cut_text(layer.name, self.width - 56)) + 16
            if x + wide > self.width and x > 12:
                x, row = 12.0, row + 1
            entries.append(_LegendEntry(layer, number, x, row))
            x += wide
        # A single series is named by the title or an axis.
        return entries if len(entries) > 1 or any(one.layer.role != "series" for one in entries) else []

    def _legend_drawn(self) -> str:
        drawn = []
        for layer, number, x, row in self.legend:
            y = self.legend_top + row * _ROW + 9
            shape = coloured(layer, number, sample(layer, number), transform=f"translate({px(x)} {px(y)})")
            drawn.append(shape + _text(cut_text(layer.name, self.width - 56), x + 28, y + 4, LIGHT.ink, "ink"))
        return element("g", *drawn, class_="legend") if drawn else ""

    def _frame(self) -> str:
        """Return the axes with their ticks and grid."""
        field = self.field
        across, down, xs, ys = [], [], [], []
        for value, label in self._y_ticks(field.y):
            y = self.top + field.y.pixel(value)
            if not self._from_top():
                across.append(f"M{px(self.left)} {px(y)}h{px(field.width)}")
            if self.above:
                ys.append(element("text", escaped(cut_text(label, self.width - 24)), x=self.left, y=y - 4))
            else:
                ys.append(element("text", escaped(cut_text(label, self.left - 16)), x=self.left - 8, y=y + 4))
        for x, label in self._x_ticks():
            if "cells" not in self.kinds and not self.above:
                down.append(f"M{px(x)} {px(self.top)}v{px(field.height)}")
            xs.append(self._x_label(x, label))
        edge = f"M{px(self.left)} {px(self.bottom)}h{px(field.width)}"
        return (
            _rule("".join(across), "y-grid", LIGHT.grid, "grid")
            + _rule("".join(down), "x-grid", LIGHT.grid, "grid")
            + (_rule(edge, "edge", LIGHT.muted, "muted") if "cells" not in self.kinds else "")
            + _labels(ys, "y-ticks", "start" if self.above else "end")
            + _labels(xs, "x-ticks", "end" if self.slanted else "middle")
        )

    def _x_ticks(self) -> list[tuple[float, str]]:
        """Return the places and labels below the plot, without those that would overlap."""
        ticks = self.field.x.ticks(96 if self.width > 480 else 72)
        shown: list[tuple[float, str]] = []
        free = -math.inf
        for value, label in ticks:
            x = self.left + self.field.x.pixel(value)
            half = 8.0 if self.slanted else text_width(label) / 2
            if x - half >= free:
                shown.append((x, label))
                free = x + half + (0 if self.slanted else 4)
        return shown

    def _x_label(self, x: float, label: str) -> str:
        y = self.bottom + 16
        if not self.slanted:
            half = text_width(label) / 2
            return element("text", escaped(label), x=max(half, min(x, self.width - half)), y=y)
        turned = f"rotate(-45 {px(x)} {px(y)})"
        return element("text", escaped(cut_text(label, 110)), x=x + 4, y=y - 4, transform=turned)

    def _plot(self) -> str:
        layers = zip(self.picture.layers, self.numbers, strict=True)
        drawn = [
            coloured(layer, number, draw_layer(layer, number, self.field), data_layer=str(i))
            for i, (layer, number) in enumerate(layers)
        ]
        # Its edge cuts off what is outside; no clip path, for that would need an id. Markers may stand out.
        ends = None if self.standalone else " ".join(map(repr, (*self.x_limits, *self.y_limits)))
        cut = "hidden" if self.kinds & {"line", "band", "level"} else "visible"
        return element(
            "svg",
            *drawn,
            class_="plot",
            x=self.left,
            y=self.top,
            width=self.field.width,
            height=self.field.height,
            overflow=cut,
            data_limits=ends,
        )

    def _words(self) -> str:
        """Return the title, the labels of the axes, and the notes."""
        picture = self.picture
        lines = [
            _text(line, 12, 24 + 20 * i, LIGHT.ink, "ink", size="15", weight="600") for i, line in enumerate(self.title)
        ]
        if picture.y.label:
            lines.append(_text(cut_text(picture.y.label, self.width - 24), 12, self.top - 12, LIGHT.muted, "muted"))
        under = self.bottom + 24 + self.slanted
        if picture.x.label:
            middle = self.left + self.field.width / 2
            label = cut_text(picture.x.label, self.width - 24)
            lines.append(_text(label, middle, under + 12, LIGHT.muted, "muted", anchor="middle"))
            under += _ROW
        for i, line in enumerate(self.notes):
            lines.append(_text(line, 12, under + 16 + 16 * i, LIGHT.muted, "muted"))
        return "".join(lines)


def _value(axis: Axis, value: float) -> str:
    digits = f"{value:.2%}" if axis.percent else f"{value:,.6g}"
    return digits.removesuffix(".0").replace("-", "−")


def _text(
    text: str,
    x: float,
    y: float,
    colour: str,
    kind: str,
    *,
    size: str | None = None,
    weight: str | None = None,
    anchor: str | None = None,
) -> str:
    return element(
        "text",
        escaped(text),
        x=x,
        y=y,
        class_=kind,
        color=colour,
        fill="currentColor",
        font_size=size,
        font_weight=weight,
        text_anchor=anchor,
    )


def _rule(path: str, name: str, colour: str, kind: str) -> str:
    return element("path", d=path, class_=f"{kind} {name}", color=colour, stroke="currentColor", fill="none")


def _labels(texts: list[str], name: str, anchor: str) -> str:
    return element("g", *texts, class_=f"muted {name}", color=LIGHT.muted, fill="currentColor", text_anchor=anchor)
