"""The entries of a row a group at a time: one entry in plain Python, `LANES` of them in compiled code.

A step that treats every entry by itself is written once, for groups. The roots and quotients of eight entries take
little longer than those of one, and every entry gets the bits that it would get alone. In compiled code the functions
are those of the same names in `lanes`, and a group can be used like a float; `choose` takes the place of ``if``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from onlinear.engine.rows import DenseRow, SingleRow, SparseRow


def stride() -> int:
    """Return how many entries a whole group has."""
    return 1


def in_whole_groups(n: int) -> int:
    """Return how many of n entries are in whole groups; the rest make a last, smaller group."""
    return n - n % stride()


def places_from(j: int, n: int) -> int:
    """Return a group of n neighbouring places, from j on."""
    return j


def places_at(indices: Any, i: int, n: int, shift: int) -> int:
    """Return the group of n places, indices[i] + shift and so on; no two may be equal."""
    return int(indices[i]) + shift


def entries_at(a: Any, i: int, n: int) -> float:
    """Return the group of n entries, from a[i] on, that belong to `places_at`."""
    return float(a[i])


def take(a: Any, j: int) -> float:
    """Return the entries at a group of places."""
    return float(a[j])


def put(a: Any, j: int, v: float) -> None:
    """Write entries to a group of places."""
    a[j] = v


def choose(which: bool, a: float, b: float) -> float:
    """Return a where a condition holds, and b elsewhere; both have been computed."""
    return a if which else b


def holds_somewhere(which: bool) -> bool:
    """Tell whether a condition holds for any entry of a group."""
    return which


def root(a: float) -> float:
    """Return √a; NaN where a is negative."""
    return math.sqrt(a) if a >= 0.0 else math.nan


def quotient(a: float, b: float) -> float:
    """Return a/b without a test of b in compiled code; where b is 0 the result must not be chosen."""
    return a / b if b != 0.0 else math.nan


def plus(total: float, terms: float, n: int) -> float:
    """Add the n terms of a group to a sum, from left to right."""
    return total + terms


# --- The groups of a row ----------------------------------------------------------------------------


def _dense_places(x: DenseRow, k: int, n: int) -> int:
    return places_from(k + x.bias, n)


def _sparse_places(x: SparseRow, k: int, n: int) -> int:
    return places_at(x.indices, x.first + k, n, x.bias)


PLACES: Final[dict[type, Callable[[Any, int, int], int]]] = {DenseRow: _dense_places, SparseRow: _sparse_places}


def places(x: SingleRow, k: int, n: int) -> int:
    """Return where the n entries of x from entry k on stand in a per-feature array, as a group."""
    return PLACES[type(x)](x, k, n)


def _dense_entries(x: DenseRow, k: int, n: int) -> float:
    return take(x.values, places_from(x.first + k, n)) * x.scale


def _sparse_entries(x: SparseRow, k: int, n: int) -> float:
    return entries_at(x.values, x.first + k, n) * x.scale


ENTRIES: Final[dict[type, Callable[[Any, int, int], float]]] = {DenseRow: _dense_entries, SparseRow: _sparse_entries}


def entries(x: SingleRow, k: int, n: int) -> float:
    """Return the n entries of x from entry k on, as a group; the intercept's is not among them."""
    return ENTRIES[type(x)](x, k, n)


OPERATIONS: Final[dict[Callable[..., Any], dict[type, Any]]] = {places: PLACES, entries: ENTRIES}
"""The operations, each with its function for every layout."""
