"""What a report is about: the runs, the examples if they are at hand, and what is proven about them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlinear.data.one_label import plain
from onlinear.errors import DataError, OnlinearError
from onlinear.pictures.mistakes import curve_of
from onlinear.pictures.wording import label_name, rule_name
from onlinear.report.material import MOST_ENTRIES, Material
from onlinear.runs.comparison import Comparison
from onlinear.runs.convergence import Convergence
from onlinear.runs.curve import Curve
from onlinear.runs.outcome import Run
from onlinear.theory import Certificate, ClassPairs, Separable, Undecided, certify, max_margin, separability

_SECONDS = 1.0
"""The budget of each search, counted by its size."""
_PAIRED = 10
"""How many times as long it takes to certify a run on pairs of classes, which are made anew for each search."""


@dataclass(frozen=True)
class Proven:
    """Whether some vector separates the examples, with the proof, and the largest margin unless nothing does."""

    verdict: Any
    margin: Any
    pairs: ClassPairs | None
    fit_intercept: bool

    @property
    def rows(self) -> list[int]:
        """The numbers of the examples that prove that nothing separates them."""
        found = [int(row) for row in getattr(self.verdict, "rows", ())]
        return found if self.pairs is None else sorted({self.pairs.pair(row).example for row in found})


class Subject:
    """The subject of a report.

    Parameters
    ----------
    result : Run or Comparison
        What is reported on. Of a comparison, the run with the fewest mistakes is looked at in detail.
    material : Material or None
        The examples of the runs.
    """

    def __init__(self, result: Run | Comparison, material: Material | None) -> None:
        self.compared = result if isinstance(result, Comparison) and len(result) > 1 else None
        self.runs: Sequence[Run] = [result[i] for i in result.ranking()] if isinstance(result, Comparison) else [result]
        self.material = material

    @property
    def run(self) -> Run:
        """The run that is looked at in detail."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """The name of its rule."""
        return rule_name(self.run.rule)

    @functools.cached_property
    def curve(self) -> Curve | None:
        """The mistakes of the run over time, if they were recorded."""
        return None if self.run.trace is None else curve_of(self.run)

    @functools.cached_property
    def classes(self) -> list[str]:
        """The labels, as text."""
        return [label_name(plain(label)) for label in self.run.classes]

    @functools.cached_property
    def unproven(self) -> str:
        """Why nothing is proven about the examples; empty if it can be."""
        if self.material is None:
            return (
                "The examples are not part of this report: they were not given, or came from a pipe. With them it says"
                " what is proven about them."
            )
        if self.material.stream.once:
            return f"{self.material.stream.once} can be read only once, so nothing is proven about these examples."
        if self.material.held is None:
            return (
                f"There are more than {MOST_ENTRIES:,} entries, too many to decide here whether some vector separates"
                " the examples; onlinear certify goes on for as long as it takes."
            )
        return ""

    @property
    def votes(self) -> bool:
        """Whether experts vote, so that there are no weights of features."""
        return bool(self.run.rule.inputs == "advice")

    @property
    def halting(self) -> bool:
        """Whether the run is a loop over all examples until no mistake is left, such as `onlinear.converge`."""
        return isinstance(self.run, Convergence)

    @property
    def passes(self) -> int:
        """The number of passes over the examples; 1 for a halting loop, which may take them in any order."""
        first = self.run.state.labels.rounds if self.run.state.labels is not None else 0
        return max(1, self.run.rounds // (first or self.run.rounds or 1))

    @functools.cached_property
    def proven(self) -> Proven | None:
        """Whether some vector separates the examples."""
        if self.unproven or self.votes or self.material is None or self.material.held is None:
            return None
        blocks, entries = self.material.held
        state = self.run.state
        intercept = bool(state.members) or bool(state.fit_intercept)
        classes = self.run.classes.tolist()
        pairs = None
        if len(classes) > 2:
            if entries * 2 * (len(classes) - 1) > MOST_ENTRIES:
                return None
            pairs = ClassPairs(blocks, None, self.run.classes, fit_intercept=intercept)
        # The pairs as they are read, held in memory: searches read them hundreds of times.
        examples: Any = blocks if pairs is None else list(pairs)
        options: dict[str, Any] = {"classes": (-1, 1)}
        if pairs is None:
            options = {"fit_intercept": intercept, "classes": classes}
        verdict = separability(examples, seconds=_SECONDS, **options)
        margin = verdict.margin if isinstance(verdict, Undecided) else None
        if isinstance(verdict, Separable):
            # Of examples of one class the margin with an intercept may have no limit.
            with contextlib.suppress(DataError):
                margin = max_margin(examples, seconds=_SECONDS, **options)
        return Proven(verdict, margin, pairs, intercept)

    @functools.cached_property
    def certificates(self) -> list[tuple[Run, Certificate | str]]:
        """The certificate of each run, the best first, or why there is none."""
        found: list[tuple[Run, Certificate | str]] = []
        if self.unproven or self.material is None or self.material.held is None:
            return found
        pairs = len(self.classes) - 1
        if self.material.shuffle:
            why = "a certificate needs the examples in the order of the data, and they were shuffled"
            return [(run, why) for run in self.runs]
        cost = self.material.held.entries * self.material.passes * (2 * pairs * _PAIRED if pairs > 1 else 1)
        for number, run in enumerate(self.runs, start=1):
            if number * cost > MOST_ENTRIES:
                found.append((run, "the data are too large to certify this rule here; onlinear certify does it"))
                continue
            found.append((run, self._certificate(run)))
        return found

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the run that is looked at in detail, if there is one."""
        first = self.certificates[0][1] if self.certificates else None
        return first if isinstance(first, Certificate) else None

    def _certificate(self, run: Run) -> Certificate | str:
        if self.material is None or self.material.held is None:
            return self.unproven
        # A halting loop goes over a matrix.
        examples = self.material.given if self.halting else (self.material.held.blocks,)
        try:
            return certify(run, *examples, seconds=_SECONDS)
        except OnlinearError as error:
            return str(error)
