"""The examples of a run, read once more: what stood where, and how large the data are."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from onlinear.data.chunk import Chunk
from onlinear.errors import DataError
from onlinear.pictures.wording import label_name
from onlinear.runs.beginning import as_stream
from onlinear.runs.course import Course
from onlinear.runs.outcome import Run

MOST_BYTES = 1 << 29
"""Examples beyond the first 512 MB, as they are held in memory, are not looked up."""
MOST_ENTRIES = 3_000_000
"""Data with more entries are left to `onlinear certify`: here they would take more than a few seconds."""
_LONGEST = 400
"""The most characters of an example that are shown."""


class Written(NamedTuple):
    """An example as it stood in the data."""

    place: str
    label: str
    text: str


class Held(NamedTuple):
    """Examples in memory, as blocks: searches read them hundreds of times."""

    blocks: list[tuple[Any, Any]]
    entries: int


class Material:
    """The examples of a run, in the order in which it learned from them.

    Parameters
    ----------
    X, y : matrix and labels
        As in `onlinear.train`.
    run : Run
        The run that has learned from them.
    shuffle, seed : int
        As in `onlinear.train`.
    """

    def __init__(self, X: Any, y: Any, run: Run, shuffle: int = 0, seed: int = 0) -> None:
        many = y is not None or not hasattr(X, "chunks")
        self.stream = as_stream(X, y, run.classes.tolist() if many else None)
        self.given = X, y
        self.shuffle, self.seed = shuffle, seed
        self.rounds = run.rounds
        self.n = run.state.labels.rounds if run.state.labels is not None else None
        """The number of examples, which is that of the rounds of the first pass; None for a halting loop."""

    @property
    def passes(self) -> int:
        """The number of passes over the examples."""
        return max(1, self.rounds // (self.n or self.rounds or 1))

    @functools.cached_property
    def held(self) -> Held | None:
        """All examples, in memory; None where there are too many for proofs."""
        blocks, entries = [], 0
        for chunk in self.stream.independent().chunks():
            entries += int(chunk.matrix.row_sizes().sum())
            if entries > MOST_ENTRIES:
                return None
            kept = chunk.kept()
            blocks.append((kept.X, kept.y))
        return Held(blocks, entries)

    def of_rounds(self, rounds: Iterable[int]) -> dict[int, Written]:
        """Return the examples of rounds, as far as they can be found."""
        n = self.n
        if n is None or (self.shuffle and self.passes > 1):
            return {}
        places = {number: number % n for number in rounds}
        course = Course(self.stream, 1, self.shuffle, self.seed)
        found = look_up(course.chunks(), set(places.values()))
        return {number: found[row] for number, row in places.items() if row in found}

    def of_rows(self, rows: Iterable[int]) -> dict[int, Written]:
        """Return examples by their numbers in the data, as far as they can be found."""
        return look_up(self.stream.independent().chunks(), set(rows))

    def check(self, found: dict[int, Written], answers: dict[int, str]) -> None:
        """Raise if examples do not have the labels that the run saw in these rounds."""
        for number, example in found.items():
            if example.label != answers[number]:
                raise DataError(
                    f"these are not the examples of the run, or not in its order: in round {number + 1:,} the label was"
                    f" {answers[number]}, at {example.place} it is {example.label}"
                )


def look_up(chunks: Iterator[Chunk], rows: set[int]) -> dict[int, Written]:
    """Return the examples with these numbers, of those that are not too far behind the first."""
    found: dict[int, Written] = {}
    first = held = 0
    wanted = sorted(rows)
    for chunk in chunks if wanted else ():
        for row in wanted:
            if first <= row < first + chunk.n:
                i = row - first
                label = label_name(chunk.y[i])
                found[row] = Written(chunk.place(i), label, _shortened(chunk.written(i)))
        first, held = first + chunk.n, held + chunk.nbytes
        if first > wanted[-1] or held > MOST_BYTES:
            break
    return found


def _shortened(written: bytes) -> str:
    text = written.decode("utf-8", errors="replace").strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
