"""A budget for long computations."""

from __future__ import annotations

from onlinear.errors import ParameterError


class Effort:
    """A budget, roughly in seconds; counted, not clocked, so that results are reproducible."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def spend(self, seconds: float) -> bool:
        """Subtract the cost of a step; return whether there was enough left."""
        enough = seconds <= self.left
        self.left -= seconds if enough else 0.0
        return enough


def check_seconds(seconds: float) -> None:
    """Raise where a budget makes no sense."""
    if not (isinstance(seconds, int | float) and seconds > 0.0):
        raise ParameterError(f"seconds is {seconds!r}; it must be a number above 0")
