"""The main job: Winnow against the perceptron, with each theorem's bound beside the mistakes."""

from __future__ import annotations


def main() -> None:
    """Print the experiment's table."""
    from onlinear.experiments import table, winnow_against_perceptron

    k, widths = 20, (200, 400)
    print(f"Learning a disjunction of k = {k} variables among N, one example at a time.\n")
    contestants = winnow_against_perceptron(k, widths)
    print(table(contestants))
    print("\nbound: what the theorem allows; used: the share of it that was needed.")
    before, after = ({one.name: one.run.mistakes for one in contestants if one.N == N} for N in widths)
    for name in before:
        growth = after[name] / before[name] - 1.0
        print(f"Twice as many variables cost {name} {growth:.0%} more mistakes.")


if __name__ == "__main__":
    main()
