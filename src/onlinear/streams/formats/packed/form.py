"""The layout of converted files, Arrow or Parquet, with an end record.

A file has two columns. `label` is one of the classes. `features` is a list of (index, value) pairs, or
of a fixed number of values where the examples are dense. The key ``onlinear`` in the schema's metadata marks
a converted file. The end record, with the key ``onlinear.end``, holds what is known only at the end of a stream: the
names and the number of features, the classes, the number of examples, and a checksum for each batch. An Arrow file
has it in the metadata of a last batch without rows, a Parquet file in the metadata of the file.
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
"""The columns of the row sums from which checksums are computed."""
_DAMAGED = "the file is damaged (convert the data again)"


@dataclass(frozen=True, eq=False)
class End:
    """The end record."""

    classes: NDArray[Any]
    reading: dict[str, Any]
    names: tuple[str, ...] | None
    n_features: int
    n_examples: int
    sums: list[str]

    def text(self) -> bytes:
        """Return the record as text, after its checksum."""
        record = {
            "packed": VERSION,
            "classes": self.classes.tolist(),
            "reading": self.reading,
            "names": None if self.names is None else list(self.names),
            "n_features": self.n_features,
            "n_examples": self.n_examples,
            "sums": self.sums,
        }
        text = json.dumps(record).encode()
        return f"{zlib.crc32(text):08x}".encode() + text

    @staticmethod
    def of(text: bytes | None, place: str) -> End:
        """Return the record that `text` was made from."""
        if text is None:
            raise DataError(f"{place}: the end record is missing: the file is truncated, or not a converted one")
        if text[:8] != f"{zlib.crc32(text[8:]):08x}".encode():
            raise damage_error(place)
        try:
            record = json.loads(text[8:])
            if record["packed"] != VERSION:
                raise DataError(
                    f"{place}: version {record['packed']!r} is not supported, only {VERSION} (convert the data again)"
                )
            names = record["names"]
            end = End(
                np.array(record["classes"]),
                dict(record["reading"]),
                None if names is None else tuple(map(_text, names)),
                _count(record["n_features"]),
                _count(record["n_examples"]),
                [_text(one) for one in _list(record["sums"])],
            )
            known = end.classes.ndim == 1 and end.classes.dtype.kind in "ifbU"
            distinct = known and 2 <= end.classes.size == np.unique(end.classes).size
        except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise damage_error(place) from error
        if not distinct or (end.names is not None and len(end.names) > end.n_features):
            raise damage_error(place)
        return end


def damage_error(place: str) -> DataError:
    """Return the error for a damaged file."""
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


def batch_sum(sums: RowSums, codes: NDArray[Any]) -> str:
    """Return the checksum of a batch."""
    checksum = Checksum()
    checksum.add(sums, codes)
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
