"""A record of each round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.display import Pictured, counted
from onlinear.engine.flat import Floats
from onlinear.runs.curve import Curve, CurvePoints


@dataclass(frozen=True, eq=False)
class Potentials:
    """Request the potentials of the proofs in a trace, after each update.

    Parameters
    ----------
    comparator : array, or pair (array, float), optional
        A vector u, with its intercept if one is learned. Then ``inner`` = ⟨w,u⟩ and
        ``squared_distance`` = ‖w−u‖² are recorded too.
    weights : bool
        Record the weights too: a copy after each update. (Experts' weights are always recorded.)
    """

    comparator: Any = None
    weights: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Pictured):
    """The rounds of a run, counted from 0 over everything that the learner has seen.

    The last fields are filled if potentials were requested: they are the quantities in the lemmas, which
    `onlinear.theory.lemmas.verify_lemmas` checks. Their arrays have a row for each update, and x is the
    example as the rule saw it, including normalisation and the 1 of an intercept.

    Attributes
    ----------
    mistakes, updates : int arrays
        The rounds in which a mistake was made, and a step taken.
    scores : float array
        The score of every round of this run, before the update.
    predictions : int array
        The number of the class that was predicted in every round, among the run's `classes`; a tie that counts as a
        mistake predicts the first class, or the first of the best.
    answers : int array
        The number of the right class in every round.
    potentials : dict
        Arrays with a row for each update (of the batch perceptron, for each step), if potentials were requested:
        ``squared_norm`` (and ``inner``, ``squared_distance`` with a comparator); for Winnow ``total_weight``, Φ; for
        experts ``weights`` (up to a common factor; the largest of a built-in rule's is 1) and ``mistakes``. With
        ``Potentials(weights=True)`` also ``weights`` and, if there is one, ``intercept``.
    first_round : int
        The round of ``scores[0]``; not 0 if the run was resumed.
    before : dict
        The potentials before each update.
    rule : a rule, or None
        The rule as it ran, after `for_width`.
    fit_intercept : bool
        Whether an intercept was learned.
    comparator : float array, or None
        u as one vector, with the intercept first where there is one. Experts have none.
    labels : int array
        y = ±1.
    steps : float array
        λ, where w moved by λ·y·x; 1 for a rule that is not additive.
    squared_lengths : float array
        ‖x‖².
    scales : float array
        The factor applied to the features: 1/‖x‖ of the original example if it was normalised, otherwise 1.
    entries : int array
        The number of stored entries of x, which bounds the rounding error of a sum over x.
    agreements : float array
        y⟨u,x⟩; empty without a comparator.
    """

    mistakes: NDArray[np.int64]
    updates: NDArray[np.int64]
    scores: Floats
    predictions: NDArray[np.int32]
    answers: NDArray[np.int32]
    potentials: dict[str, NDArray[Any]]
    first_round: int
    before: dict[str, NDArray[Any]]
    rule: Any
    fit_intercept: bool
    comparator: Floats | None
    labels: NDArray[np.int8]
    steps: Floats
    squared_lengths: Floats
    scales: Floats
    entries: NDArray[np.int64]
    agreements: Floats

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self.scores.size

    def curve(self, points: int | None = None) -> Curve:
        """Return the mistakes so far at up to this many moments; None: after every round."""
        made = CurvePoints(self.rounds + 1 if points is None else points, self.first_round)
        mistaken, updated = np.zeros((2, self.rounds), dtype=np.bool_)
        mistaken[self.mistakes - self.first_round] = updated[self.updates - self.first_round] = True
        made.add(mistaken, updated, self.answers, self.predictions, self.scores)
        return made.curve()

    def _title(self) -> str:
        return f"Trace of {counted(self.rounds, 'round')}"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("first round", f"{self.first_round:,}")] if self.first_round else []
        for name in ("mistakes", "updates"):
            listed: NDArray[np.int64] = getattr(self, name)
            shown = ", ".join(f"{t:,}" for t in listed[:_SHOWN]) + ", …" * (listed.size > _SHOWN)
            facts.append((name, f"{listed.size:,}{f': in rounds {shown}' if listed.size else ''}"))
        if self.scores.size:
            facts.append(("scores", f"from {self.scores.min():.6g} to {self.scores.max():.6g}"))
        for name, values in self.potentials.items():
            width = f", {counted(values.shape[1], 'column')} each" if values.ndim > 1 else ""
            ends = f", from {values[0]:.6g} to {values[-1]:.6g}" if values.ndim == 1 and values.size else ""
            noun = "update" if len(values) == self.updates.size else "step"
            facts.append((name.replace("_", " "), f"after {counted(len(values), noun)}{width or ends}"))
        return facts


_SHOWN = 8
"""How many rounds are listed."""
