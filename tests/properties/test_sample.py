"""The sample of a run's examples against a slow one, and the share of examples that two samples estimate."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from onlinear.data import sample
from onlinear.data.checksum import RowSums, dense_sums
from onlinear.data.sample import SIZE, HashSample
from onlinear.engine.draws import mix


def sample_of(numbers, cuts=()):
    """The sample of rows with one entry each, in parts."""
    made = HashSample()
    for part in np.split(np.asarray(numbers, dtype=float), sorted(cuts)):
        made.add(dense_sums(part[:, None]))
    return made


@given(st.lists(st.integers(1, 2000), min_size=1, max_size=1500), st.data())
def test_it_has_the_smallest_hashes_whatever_the_order_and_the_parts(numbers, data):
    cuts = data.draw(st.lists(st.integers(0, len(numbers)), max_size=3))
    sums = dense_sums(np.array(sorted(set(numbers)), dtype=float)[:, None])
    pairs = zip(sums.plain.tolist(), sums.turned.tolist(), strict=True)
    smallest = sorted(mix(plain ^ mix(turned)) for plain, turned in pairs)[:SIZE]
    order = np.random.default_rng(0).permutation(len(numbers))
    for made in (sample_of(numbers, cuts), sample_of(np.array(numbers)[order])):
        assert made.hashes.tolist() == smallest


@given(st.sets(st.integers(1, 300), min_size=1), st.sets(st.integers(1, 300), min_size=1))
def test_the_share_of_few_examples_is_exact(some, others):
    assert sample_of(list(some)).share_in(sample_of(list(others))) == len(some & others) / len(some)
    assert sample_of(list(some)).distinct == len(some)


def test_the_share_of_many_examples_is_estimated():
    numbers = np.arange(1.0, 40_001.0)
    some, others = sample_of(numbers[:20_000]), sample_of(numbers[5_000:])
    assert abs(some.share_in(others) - 0.75) < 0.1
    assert abs(others.share_in(some) - 3 / 7) < 0.1
    assert 0.85 < some.distinct / 20_000 < 1.15
    assert sample_of([7.0]).share_in(some) is None
    assert sample_of([7.0]).share_in(sample_of([7.0, 8.0])) == 1.0


def test_a_hash_at_the_limit_belongs_to_the_sample():
    sums = RowSums(np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64))
    found = np.empty(1, dtype=np.uint64)
    key = mix(mix(0))
    assert sample.write_small(*sums, np.uint64(key), found) == 1
    assert found.tolist() == [key]
    assert key == 0 or sample.write_small(*sums, np.uint64(key - 1), found) == 0
