"""What long work may cost."""

from __future__ import annotations


class Effort:
    """What may be spent, roughly in seconds; counted, not clocked, so that results repeat."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def spend(self, seconds: float) -> bool:
        """Take away what a step will cost; tell whether there was enough left."""
        enough = seconds <= self.left
        self.left -= seconds if enough else 0.0
        return enough
