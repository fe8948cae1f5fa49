"""How pictures look in matplotlib: sizes, and the theme that suits the axes."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from onlinear.errors import ParameterError
from onlinear.pictures.palette import DARK, LIGHT, Theme

ThemeName: TypeAlias = Literal["light", "dark"]

WIDTH: Final = 6.4
"""Of a new figure, in inches."""
HEIGHT: Final = 3.6
"""Of a new figure, without its legend and notes."""
BAR: Final = 0.24
"""The height of a bar and of a cell, with its gap."""
SLANTED: Final = 0.055
"""The height of a character of a slanted name."""
TITLE: Final = 11.0
"""Sizes of text, in points."""
TEXT: Final = 9.0
SMALL: Final = 8.0

MARKERS: Final = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "plus": "P", "cross": "X"}
"""What matplotlib calls markers."""

_THEMES: Final[dict[str, Theme]] = {"light": LIGHT, "dark": DARK}


def theme_named(name: str) -> Theme:
    """Return a theme by its name."""
    if name not in _THEMES:
        raise ParameterError(f"theme is {name!r}; it must be one of {', '.join(map(repr, _THEMES))}")
    return _THEMES[name]


def theme_of(ax: Any) -> Theme:
    """Return the theme that suits the background of axes: dark if it is dark."""
    from matplotlib.colors import to_rgba

    for background in (ax.get_facecolor(), ax.figure.get_facecolor()):
        *colour, opacity = to_rgba(background)
        if opacity > 0.5:
            return DARK if luminance(colour) < 0.18 else LIGHT
    return LIGHT


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour (red, green, blue), from 0 for black to 1 for white, as in WCAG."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
