"""Experiments that show a theorem at work."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onlinear import datasets
from onlinear.rules import Perceptron, Winnow
from onlinear.runs import Run, run


@dataclass(frozen=True, eq=False)
class Contestant:
    """One rule on one stream, and the most mistakes that its theorem allows."""

    name: str
    N: int
    run: Run
    bound: float


def winnow_against_perceptron(
    k: int = 20, widths: tuple[int, ...] = (200, 400), n: int = 10_000, *, seed: int = 0
) -> list[Contestant]:
    """Let Winnow and the perceptron learn a disjunction of k out of N variables, for several N.

    Winnow's bound is 2 + 3k(log₂N + 1). The perceptron's is (4k+1)(max‖x‖² + 1): the vector with 2
    on the relevant variables and −1 as intercept has y(⟨u,x⟩ + c) ≥ 1, and ‖u‖² + c² = 4k + 1.
    """
    contestants = []
    for N in widths:
        X, y = datasets.disjunction(k, N, n, seed=seed)
        winnow = run(Winnow(beta=1.0), X, y)
        perceptron = run(Perceptron(), X, y, fit_intercept=True)
        largest = float((X * X).sum(axis=1).max())
        contestants += [
            Contestant("Winnow", N, winnow, 2.0 + 3.0 * k * (math.log2(N) + 1.0)),
            Contestant("Perceptron", N, perceptron, (4.0 * k + 1.0) * (largest + 1.0)),
        ]
    return contestants


def table(contestants: list[Contestant]) -> str:
    """Return the outcome as text: mistakes beside the bound (rounded up), and the share of it that was used."""
    head = f"{'N':>5}  {'rule':<10}  {'rounds':>8}  {'mistakes':>8}  {'m+':>5}  {'m-':>5}  {'bound':>8}  {'used':>5}"
    lines = [head, "-" * len(head)]
    for one in contestants:
        r = one.run
        lines.append(
            f"{one.N:>5}  {one.name:<10}  {r.rounds:>8,}  {r.mistakes:>8,}  {r.mistakes_positive:>5,}"
            f"  {r.mistakes_negative:>5,}  {math.ceil(one.bound):>8,}  {r.mistakes / one.bound:>5.0%}"
        )
    return "\n".join(lines)
