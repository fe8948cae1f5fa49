"""The picture below a result in a notebook, as SVG: it needs no matplotlib."""

from __future__ import annotations

from typing import Any

from onlinear.datasets import Dataset
from onlinear.errors import OnlinearError
from onlinear.pictures.natural import natural_picture
from onlinear.pictures.svg import svg

_ENTRIES = 100_000
"""The largest data set that is drawn without being asked for."""


def notebook_svg(result: Any) -> str:
    """Return the natural picture of a result as SVG; empty where there is none.

    Examples
    --------
    >>> import onlinear
    >>> notebook_svg(onlinear.datasets.xor())[:5], notebook_svg(12)
    ('<svg ', '')
    """
    if isinstance(result, Dataset) and result.X.size > _ENTRIES:
        return ""
    try:
        picture = natural_picture(result)
    except OnlinearError:  # what cannot be drawn is still shown as a table
        return ""
    return "" if picture is None else svg(picture)
