"""Axes: from numbers to pixels, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from onlinear.pictures.picture import Axis, Floats

_STEPS = (1, 2, 5, 10)
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Tick(NamedTuple):
    """A mark on an axis."""

    value: float
    label: str


class Scale(NamedTuple):
    """An axis from `low` to `high`, drawn from pixel `start` to pixel `end`."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float

    def pixels(self, values: Floats) -> Floats:
        """Return where numbers stand; NaN on a logarithmic axis where they are not positive."""
        low, high = self.low, self.high
        if self.axis.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.where(values > 0, np.log(values), np.nan)
            low, high = math.log(low), math.log(high)
        share: Floats = (values - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def pixel(self, value: float) -> float:
        """Return where a number stands."""
        return float(self.pixels(np.array([value]))[0])

    def ticks(self, distance: float) -> list[Tick]:
        """Return ticks at round numbers, about as far apart as this, in pixels."""
        if self.axis.names:
            return [Tick(i, name) for i, name in enumerate(self.axis.names) if self.low <= i <= self.high]
        most = max(2.0, abs(self.end - self.start) / distance)
        if self.axis.log and self.high / self.low >= 10:
            return self._decades(most)
        step = _round_step((self.high - self.low) / most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        scaled = step * 100 if self.axis.percent else step
        decimals = max(0, -math.floor(math.log10(scaled) + 1e-9))
        return [Tick(i * step, self._label(i * step, decimals)) for i in range(first, last + 1)]

    def _decades(self, most: float) -> list[Tick]:
        """Return powers of ten: every second or third of them if they are many; if they are few, 2 and 5 times them."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        every = max(1, math.ceil((last - first + 1) / most))
        between = (1.0, 2.0, 5.0) if (last - first + 1) * 3 <= most else (1.0,)
        values = (m * 10.0**e for e in range(first - 1, last + 1) if e % every == 0 for m in between)
        shown = [value for value in values if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]
        digits = [-math.floor(math.log10(value * (100 if self.axis.percent else 1)) + 1e-9) for value in shown]
        return [Tick(value, self._label(value, max(0, n))) for value, n in zip(shown, digits, strict=True)]

    def _label(self, value: float, decimals: int) -> str:
        return number(value * 100, decimals) + "%" if self.axis.percent else number(value, decimals)


def number(value: float, decimals: int) -> str:
    """Return a number with thousands separators; very large and very small ones with a power of ten."""
    size = abs(value)
    if size and not 1e-5 <= size < 1e12:
        exponent = math.floor(math.log10(size) + 1e-9)
        mantissa = f"{value / 10.0**exponent:.3g}".replace("-", "−")
        power = "10" + str(exponent).translate(_SUPERSCRIPTS)
        return power if mantissa == "1" else f"{mantissa}·{power}"
    return f"{value:,.{decimals}f}".replace("-", "−")


def limits(axis: Axis, values: Iterable[Floats], *, pad: float, zero: bool = False) -> tuple[float, float]:
    """Return the limits of an axis: those that it has, or else what holds all numbers.

    Parameters
    ----------
    axis : Axis
        The axis.
    values : iterable of float arrays
        What is to be shown.
    pad : float
        The share of the width that stays empty at each end.
    zero : bool
        Whether the axis starts at 0 if no number is negative.
    """
    joined = np.concatenate([np.empty(0), *values])
    shown = joined[np.isfinite(joined) & ((joined > 0) | (not axis.log))]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (1.0, 10.0) if axis.log else (0.0, 1.0)
    if axis.log:
        spread = max(high / low, 1.0 if pad == 0 else 2.0) ** pad
        low, high = low / spread, high * spread
    else:
        spread = (high - low) * pad
        from_zero = zero and low >= 0
        low, high = (0.0 if from_zero else low - spread), high + spread
    low, high = low if axis.low is None else axis.low, high if axis.high is None else axis.high
    if high <= low:
        low, high = (low / 2, low * 2) if axis.log else (low - 0.5 * (low != 0 or not zero), low + 1)
    return low, high


def _round_step(least: float) -> float:
    """Return the least of the numbers 1, 2 and 5 times a power of ten that is not below this one."""
    if least < 1e-300:
        return 1e-300
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * m for m in _STEPS if power * m >= least * (1 - 1e-9))
