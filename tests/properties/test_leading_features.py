"""A full matrix for the leading features: it grows with them and with the classes, and never shows how rows arrive."""

from collections import deque

import hypothesis.strategies as st
import numba
import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis.extra.numpy import arrays

import onlinear
import paper_rules as papers
from onlinear.models.state import weights_of
from onlinear.river import OnlineClassifier
from onlinear.rules import AROW, SCW
from onlinear.runs.saved import load
from strategies import as_layout, in_blocks, many_classes, real

FULL = [1, 3, 5, 6, 64]
EVERY_FULL = pytest.mark.parametrize("full", FULL)
RULES = {
    "AROW": (AROW, papers.AROW),
    "SCW": (SCW, papers.SCW),
}
EVERY_RULE = pytest.mark.parametrize("name", RULES)
NEAR = 1e-9
SMALL = {"max_rows": 12, "max_width": 8}


def pair_of(name, n, full):
    rule, oracle = RULES[name]
    return rule(full=full), oracle(n, full=full)


def bits(run):
    return run.rounds, run.mistakes_by_class, run.updates, [array.tobytes() for array in run.state.arrays]


def growing(X, y):
    """Sparse blocks of one row, each as wide as its last entry."""
    for row, label in zip(X, y, strict=True):
        width = int(np.flatnonzero(row).max(initial=0)) + 1
        yield scipy.sparse.csr_array(row[None, :width]), np.array([label])


def outcome_with_new_classes(oracle, X, y):
    """Let an oracle meet labels as they come; return its mistakes, and how near it came to a tie."""
    known, mistakes, edge = [], 0, np.inf
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        if not known:
            known, oracle.classes = [label], 1
        elif label not in known:
            known = sorted([*known, label])
            oracle.add_class(known.index(label))
        if len(known) == 1:
            continue
        code = known.index(label)
        outcome = papers.Outcome(oracle, [x], [code], [1.0], intercept=True, classes=len(known))
        mistakes, edge = mistakes + len(outcome.mistakes), min(edge, outcome.edge)
    return mistakes, edge


@EVERY_RULE
@EVERY_FULL
@given(data=st.data(), intercept=st.booleans())
def test_features_appear_one_after_the_other(name, full, data, intercept):
    X, y = data.draw(real(**SMALL))
    rule, oracle = pair_of(name, X.shape[1] + intercept, full)
    outcome = papers.Outcome(oracle, X, y, [1.0] * len(y), intercept=intercept)
    assume(outcome.edge > NEAR)
    grown = onlinear.run(rule, growing(X, y), classes=(-1, 1), fit_intercept=intercept, trace=True)
    assert grown.trace.mistakes.tolist() == outcome.mistakes
    assert grown.trace.scores == pytest.approx(outcome.scores, rel=1e-10, abs=1e-10)
    n = grown.n_features + intercept
    assert weights_of(grown.state.arrays) == pytest.approx(np.array(oracle.w[:n]), rel=1e-10, abs=1e-12)
    known = onlinear.run(rule, as_layout(X, "csr"), y, fit_intercept=intercept)
    for one, other in zip(grown.state.arrays, known.state.arrays, strict=True):
        assert np.array_equal(one, other[tuple(map(slice, one.shape))])


@EVERY_RULE
@EVERY_FULL
@given(data=st.data())
def test_features_and_classes_appear(name, full, data):
    X, y, _ = data.draw(many_classes(max_rows=12, max_width=8))
    y %= 5
    rule, oracle = pair_of(name, X.shape[1] + 1, full)
    mistakes, edge = outcome_with_new_classes(oracle, X, y)
    assume(edge > NEAR)
    options = {"new_classes": True, "fit_intercept": True}
    grown = onlinear.run(rule, growing(X, y), **options)
    assert grown.mistakes == mistakes
    n = (grown.n_features + 1) * len(grown.classes)
    assert weights_of(grown.state.arrays) == pytest.approx(np.array(oracle.w[:n]), rel=1e-10, abs=1e-12)
    whole = onlinear.run(rule, as_layout(X, "csr"), y, **options)
    assert bits(onlinear.run(rule, in_blocks(as_layout(X, "csr"), y, 5), **options)) == bits(whole)


@EVERY_RULE
@EVERY_FULL
@given(data=st.data(), normalize=st.booleans())
def test_a_pause_or_a_file_does_not_show(name, full, data, normalize, tmp_path_factory):
    X, y, k = data.draw(many_classes(max_rows=12, max_width=8))
    cut = data.draw(st.integers(1, len(y) - 1))
    options = {"fit_intercept": True, "normalize": normalize}
    rule, path = RULES[name][0](full=full), tmp_path_factory.mktemp("model") / "model"
    for layout in ("dense", "float32", "csr"):
        Z = as_layout(X, layout)
        whole = onlinear.run(rule, Z, y, classes=range(k), **options)
        first = onlinear.run(rule, Z[:cut], y[:cut], classes=range(k), **options)
        first.save(path)
        assert load(path).state.rule == rule
        for state in (first.state, load(path).state):
            assert bits(onlinear.run(rule, Z[cut:], y[cut:], state=state)) == bits(whole)


@EVERY_RULE
@EVERY_FULL
@pytest.mark.parametrize("layout", ["dense", "float32", "csr"])
@given(data=st.data(), intercept=st.booleans())
def test_compiled_and_plain_learn_the_same_bits(name, full, layout, data, intercept):
    """On any floats, with two classes and with three."""
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 20))
    X = as_layout(data.draw(arrays(np.float64, (n, d), elements=st.floats(-1e3, 1e3, allow_subnormal=False))), layout)
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    for labels, classes in ((y % 2, (0, 1)), (y, (0, 1, 2))):
        outcomes = []
        for plain in (0, 1):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(numba.config, "DISABLE_JIT", plain)
                run = onlinear.run(
                    RULES[name][0](full=full), X, labels, classes=classes, fit_intercept=intercept, trace=True
                )
            outcomes.append((run.trace.scores.tobytes(), bits(run)))
        assert outcomes[0] == outcomes[1]


@EVERY_FULL
@given(data=st.data())
def test_the_order_of_names_does_not_matter(full, data):
    """River's rows are in the order of their names, so leading features can stand anywhere in a row."""
    X, y = data.draw(real(**SMALL))
    model = OnlineClassifier(AROW(full=full))
    names = [f"x{j}" for j in range(X.shape[1])]
    model.learn_one(dict.fromkeys(names, 0.0), -1)  # classes are in the order of their first examples
    for row, label in zip(X, y, strict=True):
        turned = deque(zip(names, row.tolist(), strict=True))
        turned.rotate(data.draw(st.integers(0, len(names))))
        model.learn_one(dict(turned), int(label))
    X, y = np.vstack([np.zeros_like(X[:1]), X]), np.append(-1, y)
    oracle = papers.AROW(X.shape[1] + 1, full=full)
    mistakes, edge = outcome_with_new_classes(oracle, X, y)
    assume(edge > NEAR)
    assert model.mistakes == mistakes
    assert weights_of(model.as_run().state.arrays) == pytest.approx(np.array(oracle.w), rel=1e-10, abs=1e-12)


@EVERY_RULE
@pytest.mark.parametrize("unit", [1e3, 1e6, 1e9, 1e12])
def test_a_feature_in_other_units(name, unit):
    """A column of large numbers, such as times in seconds, costs no other column its variance."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    y = np.where(X[:, 0] > 0.2 * X[:, 1], 1, -1)
    X[:, 3] = unit * (1.0 + 1e-3 * X[:, 3])
    rule = RULES[name][0](full=8)
    run = onlinear.run(rule, X, y, fit_intercept=True, trace=True)
    late = run.trace.mistakes[run.trace.mistakes >= 1000]
    assert late.size < 100
