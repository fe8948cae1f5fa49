"""Evaluation of runs on examples that are read once, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.label_record import add_labels, new_record
from onlinear.data.sample import HashSample
from onlinear.engine.flat import Floats
from onlinear.errors import DataError, ParameterError
from onlinear.models.state import State, sealed
from onlinear.runs.auc import RocCurve
from onlinear.runs.beginning import open_chunks
from onlinear.runs.columns import check_same_columns
from onlinear.runs.evaluation import Evaluation
from onlinear.runs.outcome import Run
from onlinear.runs.scoring import Scored, Scorer
from onlinear.streams.stream import Stream

_MOST_CLASSES = 1 << 10
"""The largest number of classes with a confusion matrix, which then takes 8 MB."""
_INEXACT = 5e-10
"""More than the relative error of SciPy's quantiles, by which the interval is widened."""
_BY_CHANCE = 0.25
"""The share of examples in the training data up to which a test is not taken for one on training data."""
_NEARLY_ALL = 0.9
"""From this share on there is no interval, even if many examples are equal to others."""


def evaluate(
    runs: Sequence[Run], X: Any, y: Any = None, *, delta: float = 0.05, strict: bool = False
) -> list[Evaluation]:
    """Evaluate runs that know the same classes and features, all in one reading; see `onlinear.Run.evaluate`."""
    if not 0.0 < delta < 1.0:
        raise ParameterError(f"delta is {delta!r}; it must be between 0 and 1")
    stream = X.independent() if y is None and isinstance(X, Stream) else None
    tallies = [Tally(run.state, strict=strict) for run in runs]
    for run, tally in zip(runs, tallies, strict=True):
        if stream is not None:
            stream.expect(tally.classes)
            stream.check_features(run.state.names, run.state.reading)
        else:
            check_same_columns(X, run.state.names)
    for chunk in open_chunks(X if stream is None else stream, y):
        for tally in tallies:
            tally.add(chunk)
    skipped = 0 if stream is None else stream.skipped
    return [
        tally.evaluation(f"Evaluation of {run.rule!r}", delta, skipped)
        for run, tally in zip(runs, tallies, strict=True)
    ]


def binomial_interval(hits: int, n: int, delta: float) -> tuple[float, float]:
    """Return the Clopper–Pearson interval for a probability, given the hits in n independent trials.

    Above the upper end, at most this many hits have a probability below delta/2; below the lower end, at least this
    many. The quantiles of the beta distribution give both ends.
    """
    from scipy.special import betainccinv, betaincinv

    lower = float(betaincinv(hits, n - hits + 1, delta / 2.0)) if hits else 0.0
    upper = float(betainccinv(hits + 1, n - hits, delta / 2.0)) if hits < n else 1.0
    return lower * (1.0 - _INEXACT), min(1.0, upper * (1.0 + _INEXACT))


class Tally:
    """Counts what a run predicts, chunk after chunk."""

    def __init__(self, state: State, *, strict: bool) -> None:
        self._state = state
        self._scorer = Scorer(state, strict=strict)
        self.classes = self._scorer.classes
        k = state.classes.size
        self._support, self._predicted, self._hits = (np.zeros(k, dtype=np.int64) for _ in range(3))
        self._confusion = np.zeros((k, k), dtype=np.int64) if k <= _MOST_CLASSES else None
        self._curve = RocCurve() if k == 2 else None
        self._ties = 0
        self._sample = None if state.sample is None else HashSample()
        self._labels = new_record(k)

    def add(self, chunk: Chunk) -> None:
        """Count the predictions for a chunk's examples."""
        for scored in self._scorer.score(chunk):
            codes = chunk.codes(self.classes, scored.span)
            if self._sample is not None:
                self._sample.add(chunk.row_sums(scored.span, scored.block))
            self._count(*(np.maximum(one, 0).astype(np.intp) for one in (codes, scored.codes)))
            add_labels(self._labels, codes)
            self._ties += _ties(scored)
            if self._curve is not None:
                self._curve.add(_single(scored.scores), codes > 0)

    def evaluation(self, title: str, delta: float, skipped: int) -> Evaluation:
        """Return the result."""
        n = self._scorer.examples
        if n == 0:
            raise DataError("no examples")
        self._scorer.finish()
        area = None if self._curve is None else self._curve.area()
        trained_on = self._share_of_training_data()
        withheld = self._why_no_interval(trained_on)
        return Evaluation(
            title=title,
            classes=self._state.classes,
            support=sealed(self._support),
            predicted=sealed(self._predicted),
            hits=sealed(self._hits),
            confusion=None if self._confusion is None else sealed(self._confusion),
            ties=self._ties,
            auc=None if area is None else area.value,
            auc_error=0.0 if area is None else area.error,
            auc_ties=0.0 if area is None else area.ties,
            delta=delta,
            interval=None if withheld else binomial_interval(int(self._hits.sum()), n, delta),
            no_interval=withheld,
            order=self._labels.order,
            trained_on=trained_on,
            unknown=self._scorer.unknown,
            skipped=skipped,
        )

    def _share_of_training_data(self) -> float | None:
        """Return an estimate of the share of these examples that the model was trained on; None if it is unknown."""
        if self._sample is None or self._state.sample is None:
            return None
        return self._sample.share_in(HashSample(self._state.sample))

    def _share_by_chance(self) -> float:
        """Return a share of examples that may well occur in the training data by chance.

        Where many examples in training are equal to earlier ones, many new ones are, too, and rather more of them.
        """
        labels, sample = self._state.labels, HashSample(self._state.sample)
        rounds = self._state.rounds if labels is None else labels.rounds
        return _BY_CHANCE + 2.0 * max(0.0, 1.0 - sample.distinct / max(1, rounds))

    def _why_no_interval(self, trained_on: float | None) -> str:
        """Return why the assumptions of the interval do not hold, as far as it is known."""
        order, by_chance = self._labels.order, self._share_by_chance()
        known = trained_on is not None and trained_on > min(by_chance, _NEARLY_ALL)
        these = "these examples" if trained_on in {None, 1.0} else f"about {trained_on:.0%} of these examples"
        if known and by_chance <= _NEARLY_ALL:
            return f"the model was trained on {these}, so this is no estimate for new ones"
        if np.count_nonzero(self._support) == 1:
            return "all examples have the same label, so this is no estimate for the others"
        if order is not None and order.noticed is not None:
            where = f"noticed at example {order.noticed:,}"
            return f"the labels are not in random order ({where}), so the examples are not independent"
        return f"{these} occur in the training data, so this may be no estimate for new ones" if known else ""

    def _count(self, label: NDArray[np.intp], predicted: NDArray[np.intp]) -> None:
        k = self._support.size
        self._support += np.bincount(label, minlength=k)
        self._predicted += np.bincount(predicted, minlength=k)
        self._hits += np.bincount(label[label == predicted], minlength=k)
        if self._confusion is not None:
            self._confusion += np.bincount(k * label + predicted, minlength=k * k).reshape(k, k)


def _ties(scored: Scored) -> int:
    """Return the number of examples with equal best scores."""
    scores = scored.scores
    if scores.ndim == 1:
        return int(np.count_nonzero(scored.codes == 0))
    return int(np.count_nonzero((scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1))


def _single(scores: Floats) -> Floats:
    """Return the scores for two classes as one number per example: how far the second class is ahead."""
    return scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0]
