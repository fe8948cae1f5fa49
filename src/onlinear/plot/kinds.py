"""A kind of picture as something to call: it draws, and gives the data behind what it draws."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from onlinear.errors import ParameterError
from onlinear.pictures.picture import Picture
from onlinear.plot.drawing import draw_picture
from onlinear.plot.style import ThemeName

_AXES = (
    inspect.Parameter("ax", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any"),
    inspect.Parameter("theme", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="ThemeName | None"),
)
_MORE = """

Called, it draws the picture and returns the axes. ``frame`` and ``picture`` take the same arguments and return the data
behind it, as a table of Arrow and as a `Picture`.

Further parameters
------------------
ax : matplotlib axes, optional
    Where to draw. Default: a new figure.
theme : {"light", "dark"}, optional
    The colours. Default: those that suit the background of the axes.
"""


class PlotKind:
    """A function that draws one kind of picture, with the data behind it at hand.

    Parameters
    ----------
    function : callable
        It returns the picture of a result.
    name : str
        What it is called in `onlinear.plot`.
    *takes : types
        What its first argument may be. Default: what the function itself accepts.
    """

    def __init__(self, function: Callable[..., Picture], name: str, *takes: type) -> None:
        functools.update_wrapper(self, function)
        self._function, self._takes = function, takes
        self.__name__ = self.__qualname__ = name
        self.__module__ = "onlinear.plot"
        signature = inspect.signature(function)
        ordered = sorted([*signature.parameters.values(), *_AXES], key=lambda parameter: parameter.kind)
        self.__signature__ = signature.replace(parameters=ordered, return_annotation="Axes")
        self.__doc__ = inspect.cleandoc(function.__doc__ or "").replace(
            function.__name__, f"onlinear.plot.{name}.picture"
        )
        self.__doc__ += _MORE

    def __call__(self, *args: Any, ax: Any = None, theme: ThemeName | None = None, **options: Any) -> Any:
        """Draw the picture, and return the axes."""
        return draw_picture(self.picture(*args, **options), ax, theme=theme)

    def picture(self, *args: Any, **options: Any) -> Picture:
        """Return the picture as plain data."""
        given = inspect.signature(self._function).bind(*args, **options).args
        if self._takes and not isinstance(given[0], self._takes):
            kinds = " or ".join(kind.__name__ for kind in self._takes)
            raise ParameterError(f"onlinear.plot.{self.__name__} takes a {kinds}, not a {type(given[0]).__name__}")
        return self._function(*args, **options)

    def frame(self, *args: Any, **options: Any) -> Any:
        """Return the data behind the picture as a table of Arrow, one row for each point."""
        return self.picture(*args, **options).frame()

    def __repr__(self) -> str:
        """Return the call."""
        return f"onlinear.plot.{self.__name__}{self.__signature__}"
