"""A record of the labels of a run: what trivial predictions would have got wrong, and whether the order is random.

It is kept beside the weights, and nothing is learned from it. Like the weights it does not depend on how the examples
arrive in blocks, and can be resumed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.order import MOST_CLASSES, OrderCheck, log_order_evidence, refutes_random_order
from onlinear.engine.flat import address
from onlinear.engine.runner import kernel

MAJORITY: Final = 0
"""Mistakes of answering the label that was the most frequent one so far; of several, and at first, the first class."""
LAST_LABEL: Final = 1
"""Mistakes of repeating the last label; at first, the first class."""
MISTAKES: Final = 2
"""Mistakes of the learner in these rounds."""
LATEST: Final = 3
"""The number of the last label's class."""
NOTICED: Final = 4
"""The round in which the order was first found not to be random; 0 if it was not."""
TALLIES: Final = 5

_FIRST_CHECK = 64
_STRIDE = 64


class LabelRecord(NamedTuple):
    """What is kept of the labels of the first pass, as arrays of int64."""

    counts: NDArray[np.int64]
    """How often each class occurred."""
    pairs: NDArray[np.int64]
    """How often class b followed class a, at [a, b]; the first label follows class 0. Empty: order is not checked."""
    tallies: NDArray[np.int64]

    @property
    def rounds(self) -> int:
        """The number of labels."""
        return int(self.counts.sum())

    @property
    def order(self) -> OrderCheck | None:
        """Whether the labels come in random order (None: they are too many, or classes were added)."""
        if not self.pairs.size:
            return None
        evidence, noticed = log_order_evidence(self.counts.tolist(), self.pairs.tolist()), int(self.tallies[NOTICED])
        if not noticed and refutes_random_order(evidence):
            noticed = self.rounds
        return OrderCheck(self.rounds, evidence, noticed or None)


def new_record(classes: int) -> LabelRecord:
    """Return the record before the first label."""
    followed = classes if classes <= MOST_CLASSES else 0
    shapes = classes, (followed, followed), TALLIES
    return LabelRecord(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


def with_new_classes(record: LabelRecord, places: NDArray[np.intp], classes: int) -> LabelRecord:
    """Return the record for more classes, where the old ones have these numbers.

    The order is not checked any longer: the check assumes that the classes were known.
    """
    counts, tallies = np.zeros(classes, dtype=np.int64), record.tallies.copy()
    counts[places] = record.counts
    tallies[LATEST] = places[tallies[LATEST]]
    return LabelRecord(counts, np.zeros((0, 0), dtype=np.int64), tallies)


def add_labels(record: LabelRecord, codes: NDArray[Any]) -> None:
    """Take in labels, by their codes, in order."""
    rounds, first = record.rounds, 0
    while first < codes.size:
        check = max(_FIRST_CHECK, 1 << rounds.bit_length())
        part = codes[first : first + check - rounds]
        _add(record, part)
        first += part.size
        rounds += part.size
        if rounds == check and not record.tallies[NOTICED]:
            order = record.order
            record.tallies[NOTICED] = 0 if order is None else order.noticed or 0


def _add(record: LabelRecord, codes: NDArray[Any]) -> None:
    tallies = record.tallies
    wrong, changes = (_add_of_two if record.counts.size == 2 else _add_of_many)(record, codes, int(tallies[LATEST]))
    tallies[MAJORITY] += wrong
    tallies[LAST_LABEL] += changes
    tallies[LATEST] = max(0, codes[-1])


def _add_of_two(record: LabelRecord, codes: NDArray[Any], latest: int) -> tuple[int, int]:
    """Count labels and pairs; return the mistakes of the majority so far and of the last label."""
    counts, pairs, _ = record
    wrong, ones, both = kernel(follow_two)(codes, latest, int(counts[1]) - int(counts[0]))
    n, after_one = codes.size, ones + latest - int(codes[-1] > 0)
    counts += (n - ones, ones)
    if pairs.size:
        pairs += ((n - ones - after_one + both, ones - both), (after_one - both, both))
    return wrong, ones + after_one - 2 * both


def _add_of_many(record: LabelRecord, numbers: NDArray[Any], latest: int) -> tuple[int, int]:
    """Count labels and pairs; return the mistakes of the majority so far and of the last label."""
    counts, pairs, _ = record
    wrong, k = kernel(follow_majority)(numbers, counts, int(counts.argmax())), counts.size
    before, after = np.append(latest, numbers[:-1]), numbers
    if pairs.size:
        pairs += np.bincount(before * k + after, minlength=k * k).reshape(k, k)
    return wrong, int(np.count_nonzero(before != after))


def follow_majority(numbers: NDArray[Any], counts: NDArray[np.int64], leader: int) -> int:
    """Count labels; return how many were not the most frequent one before them."""
    wrong = 0
    for i in range(numbers.size):
        r = int(numbers[i])
        wrong += r != leader
        counts[r] += 1
        ahead = counts[r] - counts[leader]
        if ahead > 0 or (ahead == 0 and r < leader):
            leader = r
    return wrong


def follow_two(codes: NDArray[Any], latest: int, lead: int) -> tuple[int, int, int]:
    """Return how many labels were not the most frequent one before them, the ones, and the ones after a one.

    A one is the code 1; the other class has 0 or −1. `lead` is by how much the ones were ahead. Where they are clearly
    ahead or behind, many labels are taken at a time.
    """
    labels = address(codes)
    n = codes.size
    wrong = 0
    ones = 0
    for first in range(0, n, _STRIDE):
        size = min(_STRIDE, n - first)
        new = 0
        for i in range(first, first + size):
            new += labels[i] > 0
        if abs(lead) >= _STRIDE:
            wrong += size - new if lead > 0 else new
            lead += 2 * new - size
        else:
            for i in range(first, first + size):
                label = int(labels[i] > 0)
                wrong += label ^ int(lead > 0)
                lead += 2 * label - 1
        ones += new
    both = latest & int(labels[0] > 0)
    for i in range(1, n):
        both += (labels[i] > 0) & (labels[i - 1] > 0)
    return wrong, ones, both
