"""Colours, dashes and markers: colour-blind-safe, and never the only difference between two layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from onlinear.pictures.picture import Layer, Role


class Theme(NamedTuple):
    """The colours of a light or a dark page; each has a contrast of at least 3 with the paper, but for the grid."""

    paper: str
    ink: str
    muted: str
    """The colour of axes and notes."""
    grid: str
    series: tuple[str, ...]
    """The colours of series and of classes."""
    bound: str
    baseline: str

    def colour(self, role: Role, number: int) -> str:
        """Return the colour of a layer, given its number among those with its role."""
        if role in {"bound", "baseline"}:
            return self.bound if role == "bound" else self.baseline
        return self.series[number % len(self.series)]


# The hues of Okabe and Ito, darker on white and lighter on black where the contrast was too low.
LIGHT: Final = Theme(
    paper="#ffffff",
    ink="#1c1f24",
    muted="#595f69",
    grid="#e3e6ea",
    series=("#0072b2", "#d55e00", "#00805f", "#a84a86", "#8a6d00", "#3d3d3d"),
    bound="#b03030",
    baseline="#6b6b6b",
)
DARK: Final = Theme(
    paper="#15181d",
    ink="#e8eaed",
    muted="#a0a6b0",
    grid="#2c3139",
    series=("#56b4e9", "#f08c3c", "#2fc79a", "#e08bbe", "#f0e442", "#f2f2f2"),
    bound="#ff8080",
    baseline="#a0a6b0",
)

DASHES: Final[dict[Role, tuple[tuple[float, ...], ...]]] = {
    "series": ((), (7, 3), (2, 2), (9, 3, 2, 3), (12, 4)),
    "bound": ((6, 4), (2, 3), (10, 4, 2, 4), (14, 5)),
    "baseline": ((1, 3), (4, 4)),
    "class": ((),),
}
"""Lengths of strokes and gaps, in pixels; empty for a solid line."""
MARKERS: Final = ("circle", "square", "triangle", "diamond", "plus", "cross")
"""The markers of points, by number."""


def layer_numbers(layers: Sequence[Layer]) -> list[int]:
    """Return the number of each layer among those with its role: it decides on colour, dashes and marker.

    Layers of one role with the same name belong together. One without a name belongs to the next layer of its role
    that has a name, such as a band to its line; without such a layer, to the last. Beside classes, which have the first
    colours, series have the last ones: the very last, which is neutral, then the one before it.
    """
    beside_classes = any(layer.role == "class" for layer in layers)
    known: dict[Role, dict[str, int]] = {}
    for layer in layers:
        names = known.setdefault(layer.role, {})
        if layer.name:
            names.setdefault(layer.name, len(names))
    numbers = []
    for i, layer in enumerate(layers):
        names = known[layer.role]
        owner = next((later.name for later in layers[i:] if later.role == layer.role and later.name), None)
        number = max(0, len(names) - 1) if owner is None else names[owner]
        if beside_classes and layer.role == "series":
            number = (-1 - number) % len(LIGHT.series)
        numbers.append(number)
    return numbers


def dashes(role: Role, number: int) -> tuple[float, ...]:
    """Return the dashes of a layer, given its number among those with its role."""
    return DASHES[role][number % len(DASHES[role])]
