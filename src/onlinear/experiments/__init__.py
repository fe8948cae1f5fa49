"""Experiments that compare rules with their bounds; `python -m onlinear.experiments` prints one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onlinear import datasets
from onlinear.rules import Perceptron, Winnow
from onlinear.runs import Run, run
from onlinear.theory import bounds


@dataclass(frozen=True, eq=False)
class Contestant:
    """A rule on a stream, and the bound on its mistakes."""

    name: str
    N: int
    run: Run
    bound: float


def winnow_against_perceptron(
    k: int = 20, widths: tuple[int, ...] = (200, 400), n: int = 10_000, *, seed: int = 0
) -> list[Contestant]:
    """Train Winnow and the perceptron on a disjunction of k out of N variables, for several N.

    Winnow's bound is that for disjunctions. The perceptron's is (R/γ)² for the vector u with 2 on the relevant
    variables and the intercept c = −1, for which y(⟨u,x⟩ + c) ≥ 1.
    """
    contestants = []
    for N in widths:
        data = datasets.disjunction(k, N, n, seed=seed)
        X, y = data
        winnow = run(Winnow(beta=1.0), X, y)
        perceptron = run(Perceptron(), X, y, fit_intercept=True)
        u = (data.comparator, data.intercept)
        contestants += [
            Contestant("Winnow", N, winnow, bounds.winnow(X, y, relevant=range(k)).value),
            Contestant("Perceptron", N, perceptron, bounds.perceptron(X, y, u, fit_intercept=True).value),
        ]
    return contestants


def table(contestants: list[Contestant]) -> str:
    """Return a text table of mistakes, bounds (rounded up), and the ratio of the two."""
    head = f"{'N':>5}  {'rule':<10}  {'rounds':>8}  {'mistakes':>8}  {'m+':>5}  {'m-':>5}  {'bound':>8}  {'used':>5}"
    lines = [head, "-" * len(head)]
    for one in contestants:
        r = one.run
        lines.append(
            f"{one.N:>5}  {one.name:<10}  {r.rounds:>8,}  {r.mistakes:>8,}  {r.mistakes_positive:>5,}"
            f"  {r.mistakes_negative:>5,}  {math.ceil(one.bound):>8,}  {r.mistakes / one.bound:>5.0%}"
        )
    return "\n".join(lines)


def print_comparison() -> None:
    """Print the mistakes of Winnow and of the perceptron beside their bounds."""
    k, widths = 20, (200, 400)
    print(f"Learning a disjunction of k = {k} variables among N, one example at a time.\n")
    contestants = winnow_against_perceptron(k, widths)
    print(table(contestants))
    print("\nbound: the maximum by the theorem; used: mistakes / bound.")
    before, after = ({one.name: one.run.mistakes for one in contestants if one.N == N} for N in widths)
    for name in before:
        growth = after[name] / before[name] - 1.0
        print(f"With twice as many variables, {name} makes {growth:.0%} more mistakes.")


if __name__ == "__main__":
    print_comparison()
