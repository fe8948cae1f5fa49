"""A learner: a rule, its growing state and its counters, fed block by block."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import Checksum
from onlinear.data.chunk import Chunk
from onlinear.data.label_record import new_record, with_new_classes
from onlinear.data.labels import Classes, ManyClasses
from onlinear.data.sample import HashSample
from onlinear.engine import passes
from onlinear.engine.explain import RULE_FAULTS
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block, open_rows, row
from onlinear.engine.runner import PlainRunner, runner_for
from onlinear.errors import DataError, ParameterError, RuleError
from onlinear.models.state import (
    Room,
    State,
    each_array,
    final_state,
    is_zero,
    move_columns,
    new_state,
    rearranged,
    rule_for_width,
    sealed,
    weights_of,
)
from onlinear.rules.rule import INPUTS, TIES
from onlinear.runs.blame import rule_failure, rule_fault, state_fault
from onlinear.runs.given_weights import class_weights, weights_and_intercept
from onlinear.runs.probe import check_linear, check_many_classes, check_read_only
from onlinear.spelling import option

NO_SCORES: Floats = np.empty(0)
NO_EVENTS = np.empty(0, dtype=np.int32)


class Learner:
    """The mutable counterpart of a `State`; it never writes to what it was given."""

    def __init__(self, rule: Any, classes: Classes | ManyClasses, *, fit_intercept: bool, normalize: bool) -> None:
        if rule.inputs != "real" and (fit_intercept or normalize):
            option = "fit_intercept" if fit_intercept else "normalize"
            raise ParameterError(f"{type(rule).__name__} takes {rule.inputs} inputs unchanged; {option} does not apply")
        self.rule = rule
        self.classes = classes
        self.multiclass = isinstance(classes, ManyClasses)
        if self.multiclass:
            check_many_classes(rule)
        self.per_class = self.multiclass and rule.inputs != "advice"
        """Whether each class has a weight vector; experts have one weight each, whatever they name."""
        self.bias = int(bool(fit_intercept))
        self.normalize = bool(normalize)
        self.tie = TIES[rule.tie]
        self.counts = np.zeros(passes.MISTAKES + classes.labels.size, dtype=np.int64)
        self.sums = np.zeros(2)
        self.labels = new_record(classes.labels.size)
        self.origin: Floats | None = None
        self.n_features = -1
        self.names: tuple[str, ...] | None = None
        self.reading: Mapping[str, Any] | None = None
        self.checksum: Checksum | None = None
        self.sample: HashSample | None = None
        self.new_classes = False
        """Whether a class is added when its first example comes."""
        self._room: Room | None = None

    def begin(self, n: int, start: Any = None) -> None:
        """Set up the state before round one, for n features."""
        self._bind(n)
        self.arrays = new_state(self.engine_rule, self._entries(n))
        check_read_only(self.engine_rule, self.arrays)
        if start is not None:
            self._take_weights(start)
        elif not is_zero(weights_of(self.arrays if self._entries(n) else new_state(self.engine_rule, 1))):
            self.origin = weights_of(self.arrays).copy()

    @classmethod
    def resume(cls, rule: Any, state: State) -> Self:
        """Return a learner that resumes from a state, with the current code of the rule."""
        learner = cls.for_scoring(rule, state)
        learner.copy_arrays()
        learner.labels = each_array(np.copy, learner.labels)
        return learner

    def copy_arrays(self) -> None:
        """Give the learner arrays of its own, to write to."""
        self.arrays = each_array(np.copy, self.arrays)

    @classmethod
    def for_scoring(cls, rule: Any, state: State) -> Self:
        """Return a learner that only scores; it shares the state's arrays."""
        classes = classes_of(state)
        learner = cls(rule, classes, fit_intercept=state.fit_intercept, normalize=state.normalize)
        learner._bind(state.n_features)
        learner.arrays = state.arrays
        if weights_of(state.arrays).shape != (learner._entries(state.n_features),):
            raise ParameterError("the state's weights do not fit its number of features")
        learner.counts[:] = state.rounds, state.updates, *state.mistakes_by_class
        learner.sums[:] = state.steps, state.reach
        learner.labels = learner.labels if state.labels is None else state.labels
        learner.origin = state.origin
        learner.names, learner.reading = state.names, state.reading
        learner.checksum = None if state.checksum is None else Checksum(state.checksum)
        learner.sample = None if state.sample is None else HashSample(state.sample)
        return learner

    def predictor(self) -> Self:
        """Return a learner that scores with the final weights."""
        final = final_state(self.rule, self.n_features, self.arrays)
        if final is self.arrays:
            return self
        predictor = copy.copy(self)
        predictor.arrays, predictor._room = final, None
        return predictor

    def rest(self) -> State:
        """Return the final state; the learner gives up its arrays.

        The pass meets what has overflowed in the score of the next example; after the last one it is looked for here.
        """
        fault = state_fault(self) if self.rounds else None
        if fault is not None:
            raise fault
        each_array(sealed, self.arrays)
        each_array(sealed, self.labels)
        if self.origin is not None:
            sealed(self.origin)
        return self.glance()

    def glance(self) -> State:
        """Return the current state; its arrays change as the learner continues."""
        rounds, updates, *mistakes = map(int, self.counts)
        steps, reach = map(float, self.sums)
        return State(
            rule=self.rule,
            fit_intercept=bool(self.bias),
            normalize=self.normalize,
            classes=self.classes.labels,
            n_features=self.n_features,
            arrays=self.arrays,
            rounds=rounds,
            mistakes_by_class=tuple(mistakes),
            updates=updates,
            steps=steps,
            reach=reach,
            origin=self.origin,
            names=self.names,
            reading=self.reading,
            checksum=None if self.checksum is None else str(self.checksum),
            multiclass=self.multiclass,
            labels=self.labels if self.labels.counts.any() else None,
            sample=None if self.sample is None else sealed(self.sample.hashes),
        )

    def twin(self) -> Self:
        """Return a copy, to try something out."""
        twin = copy.copy(self)
        twin.arrays = each_array(np.copy, self.arrays)
        twin._room = None
        twin.counts, twin.sums = self.counts.copy(), self.sums.copy()
        twin.labels = each_array(np.copy, self.labels)
        return twin

    @property
    def rounds(self) -> int:
        """The number of examples read so far."""
        return int(self.counts[passes.ROUNDS])

    @property
    def updates(self) -> int:
        """The number of updates so far."""
        return int(self.counts[passes.UPDATES])

    @property
    def mistakes(self) -> int:
        """The number of mistakes so far."""
        return sum(self.counts[passes.MISTAKES :].tolist())

    @property
    def has_fixed_width(self) -> bool:
        """Whether features cannot be added, since the rule depends on their number."""
        return self.engine_rule is not self.rule

    def new_features_count(self) -> bool:
        """Tell whether features that no example has had yet have weights other than 0."""
        return not self.has_fixed_width and bool(weights_of(new_state(self.engine_rule, 1)).any())

    @property
    def normalizes(self) -> bool:
        """Whether examples are divided by their norms, in which every feature counts."""
        return self.normalize

    def take_names(self, names: tuple[str, ...] | None) -> None:
        """Set the names of the features; names that no example has shown yet are features too."""
        if names is not None and len(names) > self.n_features:
            self.grow(len(names))
        # Features may have been declared beyond those that have names.
        self.names = None if names is None else names + ("",) * (self.n_features - len(names))

    def make_room(self, chunk: Chunk) -> None:
        """Check the width of a chunk against what is known, and grow where the rule can."""
        if chunk.width == self.n_features:
            return
        name, known, width = type(self.rule).__name__, self.n_features, chunk.width
        if self.rule.inputs == "advice" or (width > known and self.has_fixed_width):
            raise DataError(
                f"{chunk.place(0)} has {width} features; {name} started with {known}, and their number cannot change"
            )
        if width < known and not chunk.matrix.sparse:
            raise DataError(f"{chunk.place(0)} has {width} features, but {known} are known; dense rows need them all")
        if width > known:
            self.grow(width)

    def accept_new_classes(self) -> None:
        """Add a class when its first example comes; each class must have a weight vector."""
        self._many()
        self.new_classes = True

    def take_classes(self, labels: NDArray[Any]) -> None:
        """Extend the classes to these, which include the known ones; new ones start as the rule starts them."""
        known, classes = self._many().labels, ManyClasses(labels)
        places = classes.encode(known)
        if np.unique(places).size < places.size:
            raise ParameterError(f"labels of type {labels.dtype} cannot represent the known ones: {known.tolist()}")
        self._rearrange(classes, places)

    def add_class(self, label: Any, place: str) -> None:
        """Add a class for a label at a place in the data; the classes are sorted then."""
        self._rearrange(*self._many().with_label(label, place))

    def _many(self) -> ManyClasses:
        if isinstance(self.classes, ManyClasses):
            return self.classes
        raise ParameterError(
            f"two classes share one weight vector; train anew with one for each class ({option('new_classes', True)})"
        )

    def _rearrange(self, classes: ManyClasses, places: NDArray[np.intp]) -> None:
        """Extend the classes; the known ones have these places among them."""
        n, k = self.n_features + self.bias, classes.labels.size
        if self.per_class:
            self.arrays = rearranged(self.engine_rule, self.arrays, n, places, k)
        if self.per_class and self.origin is not None:
            origin = weights_of(new_state(self.engine_rule, n * k))
            move_columns(origin.reshape(n, k), self.origin.reshape(n, places.size), places)
            self.origin = origin
        counts = np.zeros(passes.MISTAKES + k, dtype=np.int64)
        counts[: passes.MISTAKES] = self.counts[: passes.MISTAKES]
        counts[passes.MISTAKES + places] = self.counts[passes.MISTAKES :]
        self.labels = with_new_classes(self.labels, places, k)
        self.classes, self.counts, self._room = classes, counts, None

    def _entries(self, n: int) -> int:
        """Return the number of per-feature entries for n features: with the intercept, for all weight vectors."""
        return (n + self.bias) * (self.classes.labels.size if self.per_class else 1)

    def grow(self, width: int) -> None:
        """Extend the state to this many features; new ones start as the rule starts them."""
        self.n_features, n = width, self._entries(width)
        if self._room is None or self._room.size < n:
            self._room = Room(self.engine_rule, self.arrays, n)
        self.arrays = self._room.cut(n)
        if self.origin is not None:
            origin = weights_of(new_state(self.engine_rule, n))
            origin[: self.origin.size] = self.origin
            self.origin = origin

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
        """Learn from a block's rows from `first` on, until `limit` updates; return the first row not read.

        A row that had to be refused is not read, and the limit not reached.
        """
        before = self.rounds
        try:
            return self._learn(self.runner, block, y, first, limit, scores, events)
        except RuleError:  # it cannot be compiled
            raise
        except RULE_FAULTS as error:
            row = first + self.rounds - before
            rest = y[: row + 1], row, -1, NO_SCORES, NO_EVENTS
            again = functools.partial(self.twin()._learn, PlainRunner(self.engine_rule), block, *rest)
            raise rule_failure(self.rule, f"in round {self.rounds + 1}", error, again) from error

    def _learn(
        self,
        runner: Any,
        block: Block,
        y: NDArray[Any],
        first: int,
        limit: int,
        scores: Floats,
        events: NDArray[np.int32],
    ) -> int:
        additive, record = bool(self.rule.additive), (limit, self.counts, self.sums)
        if self.multiclass:
            room, w = np.empty(self.classes.labels.size), weights_of(self.arrays)
            given = w, block, y, first, additive, *record, room
            return int(runner(passes.learn_classes, self.arrays, *given, scores, events))
        tie = self.tie
        return int(runner(passes.learn, self.arrays, block, y, first, tie, additive, *record, scores, events))

    def score(self, block: Block, n: int, t: int) -> tuple[Floats, NDArray[Any], int]:
        """Return the scores and predicted signs of a block's n rows, and the first row not read.

        With a weight vector per class these are a row of scores and the number of the predicted class.
        """
        try:
            return self._score(self.runner, block, n, t)
        except RuleError:  # it cannot be compiled
            raise
        except RULE_FAULTS as error:
            plain = PlainRunner(self.engine_rule)
            when = f"to score an example after {self.rounds} rounds"
            raise rule_failure(self.rule, when, error, functools.partial(self._score, plain, block, n, t)) from error

    def _score(self, runner: Any, block: Block, n: int, t: int) -> tuple[Floats, NDArray[Any], int]:
        scores: Floats
        codes: NDArray[Any]
        if self.multiclass:
            k = self.classes.labels.size
            scores, codes = np.empty((n, k)), np.empty(n, dtype=np.intp)
            room, w = scores.reshape(-1), weights_of(self.arrays)
            end = runner(passes.score_classes, self.arrays, w, block, self.rounds, k, room, codes)
        else:
            scores, codes = np.empty(n), np.empty(n, dtype=np.int8)
            end = runner(passes.score, self.arrays, block, self.rounds, t, self.tie, scores, codes)
        return scores, codes, int(end)

    def refuse(self, chunk: Chunk, i: int) -> DataError | RuleError:
        """Return the error for row i of a chunk, or for the rule, where that is to blame."""
        where = chunk.place(i)
        _, good, demand = INPUTS[self.rule.inputs]
        if chunk.matrix.is_outside(i):
            return DataError(f"{where}: its indices exceed the matrix")
        bad = chunk.matrix.find(i, np.isfinite) or chunk.matrix.find(i, good)
        if bad is not None:
            column, value = bad
            return DataError(f"{where}, {chunk.feature(column)}: value {value}; {demand}")
        block = chunk.block(slice(i, i + 1), self.bias, self.normalize)
        if not self.rule.accepts(row(open_rows(block), 0, self.rounds)):
            return DataError(f"{where}: {demand}")
        fault = rule_fault(self, block, where)
        if fault is not None:
            return fault
        too_short = " (or the row is too short to normalize)" if self.normalize else ""
        return DataError(f"{where}: {self.overflow(block)}{too_short}; scale the inputs")

    def overflow(self, block: Block) -> str:
        """Return in words why the only row of a block, whose values are finite, was refused."""
        *_, end = self.score(block, 1, self.rounds)
        return "its values are too large to learn from" if end else "its score overflows"

    def _bind(self, n: int) -> None:
        self.n_features = n
        self.engine_rule = rule_for_width(self.rule, n)
        if self.per_class:
            # Where no feature is known yet, the rule is tried with one.
            check_linear(self.engine_rule, self._entries(n) or self._entries(1))
        self.runner = runner_for(self.engine_rule)

    def vector(self, name: str, given: Any) -> Floats:
        """Return weights, or a pair (weights, intercept), as one vector like the learner's own."""
        if hasattr(given, "state"):
            raise ParameterError(f"{name} is a {type(given).__name__}; resume from it with state=")
        if self.multiclass:
            return class_weights(name, given, (self.classes.labels.size, self.n_features), self.bias)
        return weights_and_intercept(name, given, self.n_features, self.bias)

    def _take_weights(self, start: Any) -> None:
        if self.rule.inputs == "advice":
            raise ParameterError(f"{type(self.rule).__name__}: experts start with equal weights; start cannot be given")
        self.origin = self.vector("start", start)
        if hasattr(self.rule, "check_start"):
            self.rule.check_start(self.origin)
        weights_of(self.arrays)[:] = self.origin


def classes_of(state: State) -> Classes | ManyClasses:
    """Return the classes of a state."""
    return ManyClasses(state.classes) if state.multiclass else Classes(state.classes)
