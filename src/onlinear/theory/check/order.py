"""The order check (P18): whether labels come in random order, as i.i.d. examples do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.label_record import add_labels, new_record
from onlinear.data.labels import ManyClasses, as_labels, checked_labels
from onlinear.data.order import MOST_CLASSES, OrderCheck
from onlinear.errors import DataError, ParameterError


def order_check(y: Any, classes: Any = None) -> OrderCheck:
    """Return whether labels come in random order: the evidence against it, and the round in which it sufficed.

    If every order of the labels is equally likely, as it is for i.i.d. examples and for shuffled ones, then with
    probability 0.999 nothing is ever noticed, however often one looks and whenever one stops. Every run does the same
    check (``run.order``), and certificates withhold what assumes i.i.d. examples if it fails.

    Parameters
    ----------
    y : array
        The labels in their order.
    classes : array, optional
        All labels. Default: those in y, sorted. At most 64.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import order_check
    >>> in_order = np.repeat([-1, 1], 500)
    >>> order_check(in_order).noticed
    512
    >>> order_check(np.random.default_rng(0).permutation(in_order)).noticed is None
    True
    """
    labels = as_labels(y, np.size(y))
    if not labels.size:
        raise DataError("no labels")
    known = checked_labels(np.unique(labels) if classes is None else classes)
    order = order_of([ManyClasses(known).encode(labels)], known.size)
    if order is None:
        raise ParameterError(f"there are {known.size} classes; the order of at most {MOST_CLASSES} can be checked")
    return order


def order_of(parts: Iterable[NDArray[Any]], classes: int) -> OrderCheck | None:
    """Return whether labels come in random order, by their codes in parts; None if there are too many classes."""
    record = new_record(classes)
    for codes in parts:
        add_labels(record, codes)
    return record.order
