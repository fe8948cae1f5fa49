"""A learner made of learners: its members learn from the examples, and a rule for experts from their advice."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.labels import Classes, ManyClasses
from onlinear.engine import passes
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block, DenseBlock
from onlinear.errors import DataError, ParameterError, RuleError
from onlinear.models.parts import FOLLOWING
from onlinear.models.state import State
from onlinear.rules.majority import Majority
from onlinear.runs.learner import NO_EVENTS, NO_SCORES, Learner
from onlinear.runs.plurality import PluralityLearner

_MANY = 512
"""From this many rows on, members learn in threads."""


class MajorityLearner(Learner):
    """The learner of a `Majority`.

    Members see a block one after another, or in threads, and give their prediction on each row before they learned from
    it; then the vote and the follower learn from this advice. No one sees what another has learned, so the result does
    not depend on the blocks.
    """

    rule: Majority

    def __init__(self, rule: Majority, classes: Classes | ManyClasses, *, fit_intercept: bool, normalize: bool) -> None:
        rule.check_options(fit_intercept=fit_intercept, normalize=normalize)
        super().__init__(rule, classes, fit_intercept=False, normalize=False)
        self.members = [
            Learner(member.rule, classes, fit_intercept=member.fit_intercept, normalize=member.normalize)
            for member in rule.members
        ]
        kind = PluralityLearner if self.multiclass else Learner
        self.vote, self.follower = (
            kind(each, classes, fit_intercept=False, normalize=False) for each in (rule.vote, FOLLOWING)
        )
        self.per_class = False
        self.refusing: Learner = self.vote
        """The member that has refused a row."""
        self._share_counts()

    @property
    def parts(self) -> list[Learner]:
        """All learners that this one is made of."""
        return [*self.members, self.vote, self.follower]

    def begin(self, n: int, start: Any = None) -> None:
        """Set up the states of the members before round one, for n features."""
        if start is not None:
            raise ParameterError("start does not apply to a Majority: each member has its own first weights")
        for member in self.members:
            member.begin(n)
        for each in (self.vote, self.follower):
            each.begin(len(self.members))
        self.n_features, self.arrays = n, self.vote.arrays

    @classmethod
    def for_scoring(cls, rule: Any, state: State) -> Self:
        """Return a learner that only scores; it shares the arrays of the state and of the members' states."""
        learner = super().for_scoring(rule, state)
        if len(state.members) != len(rule.members) or state.follower is None:
            raise ParameterError(f"the state has {len(state.members)} members, not {len(rule.members)}")
        learner.members = [
            Learner.for_scoring(member.rule, each) for member, each in zip(rule.members, state.members, strict=True)
        ]
        kind = type(learner.vote)
        ballot = replace(state, rule=rule.vote, n_features=len(rule.members), members=(), follower=None)
        learner.vote = kind.for_scoring(rule.vote, ballot)
        learner.follower = kind.for_scoring(FOLLOWING, state.follower)
        learner._share_counts()
        return learner

    def __copy__(self) -> Self:
        """Return a learner with copies of the parts, which share their arrays: it may grow without the original."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.members, new.vote = [copy.copy(member) for member in self.members], copy.copy(self.vote)
        new.follower = copy.copy(self.follower)
        return new

    def copy_arrays(self) -> None:
        """Give every part arrays of its own."""
        for each in self.parts:
            each.copy_arrays()
        self.arrays = self.vote.arrays

    def predictor(self) -> Self:
        """Return a learner that scores with the members' final weights."""
        predictor = copy.copy(self)
        predictor.members = [member.predictor() for member in self.members]
        return predictor

    def twin(self) -> Self:
        """Return a copy, to try something out."""
        twin = copy.copy(self)
        twin.members = [member.twin() for member in self.members]
        twin.vote, twin.follower = self.vote.twin(), self.follower.twin()
        twin.arrays = twin.vote.arrays
        twin._share_counts()
        return twin

    def rest(self) -> State:
        """Return the final state; the learner gives up its arrays."""
        for each in self.parts:
            each.rest()
        return super().rest()

    def glance(self) -> State:
        """Return the current state; its arrays change as the learner continues."""
        members = tuple(member.glance() for member in self.members)
        return replace(super().glance(), members=members, follower=self.follower.glance())

    @property
    def has_fixed_width(self) -> bool:
        """Whether a member cannot take new features."""
        return any(member.has_fixed_width for member in self.members)

    @property
    def normalizes(self) -> bool:
        """Whether a member divides examples by their norms."""
        return any(member.normalizes for member in self.members)

    def make_room(self, chunk: Chunk) -> None:
        """Check the width of a chunk against what is known, and let the members grow."""
        for member in self.members:
            member.make_room(chunk)
        self.n_features = self.members[0].n_features

    def grow(self, width: int) -> None:
        """Extend the members to this many features."""
        self.n_features = width
        for member in self.members:
            member.grow(width)

    def new_features_count(self) -> bool:
        """Tell whether a member gives new features weights other than 0."""
        return any(member.new_features_count() for member in self.members)

    def learn(
        self,
        block: Block,
        y: NDArray[Any],
        first: int = 0,
        *,
        limit: int = -1,
        scores: Floats = NO_SCORES,
        events: NDArray[np.int32] = NO_EVENTS,
    ) -> int:
        """Let the members learn from a block's rows, then the vote; return the first row not read."""
        if first or limit >= 0:
            raise ParameterError("a Majority cannot stop after an update")

        def advise(member: Learner) -> tuple[int, NDArray[np.int32]]:
            room = np.empty(y.size), np.empty(y.size, dtype=np.int32)
            seen = block._replace(bias=member.bias, normalize=member.normalize)
            return member.learn(seen, y, scores=room[0], events=room[1]), room[1] // passes.PREDICTED

        end, named = self._each_member(advise, y.size)
        if end < y.size:
            return end
        advice = self._advice(named)
        self.follower.learn(advice, y)
        return self.vote.learn(advice, y, scores=scores, events=events)

    def score(self, block: Block, n: int, t: int) -> tuple[Floats, NDArray[Any], int]:
        """Return the votes on a block's n rows, the predicted signs or classes, and the first row not read."""

        def ask(member: Learner) -> tuple[int, NDArray[Any]]:
            _, codes, end = member.score(block._replace(bias=member.bias, normalize=member.normalize), n, t)
            return end, codes

        end, named = self._each_member(ask, n)
        if end < n:
            return np.empty(n), np.empty(n, dtype=np.intp), end
        # Of two classes the sign 0 is a tie, which counts as the first class.
        return self.vote.score(self._advice(named if self.multiclass else [signs > 0 for signs in named]), n, t)

    def refuse(self, chunk: Chunk, i: int) -> DataError | RuleError:
        """Return the error for row i of a chunk, as the member sees it that has refused the row."""
        error = self.refusing.refuse(chunk, i)
        if not isinstance(error, DataError) or self.refusing.rule.inputs == "real":
            return error
        return DataError(f"{error} for {self.refusing.rule!r}, a member of the majority")

    def _rearrange(self, classes: ManyClasses, places: NDArray[np.intp]) -> None:
        for each in self.parts:
            each._rearrange(classes, places)
        super()._rearrange(classes, places)
        self._share_counts()

    def _bind(self, n: int) -> None:
        self.n_features = n

    def _entries(self, n: int) -> int:
        return len(self.rule.members)

    def _share_counts(self) -> None:
        """Count the rounds, mistakes and updates of the vote as those of the majority."""
        self.counts, self.sums = self.vote.counts, self.vote.sums

    def _advice(self, named: Sequence[NDArray[Any]]) -> DenseBlock:
        """Return the numbers of the classes that members name as advice: of two classes, −1 and +1."""
        advice = np.stack(named, axis=1).astype(np.float64)
        return DenseBlock(advice if self.multiclass else 2.0 * advice - 1.0, 0, normalize=False)

    def _each_member(
        self, task: Callable[[Learner], tuple[int, NDArray[Any]]], n: int
    ) -> tuple[int, list[NDArray[Any]]]:
        """Ask each member about n rows; return the first row that one of them refuses, and what each has named.

        Passes release the interpreter's lock, so threads are worth it.
        """
        ends, named = zip(*_each(task, self.members, threads=n >= _MANY), strict=True)
        self.refusing = self.members[ends.index(min(ends))]
        return min(ends), list(named)


def _each(task: Callable[[Learner], Any], members: list[Learner], *, threads: bool) -> list[Any]:
    """Apply a function to each member, in threads if that is asked for and possible."""
    started: list[Any] = []
    # When the interpreter shuts down, no thread can be started any more.
    with contextlib.suppress(RuntimeError):
        started.extend(_threads().submit(task, member) for member in members if threads)
    return [*(future.result() for future in started), *map(task, members[len(started) :])]


@functools.cache
def _threads() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="onlinear")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_threads.cache_clear)
