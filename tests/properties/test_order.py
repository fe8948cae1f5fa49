"""The record of labels against a slow one, and the order check against exact fractions and its theorem (P18)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinear.data.label_record import LAST_LABEL, LATEST, MAJORITY, NOTICED, add_labels, new_record, with_new_classes
from onlinear.data.order import ALPHA, log_order_evidence, log_rates
from onlinear.errors import DataError, ParameterError
from onlinear.theory import order_check

HALF = Fraction(1, 2)


def record_of(numbers, classes, cuts=(), *, signs=True):
    """The record of labels that arrive in parts; two classes are coded −1 and +1, or 0 and 1."""
    record = new_record(classes)
    codes = np.array(numbers, dtype=np.intp)
    if classes == 2 and signs:
        codes = (2 * codes - 1).astype(np.int8)
    for part in np.split(codes, sorted(cuts)):
        add_labels(record, part)
    return record


def chains(numbers, k):
    """Q₁, as a product of predictions: (n_ab + ½)/(n_a + k/2), from the first class on."""
    q, seen, before = Fraction(1), {}, 0
    for y in numbers:
        row = seen.setdefault(before, [0] * k)
        q *= (row[y] + HALF) / (sum(row) + k * HALF)
        row[y] += 1
        before = y
    return q


def rates(numbers, k, first=64):
    """Q₂, as a product of predictions: (c_b + ½)/(n + k/2), which begin anew after 64, 128, 256, … labels."""
    q, seen = Fraction(1), [0] * k
    for t, y in enumerate(numbers):
        if t >= first and t & (t - 1) == 0:
            seen = [0] * k
        q *= (seen[y] + HALF) / (sum(seen) + k * HALF)
        seen[y] += 1
    return q


def mixture(numbers, k, first=64):
    """½·max(Q₁, Q₂)."""
    return HALF * max(chains(numbers, k), rates(numbers, k, first))


def rearrangements(numbers):
    """How many distinct orders the labels have."""
    counts = [numbers.count(y) for y in set(numbers)]
    return math.factorial(len(numbers)) // math.prod(map(math.factorial, counts))


def sequences(k, most=40):
    return st.lists(st.integers(0, k - 1), min_size=1, max_size=most)


some_classes = st.sampled_from([2, 3, 5])


@given(some_classes.flatmap(lambda k: st.tuples(st.just(k), sequences(k, 300))), st.data())
def test_the_record_is_that_of_a_slow_one_however_labels_arrive(drawn, data):
    k, numbers = drawn
    cuts = data.draw(st.lists(st.integers(0, len(numbers)), max_size=3))
    record = record_of(numbers, k, cuts, signs=data.draw(st.booleans()))
    counts, pairs, majority, last, before = [0] * k, np.zeros((k, k), dtype=int), 0, 0, 0
    for y in numbers:
        majority += y != counts.index(max(counts))
        last += y != before
        counts[y] += 1
        pairs[before, y] += 1
        before = y
    assert record.counts.tolist() == counts
    assert record.pairs.tolist() == pairs.tolist()
    assert record.tallies[[MAJORITY, LAST_LABEL, LATEST]].tolist() == [majority, last, before]
    checks = [t for t in (64, 128, 256) if t <= len(numbers)]
    found = [t for t in checks if log_order_evidence(*evidence_of(numbers[:t], k)) >= math.log(1 / ALPHA)]
    assert record.tallies[NOTICED] == (found[0] if found else 0)


def evidence_of(numbers, k):
    """The arguments of the evidence, without the record: it is looked at before a stretch ends."""
    counts = [numbers.count(r) for r in range(k)]
    pairs = [[0] * k for _ in range(k)]
    for a, b in itertools.pairwise([0, *numbers]):
        pairs[a][b] += 1
    ends = [0, *(end for end in (64, 128, 256) if end < len(numbers))]
    stretches = [numbers[i:j] for i, j in itertools.pairwise([*ends, len(numbers)])]
    *past, recent = ([stretch.count(r) for r in range(k)] for stretch in stretches)
    return counts, pairs, recent, sum(map(log_rates, past))


def test_a_part_may_begin_with_a_negative_label_whatever_its_code():
    for numbers in ([1, 0], [1, 1, 0, 0, 1]):
        parts = [record_of(numbers, 2, range(1, len(numbers)), signs=signs) for signs in (True, False)]
        assert [part.pairs.tolist() for part in parts] == [record_of(numbers, 2).pairs.tolist()] * 2


@given(st.integers(0, 255), st.integers(1, 3000), st.integers(0, 3000), st.lists(st.integers(0, 6000), max_size=3))
def test_long_stretches_of_two_labels_are_counted_as_single_ones_are(seed, n, stretch, cuts):
    """Where one label is far ahead many labels are counted at a time."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate(
        [np.zeros(stretch, dtype=bool), rng.random(n) < rng.random(), np.ones(stretch, dtype=bool)]
    )
    numbers = positive.astype(int)
    record = record_of(numbers.tolist(), 2, [min(cut, numbers.size) for cut in cuts])
    lead = np.cumsum(2 * numbers - 1) - (2 * numbers - 1)
    assert record.tallies[MAJORITY] == np.count_nonzero((lead > 0) != positive)
    assert record.tallies[LAST_LABEL] == np.count_nonzero(np.diff(numbers, prepend=0))


@given(some_classes.flatmap(lambda k: st.tuples(st.just(k), sequences(k, 150))))
def test_the_evidence_is_that_of_exact_fractions_and_no_larger(drawn):
    k, numbers = drawn
    exact = mixture(numbers, k) * rearrangements(numbers)
    for shown in (log_order_evidence(*evidence_of(numbers, k)), record_of(numbers, k).order.log_evidence):
        assert shown == pytest.approx(math.log(exact), abs=1e-9)
        assert Fraction(math.exp(shown - 1e-15)) <= exact


@pytest.mark.parametrize(("k", "n"), [(2, 10), (3, 7)])
def test_under_every_exchangeable_law_the_expectation_is_at_most_1(k, n):
    """Among the rearrangements of the same labels, which are equally likely, Q adds up to at most 1."""
    total = Fraction(0)
    means = {}
    for numbers in itertools.product(range(k), repeat=n):
        q = HALF * (chains(numbers, k) + rates(numbers, k, first=4))
        assert mixture(numbers, k, first=4) <= q
        total += q
        means[tuple(sorted(numbers))] = means.get(tuple(sorted(numbers)), Fraction(0)) + q
    assert total == 1
    # The mean of E over the rearrangements is Σ Q: rearrangements times Q, each with the same probability.
    assert max(means.values()) <= 1


@pytest.mark.parametrize("t", [10**3, 10**6, 10**9])
def test_long_logarithms_are_rounded_down(t):
    from flint import arb, ctx

    counts, pairs = [t // 3, t - t // 3], [[t // 9, t // 2 - t // 9], [t // 3 - t // 9, t - t // 2 - t // 3 + t // 9]]
    with ctx.workprec(300):
        exact = arb(t + 1).lgamma() - sum(arb(c + 1).lgamma() for c in counts)
        for row in pairs:
            exact += arb(1).lgamma() - arb(sum(row) + 1).lgamma()
            exact += sum((arb(n) + arb(0.5)).lgamma() - arb(0.5).lgamma() for n in row)
        exact -= arb(2).log()
        gap = float((exact - arb(log_order_evidence(counts, pairs, counts, -10.0 * t))).mid())
    assert 0.0 <= gap <= 1e-12 * t


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_labels_in_random_order_hardly_ever_raise_an_alarm(share):
    rng = np.random.default_rng(7)
    alarms = sum(order_check(rng.random(300) < share, classes=[False, True]).noticed is not None for _ in range(300))
    assert alarms <= 3  # at most 0.3 are expected; 4 or more have a probability below 0.0003


@given(st.integers(15, 300), st.integers(15, 300))
def test_sorted_labels_are_noticed(negatives, positives):
    order = order_check(np.repeat([0, 1], [negatives, positives]))
    assert order.rounds == negatives + positives
    assert order.noticed in {64, 128, 256, 512, order.rounds}


def test_rates_that_change_slowly_are_noticed():
    """Neighbouring labels are independent; only their rates are others later on."""
    rng = np.random.default_rng(3)
    drifting = np.concatenate([rng.random(4000) < rate for rate in (0.3, 0.5)])
    assert order_check(drifting).noticed == 8000
    assert order_check(rng.permutation(drifting)).noticed is None


def test_new_classes_end_the_order_check():
    record = record_of([0, 1, 1, 0, 1], 2)
    wider = with_new_classes(record, np.array([0, 2]), 3)
    assert wider.counts.tolist() == [2, 0, 3]
    assert wider.tallies[LATEST] == 2
    assert wider.order is None
    add_labels(wider, np.array([1, 2, 2]))
    assert wider.counts.tolist() == [2, 1, 5]
    assert wider.tallies[[MAJORITY, LAST_LABEL]].tolist() == [5, 5]


def test_what_cannot_be_checked():
    with pytest.raises(ParameterError, match="at most 64"):
        order_check(range(65))
    assert order_check(range(64)).noticed is None
    with pytest.raises(DataError, match="no labels"):
        order_check([])
    assert "nothing against it" in repr(order_check([1, 1, 1]))
