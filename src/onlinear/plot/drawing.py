"""Drawing a picture on axes of matplotlib."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from onlinear.display import printable
from onlinear.pictures.palette import Theme, layer_numbers
from onlinear.pictures.picture import Axis, Floats, Picture
from onlinear.pictures.scale import limits
from onlinear.plot import style
from onlinear.plot.marks import Look, draw_marks
from onlinear.plot.style import ThemeName

_ROWS = frozenset({"bars", "cells"})
"""What is read from the top."""
_LONGEST_LINE = 44
"""Characters in a line of the name of a row."""
_EDGE = 0.1
"""Around legend and notes, in inches."""
_GAP = 0.08
"""Between them."""


def draw_picture(picture: Picture, ax: Any = None, *, theme: ThemeName | None = None) -> Any:
    """Draw a picture with matplotlib, and return the axes.

    Parameters
    ----------
    picture : Picture
        What to draw.
    ax : matplotlib axes, optional
        Where to draw: its background, spines and grid stay as they are. Default: a new figure.
    theme : {"light", "dark"}, optional
        The colours. Default: those that suit the background of the axes.

    Examples
    --------
    >>> import onlinear
    >>> from onlinear.pictures import Axis, Layer, Picture
    >>> line = Layer.of("Perceptron", [0, 10, 20], [0, 4, 5])
    >>> ax = draw_picture(Picture("Mistakes", Axis("rounds"), Axis("mistakes"), (line,)))
    >>> ax.get_xlabel(), ax.lines[0].get_ydata().tolist()
    ('rounds', [0.0, 4.0, 5.0])
    """
    colours = None if theme is None else style.theme_named(theme)
    new = ax is None
    if new:
        ax = new_axes(picture)
        if colours is not None:
            ax.figure.set_facecolor(colours.paper)
            ax.set_facecolor(colours.paper)
    colours = colours or style.theme_of(ax)
    if new:
        _tidy(ax, picture, colours)
    had = (ax.get_xlim(), ax.get_ylim()) if ax.has_data() else None
    looks = [Look(colours, n, layer) for n, layer in zip(layer_numbers(picture.layers), picture.layers, strict=True)]
    drawn = [(look, draw_marks(ax, look)) for look in looks]
    _set_axes(ax, picture, colours, had)
    entries = _entries(drawn)
    if new:
        _make_room(ax, entries, picture.notes, colours)
    elif entries or picture.notes:
        _write_below(ax, entries, picture.notes, colours)
    return ax


def new_axes(picture: Picture) -> Any:
    """Return the axes of a new figure, as high as the picture needs."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('onlinear.plot needs matplotlib: pip install "onlinear[plot]"') from error
    height = style.HEIGHT
    if any(layer.kind in _ROWS for layer in picture.layers):
        rows = 1 + max((float(layer.y.max()) for layer in picture.layers if layer.y.size), default=0.0)
        lines = max((name.count("\n") + 1 for name in _row_names(picture.y)), default=1)
        height = 1.0 + style.BAR * max(rows, 2.0) * (1.0 + 0.7 * (lines - 1))
        if _are_slanted(picture.x.names):
            height += style.SLANTED * max(map(len, picture.x.names))
    if picture.square:
        (left, right), (bottom, top) = _limits(picture)
        # What is wider than high needs less, or there would be empty space above and below.
        needed = 1.0 + (style.WIDTH - 0.8) * (top - bottom) / (right - left)
        height = min(max(needed, 0.5 * style.HEIGHT), 1.25 * style.HEIGHT)
    return plt.subplots(figsize=(style.WIDTH, height), layout="constrained")[1]


def _tidy(ax: Any, picture: Picture, theme: Theme) -> None:
    """Give new axes a thin frame, and a grid behind the data."""
    cells = any(layer.kind == "cells" for layer in picture.layers)
    in_rows = cells or any(layer.kind == "bars" for layer in picture.layers)
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom" and not cells)
        spine.set_color(theme.muted)
    if not cells:
        ax.grid(visible=True, axis="x" if in_rows else "both", color=theme.grid, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(colors=theme.muted, labelcolor=theme.muted, labelsize=style.TEXT, length=0, which="both")


def _set_axes(ax: Any, picture: Picture, theme: Theme, had: Any) -> None:
    """Set the scales, limits, ticks and labels."""
    text = {"fontsize": style.TEXT, "color": theme.ink, "parse_math": False}
    ax.set_xlabel(printable(picture.x.label), **text)
    ax.set_ylabel(printable(picture.y.label), **text)
    title = "\n".join(textwrap.wrap(printable(picture.title), 72))
    ax.set_title(title, loc="left", fontsize=style.TITLE, color=theme.ink, parse_math=False)
    x, y = _limits(picture)
    if had is not None:
        x, y = (_joined(*pair) for pair in zip((x, y), had, strict=True))
    for which, axis, ends in (("x", picture.x, x), ("y", picture.y, y)):
        whole = all(_are_whole(getattr(layer, which)) for layer in picture.layers if layer.kind != "level")
        if axis.log:
            getattr(ax, f"set_{which}scale")("log", nonpositive="mask")
        getattr(ax, f"set_{which}lim")(*ends)
        _set_ticks(getattr(ax, f"{which}axis"), axis, ends, whole=whole)
    if picture.square:
        ax.set_aspect("equal", adjustable="box")
    if _are_slanted(picture.x.names):
        ax.tick_params(axis="x", rotation=45)
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _limits(picture: Picture) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the limits of both axes; rows are counted from the top."""
    layers, kinds = picture.layers, {layer.kind for layer in picture.layers}
    xs = [layer.x for layer in layers]
    heights = [one for layer in layers for one in (layer.y, layer.low, layer.high) if one is not None]
    if kinds & _ROWS:
        rows = 1 + max((float(layer.y.max()) for layer in layers if layer.y.size), default=0.0)
        if "cells" in kinds:
            columns = 1 + max(float(layer.x.max()) for layer in layers)
            return (-0.5, columns - 0.5), (rows - 0.5, -0.5)
        low, high = limits(picture.x, xs, pad=0.05, zero=True)
        return (min(low, 0.0), max(high, 0.0)), (rows - 0.4, -0.6)
    joined = bool(kinds & {"line", "band"}) and not picture.square
    return limits(picture.x, xs, pad=0.0 if joined else 0.06), limits(picture.y, heights, pad=0.05, zero=joined)


def _joined(new: tuple[float, float], old: tuple[float, float]) -> tuple[float, float]:
    """Return limits that hold what was drawn before, too."""
    return (min(*new, *old), max(*new, *old)) if new[0] <= new[1] else new


def _set_ticks(which: Any, axis: Axis, ends: tuple[float, float], *, whole: bool) -> None:
    """Put ticks at round numbers, or at whole ones if all data are; or names at whole numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if axis.names:
        which.set_ticks(range(len(axis.names)), _row_names(axis))
        for label in which.get_ticklabels():
            label.set_parse_math(False)
        return
    if axis.log:
        few = max(ends) < 100.0 * min(ends)
        which.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
        which.set_minor_formatter(NullFormatter())
    else:
        which.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 5, 10], integer=whole))
    which.set_major_formatter(FuncFormatter(lambda value, _: _percent(value) if axis.percent else _number(value)))


def _row_names(axis: Axis) -> list[str]:
    """Return names in lines of bounded length: there must be room beside them."""
    return [textwrap.fill(printable(name), _LONGEST_LINE) for name in axis.names]


def _are_slanted(names: tuple[str, ...]) -> bool:
    """Tell whether the names of columns are too long to stand side by side."""
    return any(len(name) > 80 / len(names) for name in names)


def _are_whole(values: Floats) -> bool:
    return bool((values == np.round(values))[np.isfinite(values)].all())


def _number(value: float) -> str:
    return f"{value:,.12g}".replace("-", "−")


def _percent(value: float) -> str:
    return f"{_number(round(100.0 * value, 10))}%"


def _entries(drawn: list[tuple[Look, Any]]) -> dict[str, Any]:
    """Return the names in the legend with what stands for them; a single series is named by the title or an axis."""
    entries: dict[str, Any] = {}
    for look, artist in drawn:
        if look.layer.name:
            entries.setdefault(printable(look.layer.name), artist)
    alone = len(entries) == 1 and all(look.layer.role == "series" for look, _ in drawn)
    return {} if alone else entries


def _write_below(ax: Any, entries: dict[str, Any], notes: tuple[str, ...], theme: Theme) -> None:
    """Put the legend below axes that were given, and the notes below that."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()  # only now the layout is known
    area = ax.get_window_extent()
    depth = (area.y0 - ax.xaxis.get_tightbbox().y0) / figure.dpi + _GAP

    def under(depth: float) -> Any:
        return ax.transAxes + ScaledTranslation(0.0, -depth, figure.dpi_scale_trans)

    if entries:
        legend = _legend(ax, entries, theme, area.width / figure.dpi)
        legend.set_bbox_to_anchor((0.0, 0.0), under(depth))
        depth += legend.get_window_extent().height / figure.dpi + _GAP
    if notes:
        lines = _wrapped(notes, area.width / figure.dpi)
        ax.text(0.0, 0.0, lines, transform=under(depth), **_note_style(theme))


def _make_room(ax: Any, entries: dict[str, Any], notes: tuple[str, ...], theme: Theme) -> None:
    """Let the title of a new figure begin at its edge, and make room for the legend and the notes below."""
    from matplotlib.transforms import blended_transform_factory

    figure = ax.figure
    wide = style.WIDTH - 2.0 * _EDGE
    begin = blended_transform_factory(figure.dpi_scale_trans, ax.transAxes + ax.titleOffsetTrans)
    ax.set_title(ax.get_title(loc="left"), loc="left", x=_EDGE, transform=begin)
    written = figure.text(0.0, 0.0, _wrapped(notes, wide), **_note_style(theme))
    room = written.get_window_extent().height / figure.dpi + _EDGE if notes else _EDGE
    written.set(x=_EDGE, y=room, transform=figure.dpi_scale_trans)
    if entries:
        legend = _legend(figure, entries, theme, wide)
        room += legend.get_window_extent().height / figure.dpi + _GAP
        legend.set_bbox_to_anchor((_EDGE, room), figure.dpi_scale_trans)
    room += 0.5 * _GAP
    height = figure.get_figheight() + room + _GAP
    figure.set_figheight(height)
    share = (room + _GAP) / height
    figure.get_layout_engine().set(rect=(0.0, share, 1.0, 1.0 - share))


def _legend(place: Any, entries: dict[str, Any], theme: Theme, wide: float) -> Any:
    """Return the legend of axes or of a figure, in as many columns as fit."""
    longest = max(map(len, entries)) * 0.075 + 0.65
    legend = place.legend(
        list(entries.values()),
        [f" {name}" for name in entries],
        loc="upper left",
        borderaxespad=0.0,
        borderpad=0.0,
        ncols=max(1, min(len(entries), int(wide / longest))),
        frameon=False,
        fontsize=style.TEXT,
        labelcolor=theme.ink,
        handlelength=2.6,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def _wrapped(notes: tuple[str, ...], wide: float) -> str:
    return "\n".join(line for note in notes for line in textwrap.wrap(printable(note), max(30, int(wide / 0.063))))


def _note_style(theme: Theme) -> dict[str, Any]:
    return {"fontsize": style.SMALL, "color": theme.muted, "parse_math": False, "va": "top", "ha": "left"}
