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
_STRIDE = 256


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
    # Of two classes the second has the code 1, in either way of coding.
    numbers = codes > 0 if record.counts.size == 2 else codes
    rounds, first = record.rounds, 0
    while first < numbers.size:
        check = max(_FIRST_CHECK, 1 << rounds.bit_length())
        part = numbers[first : first + check - rounds]
        _add(record, part)
        first += part.size
        rounds += part.size
        if rounds == check and not record.tallies[NOTICED]:
            order = record.order
            record.tallies[NOTICED] = 0 if order is None else order.noticed or 0


def _add(record: LabelRecord, numbers: NDArray[Any]) -> None:
    counts, pairs, tallies = record
    if counts.size == 2:
        tallies[MAJORITY] += kernel(follow_majority_of_two)(numbers.view(np.uint8), counts)
    else:
        tallies[MAJORITY] += kernel(follow_majority)(numbers, counts, int(counts.argmax()))
    # Each label with the one before it.
    chain = np.concatenate([tallies[LATEST : LATEST + 1].astype(numbers.dtype), numbers])
    before, after = chain[:-1], chain[1:]
    tallies[LATEST] = chain[-1]
    if pairs.size:
        new = _pairs_of_two(before, after) if counts.size == 2 else _pairs(before, after, counts.size)
        pairs += new
        tallies[LAST_LABEL] += numbers.size - new.trace()
    else:
        tallies[LAST_LABEL] += np.count_nonzero(before != after)


def _pairs_of_two(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> NDArray[np.int64]:
    second, both = np.count_nonzero(after), np.count_nonzero(before & after)
    first = second + int(before[0]) - int(after[-1])
    return np.array([[before.size - first - second + both, second - both], [first - both, both]])


def _pairs(before: NDArray[Any], after: NDArray[Any], classes: int) -> NDArray[np.int64]:
    return np.bincount(before * classes + after, minlength=classes**2).reshape(classes, classes)


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


def follow_majority_of_two(positive: NDArray[np.uint8], counts: NDArray[np.int64]) -> int:
    """Count labels 0 and 1 as `follow_majority` does; where the majority is clear, many at a time."""
    labels = address(positive)
    n = positive.size
    lead = int(counts[1]) - int(counts[0])
    total = 0
    wrong = 0
    for first in range(0, n, _STRIDE):
        size = min(_STRIDE, n - first)
        ones = 0
        for i in range(first, first + size):
            ones += int(labels[i])
        if abs(lead) >= _STRIDE:
            wrong += size - ones if lead > 0 else ones
            lead += 2 * ones - size
        else:
            for i in range(first, first + size):
                wrong += (labels[i] > 0) != (lead > 0)
                lead += 2 * int(labels[i]) - 1
        total += ones
    counts[0] += n - total
    counts[1] += total
    return wrong
