"""What an experiment is, and what it finds."""

from __future__ import annotations

import html
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.display import Pictured, TextTable
from onlinear.errors import AssumptionError, ParameterError
from onlinear.pictures import Layer, Picture
from onlinear.pictures.picture import Floats, Role
from onlinear.runs import Run, Trace
from onlinear.theory import MarginInterval

if TYPE_CHECKING:
    import pyarrow as pa

Size: TypeAlias = Literal["small", "full"]
OnCase: TypeAlias = Callable[[int, int], None]
"""What is called after each case of an experiment: with the number of cases done, and of all."""
Columns: TypeAlias = dict[str, NDArray[Any]]

Scale = TypeVar("Scale")
Case = TypeVar("Case")
Result = TypeVar("Result")

_WIDTH = 100
"""The width of a finding in text."""


class Work:
    """The seeds of an experiment, and how its cases are done: on all processors, with reports of progress."""

    def __init__(self, seeds: Sequence[int], progress: OnCase | None) -> None:
        self.seeds = tuple(seeds)
        self._progress = progress

    def each(self, job: Callable[[Case], Result], cases: Iterable[Case]) -> list[Result]:
        """Do a job for each case, and return the results in the order of the cases.

        A pass over examples releases the lock of the interpreter, so threads are enough.
        """
        cases = list(cases)
        results: list[Result] = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for result in pool.map(job, cases):
                results.append(result)
                if self._progress is not None:
                    self._progress(len(results), len(cases))
        return results


class Observed(NamedTuple):
    """What an experiment has measured, and what follows from it."""

    columns: Columns
    pictures: tuple[Picture, ...]
    table: TextTable
    finding: str
    holds: bool


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Pictured):
    """What an experiment has found.

    Attributes
    ----------
    name, title : str
        The experiment.
    size : {"small", "full"}
        How large it was.
    seeds : tuple of int
        The seeds of its data.
    columns : dict
        What was measured: arrays of equal length, with a row for each measurement.
    pictures : tuple of Picture
        The first is the main one.
    table : TextTable
        A summary.
    finding : str
        What follows, in a sentence with its numbers.
    holds : bool
        Whether the inequalities of the finding hold for these data.
    """

    name: str
    title: str
    size: Size
    seeds: tuple[int, ...]
    columns: Columns
    pictures: tuple[Picture, ...]
    table: TextTable
    finding: str
    holds: bool

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the main picture with matplotlib; the others are drawn by ``pictures[1].plot()`` and so on."""
        return self.pictures[0].plot(ax, **options)

    def frame(self) -> pa.Table:
        """Return what was measured, one row for each measurement; pandas and Polars take it."""
        import pyarrow as pa

        return pa.table(self.columns)

    def verdict(self) -> str:
        """Return the finding as lines of text, after a word that says whether it holds."""
        word = "Finding" if self.holds else "The finding does NOT hold"
        return textwrap.fill(f"{word}: {self.finding}", _WIDTH, break_on_hyphens=False)

    def _title(self) -> str:
        return f"{self.title} ({self.size} size, seeds {', '.join(map(str, self.seeds))})"

    def __repr__(self) -> str:
        """Return the title, the table and the finding."""
        return f"{self._title()}\n\n{self.table.text()}\n\n{self.verdict()}"

    def _repr_html_(self) -> str:
        title, verdict = html.escape(self._title()), html.escape(self.verdict())
        return f"<p><b>{title}</b></p>{self.table.html()}<p>{verdict}</p>{self.pictures[0]._repr_html_()}"


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Generic[Scale]):
    """An experiment of the lecture notes. Call it to reproduce it.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
        What it shows, in a few words.
    question : str
        What it asks, in a sentence.
    scales : dict
        Its parameters for each size.
    seeds : dict
        The number of seeds for each size.
    """

    name: str
    title: str
    question: str
    conduct: Callable[[Scale, Work], Observed]
    scales: dict[Size, Scale]
    seeds: dict[Size, int]

    def __call__(
        self, size: Size = "full", *, seeds: int | Sequence[int] | None = None, progress: OnCase | None = None
    ) -> Reproduction:
        """Conduct the experiment.

        Parameters
        ----------
        size : {"small", "full"}
            Seconds, or up to two minutes on two processors.
        seeds : int or sequence of int, optional
            The seeds of the data; a number n stands for 0 to n − 1. Equal seeds give equal data.
        progress : callable, optional
            Called after each case with the number of cases done and the number of all.

        Returns
        -------
        Reproduction
        """
        if size not in self.scales:
            raise ParameterError(f'size is {size!r}; it must be "small" or "full"')
        work = Work(_as_seeds(self.seeds[size] if seeds is None else seeds), progress)
        return Reproduction(self.name, self.title, size, work.seeds, *self.conduct(self.scales[size], work))

    def __repr__(self) -> str:
        """Return the name and the question."""
        return f"{self.name}: {self.question}"


def _as_seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    given = range(seeds) if isinstance(seeds, int) else tuple(seeds)
    if not given:
        raise ParameterError(f"seeds is {seeds!r}; an experiment needs at least one")
    for seed in given:
        check_integers(0, seeds=seed)
    return tuple(int(seed) for seed in given)


def as_columns(records: Iterable[NamedTuple]) -> Columns:
    """Return records of the same kind as one array per field."""
    rows = list(records)
    return {name: np.array([getattr(row, name) for row in rows]) for name in rows[0]._fields}


def over_seeds(name: str, x: Any, values: Any, role: Role = "series") -> list[Layer]:
    """Return the band from the smallest to the largest of the seeds, and the median; a row of values per seed."""
    values = np.asarray(values, dtype=np.float64)
    middle = np.median(values, axis=0)
    line = Layer.of(name, x, middle, role=role)
    if len(values) == 1:
        return [line]
    # A band without a name belongs to the line that follows it.
    return [Layer.of("", x, middle, "band", role, low=values.min(axis=0), high=values.max(axis=0)), line]


def span(values: Any, digits: str = ",.0f") -> str:
    """Return the smallest and the largest value as text; a single one if they are shown alike."""
    low, high = (format(float(end), digits) for end in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"


def trace_of(run: Run) -> Trace:
    """Return the trace of a run that has one of every round."""
    if not isinstance(run.trace, Trace):
        raise TypeError(f"the run has no trace of every round, but {run.trace!r}")
    return run.trace


def separator_of(interval: MarginInterval) -> Floats:
    """Return the separator with the largest margin, of examples that have one."""
    if interval.weights is None:
        raise AssumptionError("no separator was found")
    return interval.weights
