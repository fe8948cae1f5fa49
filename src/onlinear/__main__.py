"""The main job: Winnow against the perceptron, with each theorem's bound beside the mistakes."""

from __future__ import annotations


def main() -> None:
    """Print the experiment's table."""
    from onlinear.experiments import table, winnow_against_perceptron  # noqa: PLC0415

    k, widths = 20, (200, 400)
    print(f"Learning a disjunction of k = {k} variables among N, one example at a time.")
    print("Doubling N costs the perceptron more mistakes; Winnow hardly notices.\n")
    print(table(winnow_against_perceptron(k, widths)))
    print("\nbound: what the theorem allows; used: the share of it that was needed.")


if __name__ == "__main__":
    main()
