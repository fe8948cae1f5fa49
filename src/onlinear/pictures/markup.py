"""SVG as text: elements with escaped attributes, and how wide a text will be."""

from __future__ import annotations

import html
import unicodedata

from onlinear.display import printable
from onlinear.pictures.picture import Floats

_NARROW = frozenset("iljtfrI.,:;'|!()[]{}/\\ ")
_WIDE = frozenset("mwMW@%—…")


def escaped(text: str) -> str:
    """Return a text as it stands in an element or an attribute; control characters are shown as escapes."""
    return html.escape(printable(text))


def element(tag: str, *content: str, **attributes: str | float | None) -> str:
    """Return an element with content that is markup already.

    In the names of attributes _ stands for -; those that are None are left out.
    """
    pairs = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value is not None)
    opened = "".join(f' {name}="{escaped(value) if isinstance(value, str) else px(value)}"' for name, value in pairs)
    return f"<{tag}{opened}>{''.join(content)}</{tag}>" if content else f"<{tag}{opened}/>"


def px(value: float) -> str:
    """Return a coordinate with one decimal, and none where it is 0."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def line_path(x: Floats, y: Floats) -> str:
    """Return the path through points."""
    return "M" + "L".join(f"{px(a)} {px(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def text_width(text: str, size: float = 12) -> float:
    """Return an estimate of the width of a text in a sans-serif font, rather too large than too small."""
    return size * sum(_em(character) for character in text)


def cut_text(text: str, width: float, size: float = 12) -> str:
    """Return a text that is cut to a width, with … at its end."""
    text = printable(text)
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def wrap_text(text: str, width: float, size: float = 12) -> list[str]:
    """Return the lines of a text that is broken between words."""
    lines = [""]
    for word in printable(text).split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [cut_text(line, width, size) for line in lines if line]


def _em(character: str) -> float:
    if character in _NARROW:
        return 0.34
    if character in _WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.7 if character.isupper() else 0.61
