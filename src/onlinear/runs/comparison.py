"""The results of several rules, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from onlinear.data.one_label import show
from onlinear.display import Pictured, Reported, TextTable, confidence, counted, rounded_up
from onlinear.runs.baselines import Baselines, order_words
from onlinear.runs.evaluating import evaluate
from onlinear.runs.evaluation import Evaluation, show_interval
from onlinear.runs.outcome import Run


class Comparison(list[Run], Pictured, Reported):
    """The runs of several rules, in the order of the rules: a list, shown as a table with the best rule first.

    Attributes
    ----------
    seconds : tuple of float
        The time that each rule took to learn, without reading the data and without compiling the rule.
    left_out : dict
        Built-in rules that do not fit the data, with the reason, where the comparison was to have all of them.
    tests : tuple of Evaluation
        The evaluation of each run, after `evaluate`; otherwise empty.
    """

    def __init__(
        self,
        runs: Iterable[Run],
        seconds: Sequence[float],
        left_out: Mapping[str, str] | None = None,
        tests: Sequence[Evaluation] = (),
    ) -> None:
        super().__init__(runs)
        self.seconds = tuple(seconds)
        self.left_out = dict(left_out or {})
        self.tests = tuple(tests)

    def evaluate(self, X: Any, y: Any = None, *, delta: float = 0.05, strict: bool = False) -> Comparison:
        """Return the comparison with each run evaluated on examples, which are read once; see `onlinear.Run.evaluate`.

        Open a stream with ``like=comparison[0]``.
        """
        tests = evaluate(self, X, y, delta=delta, strict=strict)
        return Comparison(self, self.seconds, self.left_out, tests)

    def ranking(self) -> list[int]:
        """Return the numbers of the runs, the best first: by test accuracy, otherwise by mistakes while learning."""
        if self.tests:
            return sorted(range(len(self)), key=lambda i: -self.tests[i].correct)
        return sorted(range(len(self)), key=lambda i: self[i].mistakes)

    def table(self) -> TextTable:
        """Return the runs as a table, the best first."""
        two = not any(run.state.multiclass for run in self)
        names = ["rule", "mistakes", "rate", *(["m+", "m−"] if two else []), "updates", "margin ≤", "seconds"]
        if self.tests:
            names += ["test accuracy", f"interval ({confidence(self.tests[0].delta)})"]
        return TextTable(names, [self._row(i, two=two) for i in self.ranking()])

    def notes(self) -> list[str]:
        """Return what the table does not say, in sentences."""
        said = [f"left out: {name} ({reason})" for name, reason in self.left_out.items()]
        first = self[0]
        if first.baselines is not None:
            seen, _, majority, last = first.baselines
            where = "" if seen == first.rounds else f", in the {seen:,} rounds of the first pass"
            said.append(f"baselines: majority so far {majority / seen:.2%}, last label {last / seen:.2%}{where}")
            said += self._worse("the most frequent label so far", lambda beside: beside.majority_is_better)
            said += self._worse("repeating the last label", lambda beside: beside.last_label_is_best)
        if first.order is not None and first.order.noticed is not None:
            said.append(order_words(first.order.noticed, first.order.rounds))
        if self.tests:
            test = self.tests[0]
            label, n = show(test.baseline_label), test.examples
            left = f", {counted(test.skipped, 'line')} skipped" if test.skipped else ""
            said.append(f"test: {n:,} examples{left}; always {label} would be right on {test.baseline:.2%}")
            if len(self) > 1 and test.interval is not None:
                said.append("each interval holds for its rule alone, not for the best of several")
            if test.interval is None:
                said.append(f"no intervals: {test.no_interval}")
        return said

    def __repr__(self) -> str:
        """Return the table as text."""
        return "\n".join([self.table().text(), *self.notes()])

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
        return self.table().html() + self._picture_html()

    def _worse(self, baseline: str, is_better: Callable[[Baselines], bool]) -> list[str]:
        """Return which rules make more mistakes than a baseline, if there are any."""
        beside = {i: self[i].baselines for i in self.ranking()}
        worse = [repr(self[i].rule) for i, found in beside.items() if found is not None and is_better(found)]
        return [f"worse than {baseline}: {', '.join(worse)}"] if worse else []

    def _row(self, i: int, *, two: bool) -> list[str]:
        run, bound = self[i], self[i].margin_upper_bound
        row = [repr(run.rule), f"{run.mistakes:,}", f"{run.mistakes / run.rounds:.2%}"]
        if two:
            row += [f"{run.mistakes_positive:,}", f"{run.mistakes_negative:,}"]
        shown = rounded_up(bound) if bound is not None and math.isfinite(bound) else ""
        row += [f"{run.updates:,}", shown, f"{self.seconds[i]:.3f}"]
        if self.tests:
            test = self.tests[i]
            row += [f"{test.accuracy:.2%}", "" if test.interval is None else show_interval(test.interval)]
        return row
