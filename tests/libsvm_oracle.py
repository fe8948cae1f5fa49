"""The slow, obvious reader of libsvm text: regular expressions and Python's `float`, a line at a time.

Nothing here is shared with the library. A line is an `Example`, a `Fault`, or None where it says nothing.
"""

import math
import re
from typing import NamedTuple

_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WORD = re.compile(rb"[^ \t\r]+")
_INDEX_DIGITS = 20
"""Longer indices are too large whatever they say, and Python refuses to read very long ones."""


class Example(NamedTuple):
    label: float
    indices: tuple  # as columns: from 0
    values: tuple


class Fault(NamedTuple):
    column: int  # in bytes, from 1
    overflow: bool = False


class _NoNumberError(Exception):
    def __init__(self, *, overflow=False):
        super().__init__()
        self.overflow = overflow


def read(text, lowest=1, max_features=1 << 27, *, labelled=True):
    """Return what each line of a text is; a last line needs no end."""
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [read_line(line, lowest, max_features, labelled=labelled) for line in lines]


def read_line(line, lowest=1, max_features=1 << 27, *, labelled=True):
    words = [(found.start() + 1, found.group()) for found in _WORD.finditer(line.partition(b"#")[0])]
    if not words:
        return None
    label = 0.0
    column, word = words[0]
    if labelled or b":" not in word:  # otherwise the label is ignored, and may be absent
        try:
            label = number(word) if labelled else 0.0
        except _NoNumberError as error:
            return Fault(column, error.overflow)
        words.pop(0)
        if words and words[0][1].startswith(b"qid:"):
            words.pop(0)
    indices, values = [], []
    for column, word in words:
        index, colon, value = word.partition(b":")
        if not colon or re.fullmatch(rb"[0-9]+", index) is None:
            return Fault(column)
        digits = index.lstrip(b"0")
        place = int(digits or b"0") - lowest if len(digits) <= _INDEX_DIGITS else max_features
        if not (indices[-1] if indices else -1) < place < max_features:
            return Fault(column)
        try:
            values.append(number(value))
        except _NoNumberError as error:
            return Fault(column + len(index) + 1, error.overflow)
        indices.append(place)
    return Example(label, tuple(indices), tuple(values))


def number(word):
    """Return a finite decimal as Python reads it; but `float` would also take ``1_0``, ``inf`` and ``nan``."""
    if _NUMBER.fullmatch(word) is None:
        raise _NoNumberError
    value = float(word)
    if not math.isfinite(value):
        raise _NoNumberError(overflow=True)
    return value


def same_fault(found, wanted):
    """Tell whether a column is that of the fault; what is infinite by a hair may show after what else is wrong."""
    return found == wanted.column or (wanted.overflow and found > wanted.column)
