"""The statements of the lemmas, claims about every update of a trace, and the report on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.display import Facts, counted
from onlinear.engine.flat import Floats

Relation: TypeAlias = Literal["=", "<=", ">=", ">"]
_RELATIONS: Final[dict[Relation, str]] = {"=": "", "<=": "at most ", ">=": "at least ", ">": "more than "}


class Lemma(NamedTuple):
    """The statement of a lemma: the left side, in words, a relation, and the right side."""

    left: str
    relation: Relation
    right: str


LEMMAS: Final = {
    "step: norm": Lemma("‖w‖² changed by", "=", "2λ·y·score + λ²‖x‖²"),
    "step: inner product": Lemma("⟨w,u⟩ changed by", "=", "λ·y⟨u,x⟩"),
    "growth (P4): norm": Lemma("on a mistake ‖w‖² grew by", "<=", "‖x‖²"),
    "growth (P4): inner product": Lemma("⟨w,u⟩ grew by", ">=", "λ·min y⟨u,x⟩"),
    "mistake lemma (P3): distance": Lemma("on a mistake ‖w−u‖² changed by", "<=", "λ²‖x‖² − 2λ·y⟨u,x⟩"),
    "mistake lemma (P3): distance to cu": Lemma("on a mistake ‖w−cu‖² changed by", "<=", "−R²"),
    "alignment: norm": Lemma("after k mistakes ‖w‖² is", "<=", "kR²"),
    "alignment: sum": Lemma("⟨w,u⟩ is", ">=", "Σ λ·y⟨u,x⟩"),
    "alignment: cosine": Lemma("⟨w,u⟩ is", "<=", "‖w‖‖u‖"),
    "Winnow: promotion": Lemma("on a missed positive Φ grew by", "<=", "(α−1)θ"),
    "Winnow: demotion": Lemma("on a false positive Φ fell by", ">", "(1−1/α)θ"),
    "Winnow: step": Lemma("on a mistake Φ changed by", "=", "(α^y − 1)(score + θ)"),
    "Winnow: total": Lemma("Φ is", ">", "nothing"),
    "experts: counts": Lemma("an expert's m grew by", "=", "the nearer of 0 and 1"),
    "experts: weights": Lemma("beside the best, an expert weighs", "=", "(1−η)^(m − min m)"),
    "experts: total": Lemma("Φ was multiplied by", "<=", "one"),
    "experts: majority": Lemma("on a mistake Φ was multiplied by", "<=", "1−η/2"),
    "experts: share": Lemma("the experts that erred had the share", "=", "F = (1−y·score)/2"),
}


@dataclass(frozen=True)
class Broken:
    """A lemma that does not hold.

    Attributes
    ----------
    lemma : str
        Its name, a key of ``LemmaReport.checked``.
    round : int
        The round in which it broke, counted as in the trace.
    update : int or None
        The number of the update, from 0: the row in the trace's potentials. None where a mistake
        should have caused an update and did not.
    claim : str
        What was found and what was expected, in words.
    """

    lemma: str
    round: int
    update: int | None
    claim: str


@dataclass(frozen=True, repr=False)
class LemmaReport(Facts):
    """Which lemmas were checked, and the first that broke.

    Attributes
    ----------
    checked : dict
        Lemma → the number of rounds at which it was checked; never empty.
    broken : Broken or None
        The first lemma that broke, by rounds.
    """

    checked: dict[str, int]
    broken: Broken | None

    @property
    def holds(self) -> bool:
        """Whether every lemma held wherever it was checked."""
        return self.broken is None

    def _title(self) -> str:
        return f"LemmaReport: {'every lemma holds' if self.broken is None else f'broken in round {self.broken.round}'}"

    def _facts(self) -> list[tuple[str, str]]:
        checked = [(lemma, f"checked at {counted(times, 'update')}") for lemma, times in self.checked.items()]
        if self.broken is None:
            return checked
        place = "no update" if self.broken.update is None else f"update {self.broken.update}"
        return [
            ("broken", f"{self.broken.lemma} (round {self.broken.round}, {place})"),
            ("claim", self.broken.claim),
            *checked,
        ]


class Claim(NamedTuple):
    """A lemma at every place where it applies: `found` against `limit`, with `slack` for rounding."""

    lemma: str
    found: Floats
    limit: Floats
    slack: Floats
    rounds: NDArray[np.int64]
    updates: NDArray[np.int64]
    """−1 where there was none."""

    def first_broken(self) -> Broken | None:
        """Return the first place where the lemma does not hold."""
        left, relation, right = LEMMAS[self.lemma]
        difference = self.found - self.limit
        off = np.abs(difference) if relation == "=" else difference if relation == "<=" else -difference
        places = np.flatnonzero(off >= self.slack if relation == ">" else off > self.slack)
        if not places.size:
            return None
        k = places[np.argmin(self.rounds[places])]
        found, limit = _two_numbers(float(self.found[k]), float(self.limit[k]))
        return Broken(
            self.lemma,
            round=int(self.rounds[k]),
            update=int(self.updates[k]) if self.updates[k] >= 0 else None,
            claim=f"{left} {found}; it should be {_RELATIONS[relation]}{right} = {limit}"
            f" (off by {off[k]:.3g}, of which rounding explains {self.slack[k]:.1g})",
        )


def _two_numbers(found: float, limit: float) -> tuple[str, str]:
    """Return two numbers with enough digits to tell them apart."""
    short = f"{found:.6g}", f"{limit:.6g}"
    return short if short[0] != short[1] else (f"{found:.17g}", f"{limit:.17g}")
