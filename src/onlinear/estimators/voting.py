"""What classifiers have in common in which several learners vote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.errors import OnlinearError
from onlinear.estimators.base import RunClassifier
from onlinear.runs.probe import check_many_classes


class VotingClassifier(RunClassifier):
    """A classifier whose run has experts, or the members of a majority."""

    @property
    def expert_mistakes_(self) -> NDArray[np.int64] | None:
        """The number of mistakes of each expert or member; None if the rule does not count them."""
        return self.run_.expert_mistakes

    @property
    def regret_(self) -> int | None:
        """The mistakes beyond those of the best expert or member."""
        return self.run_.regret

    @property
    def expected_mistakes_(self) -> float | None:
        """The exact expected number of mistakes of a randomised rule, given the advice; None if it is deterministic.

        Of a majority, that of following a member at random.
        """
        return self.run_.expected_mistakes

    @property
    def weights_(self) -> Floats:
        """The weights of the experts or members, which sum to 1."""
        shares: Floats = self.run_.weights / self.run_.weights.sum()
        return shares


def why_two_classes(rule: Callable[[], Any]) -> str:
    """Return why the rule that a function returns can have no more than two classes; nothing if it can."""
    try:
        check_many_classes(rule())
    except (OnlinearError, TypeError, ValueError, AttributeError) as error:  # a user's rule may raise any of these
        return str(error)
    return ""
