"""What an evaluation found: accuracy with its interval, the confusion matrix, and the measures of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.labels import list_labels
from onlinear.data.one_label import plain, show
from onlinear.data.order import OrderCheck
from onlinear.display import Pictured, TextTable, confidence, counted, rounded_down, rounded_up, wrapped
from onlinear.engine.flat import Floats

_SHOWN = 12
"""The largest confusion matrix that is shown, and the number of confusions that are listed beyond it."""
_MANY_TIES = 0.05
"""From this share of equal scores on, an AUC says little about a ranking."""
_MOST_ROWS = 100
"""The largest number of classes whose measures are shown."""


_WORTH_SAYING = 0.01
"""The share of examples that also occur in the training data from which on it is shown."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Pictured):
    """Predictions compared with the true labels. It is immutable; `as_dict` returns all of it as plain data.

    Precision, recall and F1 are as in scikit-learn with ``zero_division=0``: they are 0 where they are undefined, and
    the macro averages are over the classes that occur, as labels or as predictions.

    Attributes
    ----------
    title : str
        What was evaluated.
    classes : array
        The labels that the model knows, in the order of all arrays here.
    support, predicted, hits : int arrays
        For each class: the examples with this label, those predicted to have it, and those for which both are true.
    confusion : int array, or None
        ``confusion[i, j]`` examples of class i were predicted as class j; None with more than 1,024 classes.
    ties : int
        Examples with equal best scores. They are predicted as the first of these classes; a tie that a rule counts as
        a mistake is predicted as the first class.
    auc : float or None
        The area under the ROC curve: the share of pairs, one example of each class, that the scores order correctly;
        a tie counts one half. None unless there are two classes and both occur.
    auc_error : float
        By how much `auc` may be wrong: 0 up to 2²⁰ examples; beyond that a proven bound.
    auc_ties : float
        The share of pairs (positive, negative) with equal scores, each of which counts one half in `auc`.
    delta : float
        One minus the probability with which the interval holds.
    interval : pair of floats, or None
        The exact (Clopper–Pearson) interval for the probability of a correct prediction, rounded outward. It assumes
        that the examples are independent, of one distribution, and were not used in training. None if that is known
        to be false, or if all examples have the same label; `no_interval` says why.
    no_interval : str
        Why there is no interval; otherwise empty.
    order : OrderCheck or None
        Whether the labels are in random order; if not, the examples are not independent. None with more than 64
        classes.
    trained_on : float or None
        An estimate of the share of these examples that are among those that the model was trained on, in any order; of
        equal examples one counts. None if it is unknown: the model was not trained on a stream, or has seen far more.
    unknown : int
        Examples with features that the model does not have.
    skipped : int
        Malformed examples, and examples with unknown labels, that the stream has skipped.
    """

    title: str
    classes: NDArray[Any]
    support: NDArray[np.int64]
    predicted: NDArray[np.int64]
    hits: NDArray[np.int64]
    confusion: NDArray[np.int64] | None
    ties: int
    auc: float | None
    auc_error: float
    auc_ties: float
    delta: float
    interval: tuple[float, float] | None
    no_interval: str
    order: OrderCheck | None
    trained_on: float | None
    unknown: int
    skipped: int

    @property
    def examples(self) -> int:
        """The number of examples."""
        return int(self.support.sum())

    @property
    def correct(self) -> int:
        """The number of correct predictions."""
        return int(self.hits.sum())

    @property
    def accuracy(self) -> float:
        """The share of correct predictions."""
        return self.correct / self.examples

    @property
    def error(self) -> float:
        """The share of wrong predictions."""
        return (self.examples - self.correct) / self.examples

    @property
    def baseline(self) -> float:
        """The accuracy of always predicting the label that is most frequent in these examples."""
        return int(self.support.max()) / self.examples

    @property
    def baseline_label(self) -> Any:
        """The label that is most frequent in these examples; of several, the first."""
        return plain(self.classes[int(self.support.argmax())])

    @property
    def precision(self) -> Floats:
        """For each class, the share of correct predictions among those of this class; 0 if there are none."""
        return _ratio(self.hits, self.predicted)

    @property
    def recall(self) -> Floats:
        """For each class, the share of its examples that were recognised; 0 if there are none."""
        return _ratio(self.hits, self.support)

    @property
    def f1(self) -> Floats:
        """For each class, the harmonic mean of precision and recall; 0 if both are 0."""
        return _ratio(2 * self.hits, self.support + self.predicted)

    @property
    def macro_precision(self) -> float:
        """The mean precision of the classes that occur."""
        return self._mean(self.precision)

    @property
    def macro_recall(self) -> float:
        """The mean recall of the classes that occur."""
        return self._mean(self.recall)

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes that occur."""
        return self._mean(self.f1)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as numbers, text, lists and dicts, as JSON can hold it."""
        measures = (self.precision, self.recall, self.f1, self.support, self.predicted)
        names = ("label", "precision", "recall", "f1", "support", "predicted")
        rows = zip(map(plain, self.classes), *(measure.tolist() for measure in measures), strict=True)
        return {
            "examples": self.examples,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "error": self.error,
            "interval": None if self.interval is None else list(self.interval),
            "no_interval": self.no_interval or None,
            "delta": self.delta,
            "baseline": self.baseline,
            "baseline_label": self.baseline_label,
            "auc": self.auc,
            "auc_error": self.auc_error if self.auc is not None else None,
            "auc_ties": self.auc_ties if self.auc is not None else None,
            "macro_precision": self.macro_precision,
            "macro_recall": self.macro_recall,
            "macro_f1": self.macro_f1,
            "classes": [dict(zip(names, row, strict=True)) for row in rows],
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "order": None if self.order is None else vars(self.order),
            "ties": self.ties,
            "trained_on": self.trained_on,
            "unknown": self.unknown,
            "skipped": self.skipped,
        }

    def __repr__(self) -> str:
        """Return aligned lines of text, with a table of the classes and one of the confusions."""
        return "\n\n".join([super().__repr__(), *(table.text() for table in self._tables())])

    def _repr_html_(self) -> str:
        """Return HTML tables for notebooks."""
        return "".join([super()._repr_html_(), *(table.html() for table in self._tables())])

    def _mean(self, measure: Floats) -> float:
        return float(measure[(self.support > 0) | (self.predicted > 0)].mean())

    def _title(self) -> str:
        return self.title

    def _facts(self) -> list[tuple[str, str]]:
        """Return the summary as (name, value) pairs."""
        facts = [
            ("examples", f"{self.examples:,}"),
            ("accuracy", f"{self.accuracy:.2%}: {self.correct:,} correct, {self.examples - self.correct:,} wrong"),
            *wrapped("interval", self._interval_words()),
            *wrapped("baseline", self._baseline_words()),
            ("AUC", self._auc_words()),
            *wrapped("macro", self._macro_words()),
        ]
        if self.ties:
            facts.append(("ties", f"{counted(self.ties, 'example')}, predicted as the first of the tied classes"))
        facts += self._undefined("precision", (self.predicted == 0) & (self.support > 0), "never predicted")
        facts += self._undefined("recall", (self.support == 0) & (self.predicted > 0), "without an example")
        if self.interval is not None and (self.trained_on or 0.0) >= _WORTH_SAYING:
            facts.append(("overlap", f"about {self.trained_on:.0%} of the examples also occur in the training data"))
        if self.unknown:
            facts.append(("features", f"{counted(self.unknown, 'example')} with features that the model does not have"))
        if self.skipped:
            facts.append(("skipped", f"{counted(self.skipped, 'line')}, not counted above"))
        return facts

    def _undefined(self, measure: str, which: NDArray[np.bool_], why: str) -> list[tuple[str, str]]:
        labels = self.classes[which]
        if not labels.size:
            return []
        named = f"class{'es' * (labels.size > 1)} {list_labels(labels)}"
        return wrapped("undefined", f"the {measure} of {named}, {why}; 0 is shown")

    def _interval_words(self) -> str:
        if self.interval is None:
            return f"none: {self.no_interval}"
        unchecked = "" if self.order is not None else "; whether their order is random was not checked"
        return (
            f"{show_interval(self.interval)} with probability {confidence(self.delta)}"
            f" (declared: examples are independent, of one distribution, and not used in training{unchecked})"
        )

    def _baseline_words(self) -> str:
        words = f"{self.baseline:.2%}: always {show(self.baseline_label)}, the most frequent label"
        if self.baseline == 1.0:
            return f"{words}, and the only one here"
        if self.accuracy > self.baseline:
            return words
        compared = "worse than" if self.accuracy < self.baseline else "no better than"
        return f"{words}. The model is {compared} that"

    def _macro_words(self) -> str:
        found = int(((self.support > 0) | (self.predicted > 0)).sum())
        some = f", of {found:,} of {self.classes.size:,} classes" if found < self.classes.size else ""
        return f"precision {self.macro_precision:.4f}, recall {self.macro_recall:.4f}, F1 {self.macro_f1:.4f}{some}"

    def _auc_words(self) -> str:
        if self.auc is not None:
            ties = f" ({self.auc_ties:.0%} of the pairs have equal scores)" if self.auc_ties >= _MANY_TIES else ""
            return f"{self.auc:.6f}" + (f" ± {rounded_up(self.auc_error)}" if self.auc_error else "") + ties
        return "undefined: all examples have the same label" if self.classes.size == 2 else "for two classes only"

    def _tables(self) -> list[TextTable]:
        names = [show(plain(label)) for label in self.classes]
        measures = zip(names, self.precision, self.recall, self.f1, self.support, self.predicted, strict=True)
        rows = [(name, *(f"{one:.4f}" for one in row[:3]), *(f"{one:,}" for one in row[3:])) for name, *row in measures]
        cut = [(f"… {len(rows) - _MOST_ROWS:,} more", *[""] * 5)] if len(rows) > _MOST_ROWS else []
        columns = ("class", "precision", "recall", "F1", "examples", "predicted")
        tables = [TextTable(columns, [*rows[:_MOST_ROWS], *cut])]
        if self.confusion is None:
            return tables
        if len(names) <= _SHOWN:
            cells = [[f"{one:,}" for one in row] for row in self.confusion.tolist()]
            rows = [(name, *row) for name, row in zip(names, cells, strict=True)]
            return [*tables, TextTable(("label \\ predicted", *names), rows)]
        wrong = self.confusion - np.diag(np.diag(self.confusion))
        most = np.argsort(-wrong, axis=None, kind="stable")[:_SHOWN]
        pairs = [divmod(int(cell), len(names)) for cell in most if wrong.flat[cell]]
        listed = [(names[i], names[j], f"{wrong[i, j]:,}") for i, j in pairs]
        return [*tables, TextTable(("label", "predicted", "most frequent confusions"), listed)] if listed else tables


def show_interval(interval: tuple[float, float]) -> str:
    """Return an interval in per cent, rounded outward."""
    lower, upper = interval
    return f"{rounded_down(100.0 * lower)}% to {rounded_up(100.0 * upper)}%"


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Floats:
    return np.divide(part, whole, out=np.zeros(part.size), where=whole > 0)
