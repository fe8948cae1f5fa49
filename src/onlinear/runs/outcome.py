"""The result of a run: to look at, to predict with, and to resume from."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onlinear.data.matrices import as_matrix
from onlinear.data.numbered import numbered_chunk
from onlinear.data.one_label import show
from onlinear.data.order import OrderCheck
from onlinear.display import Pictured, Reported, rounded_up, wrapped
from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError
from onlinear.models.file import write
from onlinear.models.state import State, weights_of
from onlinear.rules.rule import predicts_by_sign
from onlinear.runs.baselines import Baselines, baseline_facts, baselines_of, order_facts
from onlinear.runs.columns import check_same_columns
from onlinear.runs.curve import Curve
from onlinear.runs.evaluation import Evaluation
from onlinear.runs.learner import classes_of
from onlinear.runs.margin import margin_upper_bound
from onlinear.runs.members import expert_facts, member_alone, member_facts
from onlinear.runs.scoring import Scored, Scorer
from onlinear.runs.trace import Trace
from onlinear.streams.stream import Stream

_SHOWN = 12
"""How many classes are listed."""


@dataclass(frozen=True, eq=False, repr=False)
class Run(Pictured, Reported):
    """The result of learning from examples. It is immutable and can be shared between threads.

    Attributes
    ----------
    state : State
        Everything needed to resume: ``onlinear.run(rule, X, y, state=run.state)``.
    trace : Trace, Curve or None
        The rounds of mistakes and updates, or the mistakes over time, if requested.
    """

    KIND: ClassVar[str] = "Run"
    """What a model file calls this kind of run."""

    state: State
    trace: Trace | Curve | None = None

    @property
    def rule(self) -> Any:
        """The rule that learned."""
        return self.state.rule

    @property
    def rounds(self) -> int:
        """Examples read."""
        return self.state.rounds

    @property
    def mistakes(self) -> int:
        """Rounds with a wrong prediction."""
        return sum(self.state.mistakes_by_class)

    @property
    def mistakes_by_class(self) -> tuple[int, ...]:
        """The mistakes on examples of each class, in the order of `classes`."""
        return self.state.mistakes_by_class

    @property
    def mistakes_positive(self) -> int:
        """m₊: mistakes on examples of the second class, of two."""
        return self._of_two()[1]

    @property
    def mistakes_negative(self) -> int:
        """m₋: mistakes on examples of the first class, of two."""
        return self._of_two()[0]

    @property
    def updates(self) -> int:
        """Rounds with a step."""
        return self.state.updates

    @property
    def baselines(self) -> Baselines | None:
        """The mistakes of trivial predictions in the first pass (None: halting loops do not record labels)."""
        return baselines_of(self.state.labels)

    @property
    def order(self) -> OrderCheck | None:
        """Whether the labels of the first pass came in random order (None: it was not checked)."""
        return None if self.state.labels is None else self.state.labels.order

    @property
    def weights(self) -> Floats:
        """The weights of the features; with more than two classes a row per class; of experts up to a common factor."""
        weights = self.state.matrix[:, int(self.state.fit_intercept) :]
        return weights if self.state.per_class else weights[0]

    @property
    def intercept(self) -> Any:
        """The intercept; with more than two classes an array; 0 if none was fitted."""
        intercepts = self.state.matrix[:, 0] if self.state.fit_intercept else np.zeros(self.state.vectors)
        return intercepts if self.state.per_class else float(intercepts[0])

    @property
    def classes(self) -> NDArray[Any]:
        """The labels; with two, the negative one is first."""
        return self.state.classes

    @property
    def n_features(self) -> int:
        """The number of features seen or declared."""
        return self.state.n_features

    @property
    def margin_upper_bound(self) -> float | None:
        """An upper bound on the margin of every separator of the examples seen (None: the rule is not additive).

        The perceptron's proof read backwards: w − v, where v was the start, is a sum Σ λ y x, so
        γ* ≤ ‖w − v‖ / Σ λ. With an intercept it bounds the margin of the examples with a 1 appended. With a weight
        vector for each class, U, it bounds min ⟨U_y − U_r, x⟩ / ‖U‖_F over examples and classes r ≠ y.
        The bound is rounded outward: it allows for the rounding errors in w.
        """
        state = self.state
        if not state.rule.additive:
            return None
        w = weights_of(state.arrays)
        return margin_upper_bound(w, state.origin, state.updates, state.steps, state.reach)

    @property
    def expert_mistakes(self) -> NDArray[np.int64] | None:
        """m_n, the mistakes of each expert, or of each member of a majority (None: there is none).

        Of experts it is the field ``m`` of the rule's state.
        """
        arrays = self.state.arrays if self.state.follower is None else self.state.follower.arrays
        advised = self.rule.inputs == "advice" or self.state.members
        counted = advised and "m" in getattr(arrays, "_fields", ())
        return arrays.m.astype(np.int64) if counted else None

    @property
    def regret(self) -> int | None:
        """Mistakes in excess of the best expert's (None: no experts)."""
        made = self.expert_mistakes
        return None if made is None else self.mistakes - int(made.min())

    @property
    def expected_mistakes(self) -> float | None:
        """The exact expectation over the rule's draws, given the data (None: the rule draws nothing).

        It is the sum of the field ``expected`` of the state, for a rule that defines `predict`. Of a majority it is
        that of a learner which follows a member at random, ``RandomizedWeightedMajority("anytime")``.
        """
        if self.state.follower is not None:
            return Run(self.state.follower).expected_mistakes
        arrays = self.state.arrays
        known = "expected" in getattr(arrays, "_fields", ()) and not predicts_by_sign(self.rule)
        return float(arrays.expected.sum()) if known else None

    def best_member(self) -> Run:
        """Return the member of a majority with the fewest mistakes, as a run of its own: one vector to deploy.

        Its weights are those that it would have learned alone. It can be saved and resumed like any other run. It may
        count a few mistakes more than the majority counted for it: by itself a tie is a mistake, but as advice it is
        the first class.

        Examples
        --------
        >>> import onlinear
        >>> X, y = onlinear.datasets.noisy(n=2000, seed=0)
        >>> best = onlinear.run(onlinear.rules.Majority(), X, y).best_member()
        >>> best.rule
        AROW(r=1.0, full=64, tie='mistake')
        """
        made = self.expert_mistakes
        if made is None or not self.state.members:
            raise ParameterError(f"{self.rule!r} is a single rule; best_member is for a Majority")
        return Run(member_alone(self.state, int(made.argmin())))

    def decision_function(self, X: Any, *, strict: bool = False) -> Floats:
        """Return the score of each row; above 0 means ``classes[1]``. With more than two classes, a score per class.

        Columns that the run has not seen have the weights that the rule starts with, with a `DataWarning` if they are
        not 0 in X; with `strict` this is an error.
        """
        scores: Floats = self._score_all(X, strict, lambda scored: scored.scores)
        return scores

    def predict(self, X: Any, *, strict: bool = False) -> NDArray[Any]:
        """Return the predicted label of each row; `strict` as in `decision_function`.

        A tie that counts as a mistake is shown as the first class. A randomised rule draws as it would in
        the rounds to come.
        """
        codes = self._score_all(X, strict, lambda scored: scored.codes)
        return classes_of(self.state).decode(codes)

    def evaluate(self, X: Any, y: Any = None, *, delta: float = 0.05, strict: bool = False) -> Evaluation:
        """Compare the predictions with the true labels, in one reading of the examples.

        Parameters
        ----------
        X, y : matrix and labels
            As in `onlinear.run`. Without y, X is a stream, opened with ``like=run``, or an iterable of blocks.
            A label that the run does not have is an error; a stream opened with ``on_error="skip"`` skips it.
        delta : float
            The interval for the accuracy holds with probability 1 − delta.
        strict : bool
            Raise if an example has a feature that the run does not have; otherwise such examples are counted.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> import onlinear
        >>> X, y = onlinear.datasets.noisy(n=2000, seed=0)
        >>> run = onlinear.run(onlinear.rules.Perceptron(), X[:1000], y[:1000])
        >>> run.evaluate(X[1000:], y[1000:]).accuracy
        0.847
        """
        from onlinear.runs.evaluating import evaluate  # it needs this class

        return evaluate([self], X, y, delta=delta, strict=strict)[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the run to a file, for `onlinear.load`; the trace is not saved.

        The file is in the safetensors format and contains nothing executable: for a rule of your own it holds the
        name and a fingerprint of its code. It is written under a temporary name, synced and renamed, so an older
        file stays until the new one is complete. Saving the same run twice gives the same bytes.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced.

        Examples
        --------
        >>> import tempfile, onlinear
        >>> run = onlinear.run(onlinear.rules.Perceptron(), [[1.0, 0.0], [0.0, 1.0]], ["yes", "no"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.save(f"{folder}/model.safetensors")
        ...     onlinear.load(f"{folder}/model.safetensors").predict([[2.0, 1.0]]).tolist()
        ['yes']
        """
        kind = type(self).__name__
        if kind != self.KIND:
            raise ParameterError(f"a model file cannot hold a {kind}, only runs of the library's own classes")
        write(path, self.state, kind=kind, outcome=self._saved() or None)

    def _saved(self) -> dict[str, Any]:
        """Return what a model file stores beside the state."""
        return {name: getattr(self, name) for name in self.saved_fields()}

    @classmethod
    def saved_fields(cls) -> list[str]:
        """Return the names of the fields that a model file stores beside the state."""
        return [field.name for field in fields(cls) if field.name not in {"state", "trace", "outcome"}]

    def predictions(self, stream: Stream, *, strict: bool = False) -> Iterator[tuple[NDArray[Any], Floats]]:
        """Yield the predicted labels of a stream's examples and their scores, block by block.

        Open the stream with ``labelled=False, like=run``: its labels are ignored, and may be absent. `strict` is as in
        `decision_function`.
        """
        stream = stream.independent()
        stream.check_features(self.state.names, self.state.reading)
        scorer = Scorer(self.state, strict=strict)
        scorer.leave_out(stream.unknown_columns)
        for chunk in stream.unlabelled():
            for scored in scorer.score(chunk):
                yield scorer.classes.decode(scored.codes), scored.scores
        scorer.finish()

    def _score_all(self, X: Any, strict: bool, wanted: Callable[[Scored], NDArray[Any]]) -> NDArray[Any]:
        check_same_columns(X, self.state.names)
        matrix = as_matrix(X)
        return Scorer(self.state, strict=strict).score_all(numbered_chunk(matrix, np.zeros(matrix.n)), wanted)

    def _of_two(self) -> tuple[int, ...]:
        if self.state.multiclass:
            raise AttributeError("with a weight vector per class no class is positive; use mistakes_by_class")
        return self.state.mistakes_by_class

    def _facts(self) -> list[tuple[str, str]]:
        """Return the summary as (name, value) pairs."""
        labels = [show(label) for label in self.classes[:_SHOWN]] + ["…"] * (self.classes.size > _SHOWN)
        many = self.state.multiclass
        classes = (
            f"{self.classes.size}: {', '.join(labels)}" if many else "{} (negative), {} (positive)".format(*labels)
        )
        facts = [
            ("rounds", f"{self.rounds:,} with {self.n_features:,} features"),
            ("classes", classes),
            *mistake_facts(self.mistakes_by_class, self.rounds, self.classes if many else None),
            *baseline_facts(self.state),
            *order_facts(self.state),
            ("updates", f"{self.updates:,}"),
        ]
        if self.state.fit_intercept and not self.state.multiclass:
            facts.append(("intercept", f"{self.intercept:.6g}"))
        bound = self.margin_upper_bound
        if bound is not None:
            facts.append(
                (
                    "margin",
                    f"at most {rounded_up(bound)} for a separator of what was seen, if there is one"
                    if math.isfinite(bound)
                    else "unknown: no update yet",
                )
            )
        return facts + (member_facts(self) if self.state.members else expert_facts(self))

    def _title(self) -> str:
        return f"{type(self).__name__} of {self.rule!r}"


def mistake_facts(
    by_class: Sequence[int], rounds: int, labels: Sequence[Any] | NDArray[Any] | None, most: int = _SHOWN
) -> list[tuple[str, str]]:
    """Return the mistakes as (name, value) pairs, and how many were made on each class.

    Parameters
    ----------
    by_class : sequence of int
        The mistakes on examples of each class.
    rounds : int
        The number of rounds.
    labels : sequence or None
        The labels of the classes; None for a negative and a positive class.
    most : int
        With more classes than this, only the sum is shown.
    """
    words = f"{sum(by_class):,}" + (f" ({sum(by_class) / rounds:.2%})" if rounds else "")
    if labels is None:
        words += ": {1:,} on positive, {0:,} on negative".format(*by_class)
    elif len(labels) <= most:
        listed = (f"{show(label)}: {made:,}" for label, made in zip(labels, by_class, strict=True))
        words += f"; by class {', '.join(listed)}"
    return wrapped("mistakes", words)
