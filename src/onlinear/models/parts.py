"""The models within a model file: those of a majority's members, and that of its follower.

A part is described by its entry in the header, and its arrays have names that begin with the name of the part:
``members.0.weights``. What all parts share, such as the classes, stands in the header of the whole.
"""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import ModelError
from onlinear.models.state import State
from onlinear.models.tensors import VERSIONS, TensorFile
from onlinear.rules.experts import RandomizedWeightedMajority

FOLLOWING = RandomizedWeightedMajority("anytime")
"""What follows a member of every majority at random."""
MEMBERS = "members"
FOLLOWER = "follower"
_SHARED = ("format", "sha256", "classes", "n_features")
_ABSENT: dict[str, Any] = {
    "kind": "Run",
    "version": VERSIONS[0],
    **dict.fromkeys(("reading", "fingerprint", "outcome", "notes")),
}
"""What the header of a part has no value of its own for."""


class Parts(NamedTuple):
    """A file divided: what belongs to the whole, and each part as if it were a file of its own."""

    whole: TensorFile
    members: list[TensorFile]
    follower: TensorFile | None


def is_made_of_members(header: dict[str, Any]) -> bool:
    """Tell whether a header is that of a majority."""
    return MEMBERS in header


def part_name(number: int) -> str:
    """Return the name of a member, with which the names of its arrays begin."""
    return f"{MEMBERS}.{number}"


def divide(file: TensorFile) -> Parts:
    """Return the parts of a file; a file without members is a whole without parts."""
    header = file.header
    if not (is_made_of_members(header) or FOLLOWER in header):
        return Parts(file, [], None)
    match header:
        case {"members": [_, *_] as members, "follower": dict(follower), "rule": {"name": "Majority"}}:
            pass
        case _:
            raise ModelError("invalid header: a Majority, and no other rule, must have members and a follower")
    if not all(isinstance(member, dict) for member in members):
        raise ModelError(f"invalid header: members is {reprlib.repr(members)}")
    described = {part_name(i): member for i, member in enumerate(members)} | {FOLLOWER: follower}
    parts = [_part(file, name, entry) for name, entry in described.items()]
    parts[-1].header["n_features"] = len(members)  # the follower learns from their advice
    begins = tuple(f"{name}." for name in described)
    rest = {name: entry for name, entry in file.entries.items() if not name.startswith(begins)}
    return Parts(file._replace(entries=rest), parts[:-1], parts[-1])


def _part(file: TensorFile, name: str, entry: dict[str, Any]) -> TensorFile:
    shared = {key: file.header[key] for key in _SHARED if key in file.header}
    given = _ABSENT | shared
    taken = sorted(entry.keys() & given.keys())
    if taken:
        raise ModelError(f"invalid header: {name} has {taken[0]} of its own")
    entries = {key.removeprefix(f"{name}."): at for key, at in file.entries.items() if key.startswith(f"{name}.")}
    return TensorFile(given | entry, entries, file.file)


def check_majority(header: dict[str, Any], follower: State, weights: NDArray[Any]) -> None:
    """Raise unless the follower is the one that every majority has, and its counts and the weights are possible."""
    if (weights < 0.0).any() or not weights.sum() > 0.0:
        raise ModelError("the weights of its members must be at least 0, and not all 0")
    if header["fit_intercept"] or header["normalize"]:
        raise ModelError("a majority has no intercept and no normalization of its own; its members have")
    rounds = header["rounds"]
    if type(follower.rule) is not RandomizedWeightedMajority or follower.rule != FOLLOWING or follower.rounds != rounds:
        raise ModelError(f"its follower is {follower.rule!r} after {follower.rounds:,} rounds, not {FOLLOWING!r}")
    m, expected = follower.arrays.m, follower.arrays.expected
    if not ((m >= 0.0) & (m <= rounds) & (m == np.floor(m))).all() or not 0.0 <= expected.sum() <= rounds:
        raise ModelError("the mistakes that its follower has counted are impossible")
