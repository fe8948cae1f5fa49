"""From plain data to a page: HTML that needs no network, and Markdown that says the same."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import importlib.resources
import json
import os
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from onlinear.atomic import replace_file
from onlinear.display import printable, rounded_up
from onlinear.errors import OnlinearError, ParameterError
from onlinear.pictures.picture import Floats, Picture
from onlinear.pictures.svg import dark_style, svg
from onlinear.report.parts import ReportContents

_STYLES = ("page", "sentences", "facts", "table", "chart", "examples", "code", "print")
_WIDE, _NARROW = (720, 380), (360, 330)
"""The sizes in which each chart is drawn: for windows, and for phones."""
_ZOOMED = frozenset({"line", "level"})
"""The kinds of layers that can be read at each x, and zoomed."""


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes
    ----------
    contents : ReportContents
        All that it says, as plain data.
    """

    contents: ReportContents

    def html(self) -> str:
        """Return the report as one HTML page, which loads nothing and runs only its own script."""
        style = "\n".join([*(_text("styles", f"{name}.css") for name in _STYLES), dark_style()])
        script = _text("scripts", "chart.js")
        policy = (
            f"default-src 'none'; style-src '{_hash_of(style)}'; script-src '{_hash_of(script)}';"
            " base-uri 'none'; form-action 'none'"
        )
        return _rendered(
            "page.html", contents=self.contents, policy=policy, style=_trusted(style), script=_trusted(script)
        )

    def markdown(self) -> str:
        """Return the same facts as Markdown; charts are tables there."""
        made = _rendered("page.md", contents=self.contents)
        return re.sub(r"\n{3,}", "\n\n", made).strip() + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file: Markdown if its name ends in ``.md``, HTML if it ends in ``.html``."""
        kind = PurePath(path).suffix.lower()
        if kind not in SUFFIXES:
            raise ParameterError(f"the name of a report ends in {' or '.join(SUFFIXES)}; {os.fspath(path)} does not")
        text = self.markdown() if kind == ".md" else self.html()
        replace_file(path, [text.encode("utf-8", errors="backslashreplace")])

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        """Return the title and the headings."""
        return "\n".join([self.contents.title, *(f"  {section.title}" for section in self.contents.sections)])


SUFFIXES = (".html", ".htm", ".md")
"""What the name of a report can end in."""


class VerbatimMarkdown(str):
    """Markdown that is not escaped."""

    __slots__ = ()


def check_jinja() -> None:
    """Raise unless Jinja2 is installed."""
    try:
        import jinja2  # noqa: F401  # only whether it is there
    except ModuleNotFoundError as error:
        raise OnlinearError('reports need Jinja2: pip install "onlinear[report]"') from error


def _rendered(name: str, **values: Any) -> str:
    """Return a template with its values."""
    made: str = _environment(PurePath(name).suffix).get_template(name).render(**values)
    return made


@functools.cache
def _environment(kind: str) -> Any:
    """Return the environment of the templates; all values that they insert are escaped for HTML or for Markdown."""
    check_jinja()
    import jinja2

    environment = jinja2.Environment(
        # HTML is escaped by Jinja2 itself, Markdown by a function that all values pass.
        autoescape=jinja2.select_autoescape(),
        finalize=None if kind == ".html" else _in_markdown,
        loader=jinja2.FunctionLoader(lambda name: _text("templates", name)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "drawings": _drawings,
        "curve_data": _curve_data,
        "shown": _shown,
        "lines": _lines,
        "fenced": _fenced,
    }
    return environment


def _text(*place: str) -> str:
    """Return a file of this package."""
    found: str = importlib.resources.files("onlinear.report").joinpath(*place).read_text(encoding="utf-8")
    return found


def _trusted(text: str) -> Any:
    """Return text that is markup already."""
    import markupsafe

    return markupsafe.Markup(text)  # noqa: S704  # it comes from this package, or is escaped where it was made


def _hash_of(text: str) -> str:
    """Return the hash of an inline script or style, as a content-security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _shown(text: str) -> Any:
    """Return a text for HTML, in which names may be broken after brackets, commas and the like."""
    return _trusted(_BREAKS.sub(r"\1<wbr>", html.escape(printable(text))))


def _lines(text: str) -> str:
    """Return lines with their control characters as escapes: none can turn or hide what stands beside it."""
    return "\n".join(map(printable, text.splitlines()))


_BREAKS = re.compile(r"(?<=\w)([(/_=]|,(?!\d))(?=\w)")
"""Where a long name may be broken."""
_ENDS_IN_NUMBER = re.compile(r": [\d.,]+%?$")


def _drawings(picture: Picture, name: str) -> Any:
    """Return a picture in two sizes; the style sheet shows one."""
    sizes = {"wide": _WIDE, "narrow": _NARROW}
    drawn = (
        f'<div class="{kind}">{svg(picture, width=width, height=height, standalone=False, name=f"{name}-{kind}")}</div>'
        for kind, (width, height) in sizes.items()
    )
    return _trusted("".join(drawn))


def _curve_data(picture: Picture) -> Any:
    """Return the numbers behind lines as JSON, for zoom and hover; empty for other pictures."""
    if picture.x.names or not all(layer.kind in _ZOOMED for layer in picture.layers):
        return ""
    known: dict[bytes, int] = {}
    places: list[list[Any]] = []
    layers: list[dict[str, Any]] = []
    for layer in picture.layers:
        # The legend may have the last number, which would stand twice beside the one that is read.
        told: dict[str, Any] = {"name": _ENDS_IN_NUMBER.sub("", printable(layer.name))}
        if layer.kind == "level":
            # It is a bound, rounded up as everywhere.
            layers.append({**told, "level": float(rounded_up(float(layer.y[0])))})
            continue
        key = layer.x.tobytes()
        if key not in known:
            known[key] = len(places)
            places.append(_short(layer.x))
        layers.append({**told, "x": known[key], "y": _short(layer.y)})
    axes = {side: {"label": axis.label, "log": axis.log, "percent": axis.percent} for side, axis in _axes(picture)}
    text = json.dumps({**axes, "places": places, "layers": layers}, allow_nan=False, separators=(",", ":"))
    # No end of a script, and no comment, can stand in it.
    return _trusted(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _axes(picture: Picture) -> Any:
    return ("horizontal", picture.x), ("vertical", picture.y)


def _short(values: Floats) -> list[Any]:
    """Return numbers with at most seven digits, whole numbers exactly; null where there is none."""
    return [
        None if not np.isfinite(value) else int(value) if value == int(value) else float(f"{value:.7g}")
        for value in values.tolist()
    ]


_SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")
_LIST_ITEM = re.compile(r"^(\s*\d*)(?=([-+]|[.)])\s|[-=]{3})")
"""What would begin a list or a rule."""


def _in_markdown(value: Any) -> Any:
    """Escape a value: as Markdown it shows the same text, in one line."""
    if not isinstance(value, str) or isinstance(value, VerbatimMarkdown):
        return value
    text = _SPECIAL.sub(r"\\\1", html.escape(printable(value), quote=False))
    return _LIST_ITEM.sub(r"\1\\", text)


def _fenced(text: str, language: str = "") -> VerbatimMarkdown:
    """Return lines as a block of code, with a fence that is longer than any in it."""
    lines = _lines(text)
    longest = max(map(len, re.findall("`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return VerbatimMarkdown(f"{fence}{language}\n{lines}\n{fence}")
