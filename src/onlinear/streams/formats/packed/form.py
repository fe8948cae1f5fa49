"""The converted form, as writer and reader know it: Arrow or Parquet, with what is known at its end.

A file has two columns. `label` is one of the two classes. `features` is a list of (index, value) pairs, or
of a fixed number of values where the examples are dense. The key ``onlinear`` in the schema's metadata marks
the form. The key ``onlinear.end`` says what only the end of a stream tells: the names and the number of
features, the classes, the number of examples, and a checksum for each batch. It stands with a batch
without rows, the last one, in an Arrow file, and with the file's own metadata in Parquet.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import Checksum, RowSums
from onlinear.errors import DataError

MARK = b"onlinear"
END = b"onlinear.end"
VERSION = 1
SUMS = ("plain", "turned")
"""The columns of the row sums, from which a checksum is computed."""
_DAMAGED = "the file is damaged (convert it again)"


@dataclass(frozen=True, eq=False)
class End:
    """What is known at the end of a stream."""

    classes: NDArray[Any]
    reading: dict[str, Any]
    names: tuple[str, ...] | None
    n_features: int
    n_examples: int
    sums: list[str]

    def text(self) -> bytes:
        """Return this as text, with its checksum before it."""
        told = {
            "packed": VERSION,
            "classes": self.classes.tolist(),
            "reading": self.reading,
            "names": None if self.names is None else list(self.names),
            "n_features": self.n_features,
            "n_examples": self.n_examples,
            "sums": self.sums,
        }
        text = json.dumps(told).encode()
        return f"{zlib.crc32(text):08x}".encode() + text

    @staticmethod
    def of(text: bytes | None, place: str) -> End:
        """Read back what `text` has written."""
        if text is None:
            raise DataError(f"{place}: its end is missing: it was cut off, or is no converted file")
        if text[:8] != f"{zlib.crc32(text[8:]):08x}".encode():
            raise damaged(place)
        try:
            told = json.loads(text[8:])
            if told["packed"] != VERSION:
                raise DataError(
                    f"{place}: version {told['packed']!r} of the form; here it is {VERSION} (convert it again)"
                )
            names = told["names"]
            end = End(
                np.array(told["classes"]),
                dict(told["reading"]),
                None if names is None else tuple(map(_text, names)),
                _count(told["n_features"]),
                _count(told["n_examples"]),
                [_text(one) for one in _list(told["sums"])],
            )
            two = end.classes.shape == (2,) and end.classes[0] != end.classes[1] and end.classes.dtype.kind in "ifbU"
        except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise damaged(place) from error
        if not two or (end.names is not None and len(end.names) > end.n_features):
            raise damaged(place)
        return end


def damaged(place: str) -> DataError:
    """Return the error for what no writer has written."""
    return DataError(f"{place}: {_DAMAGED}")


def schema(end: End, sparse: bool, values: np.dtype[Any], width: int) -> Any:
    """Return the schema: the types of labels and features."""
    import pyarrow as pa

    labels = {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "U": pa.string()}
    number = pa.from_numpy_dtype(values)
    if sparse:
        pair = pa.struct([pa.field("index", pa.int32(), nullable=False), pa.field("value", number, nullable=False)])
        features = pa.list_(pa.field("item", pair, nullable=False))
    else:
        features = pa.list_(pa.field("item", number, nullable=False), width)
    mark = {"packed": VERSION, "classes": end.classes.tolist(), "reading": end.reading}
    return pa.schema(
        [
            pa.field("label", labels[end.classes.dtype.kind], nullable=False),
            pa.field("features", features, nullable=False),
            *(pa.field(name, pa.uint64(), nullable=False) for name in SUMS),
        ],
        metadata={MARK: json.dumps(mark).encode()},
    )


def batch_sum(sums: RowSums, positive: NDArray[np.bool_]) -> str:
    """Return the checksum of the examples of a batch, from the beginning."""
    checksum = Checksum()
    checksum.add(sums, np.where(positive, np.int8(1), np.int8(-1)))
    return str(checksum)


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(value)
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
