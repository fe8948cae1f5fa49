"""A run without a trace takes the weights and less than a megabyte, beyond its input."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear.rounding import accurate_norm
from onlinear.rules import MarginPerceptron, Perceptron, WeightedMajority, Winnow

pytestmark = pytest.mark.slow

N, D = 100_000, 40
RNG = np.random.default_rng(0)
BITS = RNG.random((N, D)) < 0.2
Y = np.where(RNG.random(N) < 0.5, 1, -1)
SPARSE = scipy.sparse.random_array((N, 200_000), density=1e-4, format="csr", rng=RNG)
SHUFFLED = SPARSE.copy()
SHUFFLED.indices = SHUFFLED.indices[::-1].copy()
SHUFFLED.has_canonical_format = SHUFFLED.has_sorted_indices = False


@pytest.mark.parametrize(
    ("rule", "matrix"),
    [
        pytest.param(Perceptron(), BITS.astype(np.float64), id="float64"),
        pytest.param(Perceptron(), BITS.astype(np.float32), id="float32"),
        pytest.param(Perceptron(), np.asfortranarray(BITS, dtype=np.float64), id="Fortran order"),
        pytest.param(Perceptron(), BITS.astype(np.float64)[::2], id="every second row"),
        pytest.param(Perceptron(), BITS.astype(np.int64), id="integers"),
        pytest.param(Perceptron(), SPARSE, id="CSR"),
        pytest.param(Perceptron(), SHUFFLED, id="unsorted CSR"),
        pytest.param(MarginPerceptron(0.1, normalized=True), BITS.astype(np.float64), id="margin"),
        pytest.param(Winnow(), BITS.astype(np.float64), id="Winnow"),
        pytest.param(WeightedMajority(), np.where(BITS, 1.0, -1.0), id="experts"),
    ],
)
@pytest.mark.parametrize("normalize", [False, True])
def test_memory(rule, matrix, normalize):
    if normalize and rule.inputs != "real":
        normalize = False
    y = Y[: matrix.shape[0]]
    onlinear.run(rule, matrix, y, normalize=normalize)  # compiles
    tracemalloc.start()
    try:
        run = onlinear.run(rule, matrix, y, normalize=normalize)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert run.rounds == matrix.shape[0]
    assert peak < run.weights.nbytes + 2**20


def test_random_orders_are_read_a_little_at_a_time():
    X = BITS.astype(np.float64)
    onlinear.converge(Perceptron(), X, Y, selection="random", max_passes=1)  # compiles
    tracemalloc.start()
    try:
        onlinear.converge(Perceptron(), X, Y, selection="random", max_passes=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 9 * N + 2**20  # the order itself and the signs


def test_the_norm_of_many_weights_takes_no_list_of_them():
    w = np.zeros(4_000_000)
    w[[5, 70_000, 3_999_999]] = 3.0, -4.0, 12.0
    tracemalloc.start()
    found = accurate_norm(w)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == 13.0
    assert most < 2_000_000
