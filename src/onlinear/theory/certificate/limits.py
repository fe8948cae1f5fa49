"""How much work a certificate may ask for: whoever wrote it decides what there is to verify."""

from __future__ import annotations

from math import lcm
from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import VerificationError
from onlinear.theory.examples import Examples
from onlinear.theory.pairs import ClassPairs
from onlinear.theory.voted import VotedExamples


class Limits(NamedTuple):
    """The most that a certificate may ask of `Certificate.verify`; pass others where a certificate needs more.

    Attributes
    ----------
    characters : int
        The length of its text (`Certificate.from_json`), which takes up to about 50 bytes of memory per character; and
        of the shares of a combination over their common denominator.
    passes : int
        The passes over the examples when its run is repeated.
    rounds : int
        The examples that all of these passes read; with several classes, the pairs of an example's class and another.
        A single pass over the examples of two classes is always allowed.
    reads : int
        About how many numbers all of these passes read: those of each example; with several classes, for each class.
    pairs : int
        With several classes, the numbers in all pairs of an example's class and another.
    numbers : int
        The size of an array that it asks for: the weights of its rule, or a sparse matrix made dense.
    entries : int
        The entries of a witness that are computed with exactly: those of the rows of a combination, or of a vector.
    digits : int
        The hexadecimal digits of the common denominator of a combination.
    products : int
        The product of these digits with the entries of the rows.

    Examples
    --------
    >>> from onlinear.theory import Limits
    >>> Limits(passes=10**6).rounds
    100000000
    """

    characters: int = 2**24
    passes: int = 100_000
    rounds: int = 10**8
    reads: int = 10**10
    pairs: int = 10**9
    numbers: int = 2**24
    entries: int = 2**21
    digits: int = 20_000
    products: int = 2**33


USUAL = Limits()


def check_limit(limits: Limits, name: str, asked: int, what: str) -> None:
    """Raise a `VerificationError` if a certificate asks for more than a limit allows."""
    allowed = getattr(limits, name)
    if asked > allowed:
        raise VerificationError(f"{what}: {asked:,}, above the limit {name}={allowed:,}; see Limits")


def check_work(record: dict[str, Any], limits: Limits) -> None:
    """Raise if a record, whose structure is valid, asks for too much work.

    The number of rows is what the record says; it is compared with the examples before they are read again.
    """
    options, data, passes = record["options"], record["data"], record["procedure"]["passes"]
    many = "multiclass" in options
    vectors = len(options["classes"]) if many else 1
    size = vectors * (max(options["n_features"], data["features"]) + options["fit_intercept"])
    members = len(record["rule"].get("members", "1"))
    # A member may have an intercept of its own.
    weights = members * (size + vectors) if "members" in record["rule"] else size
    check_limit(limits, "numbers", weights, "the rule has too many weights")
    check_limit(limits, "passes", passes, "the run has too many passes")
    rounds = max(1, passes) * data["rows"] * max(1, vectors - 1) * members
    if many or passes > 1:
        check_limit(limits, "rounds", rounds, "the run has too many rounds")
    for vector in (options["start"], record["comparator"], *(one["weights"] for one in _intervals(record).values())):
        check_limit(limits, "entries", len(vector or ()), "a vector has too many entries")
    shares = _shares(record)
    if len(shares) > size + 1:
        raise VerificationError(f"separability: {len(shares):,} rows, where {size + 1:,} are always enough")
    _common_digits(shares, limits)


def check_reads(record: dict[str, Any], examples: Examples | ClassPairs | VotedExamples, limits: Limits) -> None:
    """Raise if a run over these examples, which have as many rows as the record says, reads too many numbers."""
    passes, vectors = max(1, record["procedure"]["passes"]), 1
    members = len(record["rule"].get("members", "1"))
    if isinstance(examples, VotedExamples):
        vectors = examples.classes.size
    if isinstance(examples, ClassPairs):
        vectors = examples.classes.size
        pairs = 2 * (vectors - 1) * int(examples.rows.nnz)
        check_limit(limits, "pairs", pairs, "the pairs of classes have too many entries")
    if vectors > 1 or passes > 1:
        check_limit(limits, "reads", passes * vectors * members * examples.entries, "the run reads too many numbers")


def check_entries(record: dict[str, Any], data: Examples | ClassPairs | VotedExamples, limits: Limits) -> None:
    """Raise if the rows of a combination, which are among these, have too many entries to be added up exactly."""
    examples = data.seen
    if isinstance(examples, VotedExamples):  # there is no combination
        return
    for name, rows in _combinations(record).items():
        entries = examples.count_entries(np.array(rows, dtype=np.intp))
        check_limit(limits, "entries", entries, f"{name}: the rows have too many entries")
        if name == "separability":
            products = entries * _common_digits(_shares(record), limits)
            check_limit(limits, "products", products, f"{name}: the shares have too many digits for these rows")


def _common_digits(shares: list[str], limits: Limits) -> int:
    """Return how many hexadecimal digits the common denominator of shares has; raise if they are too many."""
    denominator, digits = 1, 1
    for share in shares:
        check_limit(limits, "digits", len(share) // 2, "separability: a share has too many digits")
        its = int(share.partition("/")[2], 16)
        if denominator % its:
            denominator = lcm(denominator, its)
            digits = (denominator.bit_length() + 3) // 4
            check_limit(limits, "digits", digits, "separability: the shares have too many digits")
            long = "separability: the shares are too long over their common denominator"
            check_limit(limits, "characters", len(shares) * digits, long)
    return digits


def _shares(record: dict[str, Any]) -> list[str]:
    shares: list[str] = (record["separability"] or {}).get("shares", [])
    return shares


def _intervals(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: part for name, part in (record["margins"] or {}).items() if part is not None}


def _combinations(record: dict[str, Any]) -> dict[str, list[int]]:
    """Return the rows of each combination."""
    supports = {f"margins.{name}": part["support"] for name, part in _intervals(record).items()}
    rows = (record["separability"] or {}).get("rows")
    return supports if rows is None else {**supports, "separability": rows}
