"""The halting loop against a slow one: weights of examples, and a loop that is told to stop."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

import onlinear
from onlinear.rules import AveragedPerceptron, MarginPerceptron, Perceptron, Winnow
from onlinear.runs.convergence import Outcome
from strategies import binary, real


def slow_loop(X, y, weights, margin, passes):
    """The margin perceptron in the order of the examples; return the weights after each round, pass by pass."""
    w, rounds = np.zeros(X.shape[1]), []
    for _ in range(passes):
        rounds.append([])
        for x, label, weight in zip(X, y, weights, strict=True):
            if label * (w @ x) <= margin:
                w = w + weight * label * x
            rounds[-1].append(w)
        if all(label * (w @ x) > margin or not weight for x, label, weight in zip(X, y, weights, strict=True)):
            break
    return rounds


@given(
    data=real(max_rows=10, max_width=4),
    sizes=st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=10, max_size=10),
    margin=st.sampled_from([0.0, 1.0]),
)
def test_weights_multiply_the_steps(data, sizes, margin):
    X, y = data
    weights = sizes[: len(y)]
    rounds = slow_loop(X, y, weights, margin, 8)
    for rule in (MarginPerceptron(margin), AveragedPerceptron(margin), AveragedPerceptron(margin, progressive=False)):
        done = onlinear.converge(rule, X, y, max_passes=8, sample_weight=weights, classes=(-1, 1))
        learned = done.state.arrays.w
        assert np.array_equal(learned, rounds[-1][-1])
        if isinstance(rule, AveragedPerceptron):
            over = [w for one in rounds for w in one] + [learned] * (done.rounds - len(rounds) * len(y))
            assert np.allclose(done.weights, np.mean(over, axis=0), rtol=1e-12, atol=1e-12)
    # Without a margin, the perceptron takes the same steps.
    if margin == 0.0:
        plain = onlinear.converge(Perceptron(), X, y, max_passes=8, sample_weight=weights, classes=(-1, 1))
        assert np.array_equal(plain.weights, rounds[-1][-1])


@given(data=binary(max_rows=12, max_width=6), passes=st.integers(1, 6), selection=st.sampled_from(["cyclic", "random"]))
def test_a_loop_that_is_stopped_is_a_shorter_one(data, passes, selection):
    X, y = data
    for rule in (Perceptron(), AveragedPerceptron(), Winnow()):
        seen = []

        def stop(counts, seen=seen):
            seen[:] = counts
            return len(counts) == passes

        options = {"selection": selection, "seed": 3}
        stopped = onlinear.converge(rule, X, y, stop=stop, **options)
        shorter = onlinear.converge(rule, X, y, max_passes=passes, **options)
        assert stopped.weights.tobytes() == shorter.weights.tobytes()
        assert (stopped.outcome, stopped.passes, stopped.mistakes) == (
            shorter.outcome,
            shorter.passes,
            shorter.mistakes,
        )
        if len(seen) == passes:
            assert stopped.max_passes == passes
            assert sum(one.mistakes for one in seen) == stopped.mistakes
            assert sum(one.updates for one in seen) == stopped.updates
            assert sum(one.steps for one in seen) == (stopped.state.steps if rule.additive else stopped.updates)
        else:
            assert (stopped.outcome, stopped.max_passes) == (Outcome.HALTED, 1000)


@given(data=real(max_rows=8, max_width=4), passes=st.integers(1, 5))
def test_batches_that_are_stopped(data, passes):
    X, y = data
    stopped = onlinear.batch_perceptron(X, y, stop=lambda counts: len(counts) == passes)
    shorter = onlinear.batch_perceptron(X, y, max_passes=passes)
    assert stopped.weights.tobytes() == shorter.weights.tobytes()
    assert (stopped.outcome, stopped.batch_sizes) == (shorter.outcome, shorter.batch_sizes)
