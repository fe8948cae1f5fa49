"""Steps over groups of eight entries give the bits of one entry after the other: here with groups that NumPy makes.

Compiled code has groups of its own; `test_bits.py` compares it with plain Python, where a group is one entry.
"""

from contextlib import ExitStack
from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, note

import onlinear
from onlinear.engine import groups, rates, steps
from onlinear.engine.flat import LANES
from onlinear.engine.runner import PlainRunner
from onlinear.rules import FTRL, AdaGrad, NormalizedAdaGrad
from onlinear.runs import learner
from strategies import as_layout, real


def neighbours(j, n):
    assert 0 < n <= LANES
    return np.arange(j, j + n)


def put(a, j, v):
    a[j] = v


def from_left_to_right(total, terms, n):
    assert terms.size == n
    for term in terms.tolist():
        total += term
    return total


GROUPS = {
    "stride": lambda: LANES,
    "places_from": neighbours,
    "places_at": lambda indices, i, n, shift: np.asarray(indices)[neighbours(i, n)] + shift,
    "entries_at": lambda a, i, n: np.asarray(a, dtype=np.float64)[neighbours(i, n)],
    "take": lambda a, j: np.asarray(a)[j].astype(np.float64),
    "put": put,
    "choose": np.where,
    "holds_somewhere": np.any,
    "root": np.sqrt,
    "quotient": np.divide,
    "plus": from_left_to_right,
}


class NumPyRunner(PlainRunner):
    """Runs rules as plain Python, with groups that are arrays."""

    def __call__(self, function, state, *args):
        with ExitStack() as stack:
            for module in (groups, rates, steps):
                for name in GROUPS.keys() & vars(module).keys():
                    stack.enter_context(patch.object(module, name, GROUPS[name]))
            stack.enter_context(np.errstate(all="ignore"))
            return function(self.rule, state, *args)


@pytest.mark.parametrize("rule", [AdaGrad(), NormalizedAdaGrad(0.3, "hinge"), FTRL(0.5, 0.5, 0.4, 0.1)], ids=repr)
@given(data=real(max_rows=8, max_width=20), intercept=st.booleans(), normalize=st.booleans())
def test_groups_of_eight(rule, data, intercept, normalize):
    X, y = data
    for layout in ("dense", "csr"):
        note(layout)
        options = {"fit_intercept": intercept, "normalize": normalize, "trace": True}
        found = []
        for runner in (PlainRunner, NumPyRunner):
            with patch.object(learner, "runner_for", runner):
                run = onlinear.run(rule, as_layout(X, layout), y, **options)
            found.append([run.trace.scores.tobytes(), *(array.tobytes() for array in run.state.arrays)])
        assert found[0] == found[1]
