"""The columns of frames: their names are those of the features, and must stay in their order."""

from __future__ import annotations

from typing import Any

from onlinear.data.matrices import column_names
from onlinear.errors import DataError
from onlinear.runs.learner import Learner
from onlinear.streams.reading import without_blanks


def name_features(learner: Learner, X: Any) -> None:
    """Name the features after the columns of a frame; new columns may stand behind those that are known."""
    names = column_names(X)
    if names is not None:
        known = () if learner.names is None else without_blanks(learner.names)
        _check_order(names[: len(known)], known)
        learner.take_names(names)


def check_same_columns(X: Any, known: tuple[str, ...] | None) -> None:
    """Raise if the columns of a frame are not the known features in their order: they are matched by position."""
    names = column_names(X)
    if names is not None and known is not None:
        _check_order(names, without_blanks(known))


def _check_order(names: tuple[str, ...], known: tuple[str, ...]) -> None:
    if names != known:
        i = next((i for i, pair in enumerate(zip(names, known, strict=False)) if pair[0] != pair[1]), len(known))
        i = min(i, len(names))
        here, there = (repr(one[i]) if i < len(one) else "nothing" for one in (names, known))
        raise DataError(
            f"column {i} of X is {here}, but the run has {there} there; put the columns in the order of"
            " run.state.names, or read them with open_stream(X, like=run, labelled=False)"
        )
