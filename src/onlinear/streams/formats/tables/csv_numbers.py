"""Numbers and missing values among strings, as Arrow's CSV reader knows them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBER = r"^-?\d+(\.\d+)?([eE][-+]?\d+)?$"
"""Matches what certainly is a number."""
_LIKE_A_NUMBER = r"^[-+]?([\d.]+([eE][-+]?\d+)?$|(?i:inf|nan))"
"""Matches what may be a number."""
_ALSO_MISSING = ("?", "None", "<NA>")
"""What data repositories and pandas write, beside what Arrow knows."""


@cache
def missing_words() -> list[str]:
    """Return what a missing number is written as: the empty string, ``NA``, ``?`` and the like."""
    from pyarrow import csv as arrow

    return [*arrow.ConvertOptions().null_values, *_ALSO_MISSING]


def parse_numbers(values: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return strings as numbers, null for a missing one and any other string, and the places of the latter."""
    import pyarrow as pa
    from pyarrow import compute as pc

    nowhere = np.empty(0, dtype=np.intp)
    try:
        return values.cast(pa.float64()), nowhere
    except pa.ArrowInvalid:
        cleaned = _cleaned(values)
    try:
        return cleaned.cast(pa.float64()), nowhere
    except pa.ArrowInvalid:
        pass
    # Arrow does not say which value failed. Testing each would be slow, so only the doubtful ones are tested.
    like = pc.match_substring_regex(cleaned, _LIKE_A_NUMBER)
    doubtful = cleaned.filter(pc.and_not(like, pc.match_substring_regex(cleaned, _NUMBER))).unique()
    strange = [one for one in doubtful.to_pylist() if not _is_number(one)]
    mask = pc.or_(pc.invert(like), pc.is_in(cleaned, value_set=pa.array(strange, pa.string())))
    mask = pc.fill_null(mask, fill_value=False)
    numbers = pc.if_else(mask, pa.scalar(None, pa.string()), cleaned).cast(pa.float64())
    return numbers, np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _cleaned(values: Any) -> Any:
    """Return strings that should be numbers as Arrow's CSV reader treats them: trimmed, and null where missing."""
    import pyarrow as pa
    from pyarrow import compute as pc

    missing = pc.is_in(values, value_set=pa.array(missing_words()))
    return pc.if_else(missing, pa.scalar(None, pa.string()), pc.utf8_trim(values, " \t"))


def _is_number(text: str) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
