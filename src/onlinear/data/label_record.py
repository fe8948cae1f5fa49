"""A record of the labels of a run: what trivial predictions would have got wrong, and whether the order is random.

It is kept beside the weights, and nothing is learned from it. Like the weights it does not depend on how the examples
arrive in blocks, and can be resumed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.order import MOST_CLASSES, OrderCheck, log_order_evidence, log_rates, refutes_random_order
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
    """What is kept of the labels of the first pass, as arrays: of int64, but for the last."""

    counts: NDArray[np.int64]
    """How often each class occurred."""
    pairs: NDArray[np.int64]
    """How often class b followed class a, at [a, b]; the first label follows class 0. Empty: order is not checked."""
    tallies: NDArray[np.int64]
    checked: NDArray[np.int64]
    """How often each class had occurred at the last check of the order."""
    past: NDArray[np.float64]
    """ln Q₂ of the labels up to that check (`log_order_evidence`)."""

    @property
    def rounds(self) -> int:
        """The number of labels."""
        return int(self.counts.sum())

    @property
    def order(self) -> OrderCheck | None:
        """Whether the labels come in random order (None: they are too many, or classes were added)."""
        if not self.pairs.size:
            return None
        recent = (self.counts - self.checked).tolist()
        evidence = log_order_evidence(self.counts.tolist(), self.pairs.tolist(), recent, float(self.past[0]))
        noticed = int(self.tallies[NOTICED])
        if not noticed and refutes_random_order(evidence):
            noticed = self.rounds
        return OrderCheck(self.rounds, evidence, noticed or None)


def new_record(classes: int) -> LabelRecord:
    """Return the record before the first label."""
    followed = classes if classes <= MOST_CLASSES else 0
    counts, pairs, tallies, checked = (
        np.zeros(shape, dtype=np.int64) for shape in (classes, (followed, followed), TALLIES, classes)
    )
    return LabelRecord(counts, pairs, tallies, checked, np.zeros(1))


def with_new_classes(record: LabelRecord, places: NDArray[np.intp], classes: int) -> LabelRecord:
    """Return the record for more classes, where the old ones have these numbers.

    The order is not checked any longer: the check assumes that the classes were known.
    """
    fresh = new_record(classes)
    fresh.counts[places] = record.counts
    fresh.tallies[:] = record.tallies
    fresh.tallies[LATEST] = places[record.tallies[LATEST]]
    return fresh._replace(pairs=np.zeros((0, 0), dtype=np.int64))


def add_labels(record: LabelRecord, codes: NDArray[Any]) -> None:
    """Take in labels, by their codes, in order."""
    rounds, first = record.rounds, 0
    while first < codes.size:
        check = max(_FIRST_CHECK, 1 << rounds.bit_length())
        part = codes[first : first + check - rounds]
        _add(record, part)
        first += part.size
        rounds += part.size
        if rounds == check and record.pairs.size:
            _check_order(record)


def _check_order(record: LabelRecord) -> None:
    """Check the order of the labels, and begin a new stretch in which their rates may be others."""
    order = None if record.tallies[NOTICED] else record.order
    if order is not None:
        record.tallies[NOTICED] = order.noticed or 0
    record.past[0] += log_rates((record.counts - record.checked).tolist())
    record.checked[:] = record.counts


def _add(record: LabelRecord, codes: NDArray[Any]) -> None:
    kernel(follow_two if record.counts.size == 2 else follow_many)(codes, record.counts, record.pairs, record.tallies)


def follow_many(
    numbers: NDArray[Any], counts: NDArray[np.int64], pairs: NDArray[np.int64], tallies: NDArray[np.int64]
) -> None:
    """Take in labels of any number of classes."""
    labels, counted, followed = address(numbers), address(counts), address(pairs)
    k, checked = counts.size, pairs.size > 0
    leader, latest = int(counts.argmax()), int(tallies[LATEST])
    most = int(counted[leader])
    not_leader = 0
    not_latest = 0
    for i in range(numbers.size):
        r = int(labels[i])
        not_leader += r != leader
        not_latest += r != latest
        count = int(counted[r]) + 1
        counted[r] = count
        if checked:
            followed[latest * k + r] += 1
        if count > most or (count == most and r < leader):
            leader, most = r, count
        latest = r
    tallies[MAJORITY] += not_leader
    tallies[LAST_LABEL] += not_latest
    tallies[LATEST] = latest


def follow_two(
    codes: NDArray[Any], counts: NDArray[np.int64], pairs: NDArray[np.int64], tallies: NDArray[np.int64]
) -> None:
    """Take in labels of two classes: the code of one is 1, that of the other 0 or −1.

    Where one class is clearly ahead, many labels are compared with it at a time.
    """
    labels = address(codes)
    n, lead = codes.size, counts[1] - counts[0]
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
    latest, last = tallies[LATEST], int(labels[n - 1] > 0)
    after_one, both = ones + latest - last, latest & int(labels[0] > 0)
    for i in range(1, n):
        both += (labels[i] > 0) & (labels[i - 1] > 0)
    counts[0] += n - ones
    counts[1] += ones
    if pairs.size:
        pairs[0, 0] += n - ones - after_one + both
        pairs[0, 1] += ones - both
        pairs[1, 0] += after_one - both
        pairs[1, 1] += both
    tallies[MAJORITY] += wrong
    tallies[LAST_LABEL] += ones + after_one - 2 * both
    tallies[LATEST] = last
