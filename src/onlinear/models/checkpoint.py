"""Checkpoints: model files with notes on the progress of a training run and on its options."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.chunk import Chunk
from onlinear.data.trail import Trail
from onlinear.errors import DataError, ModelError, ParameterError
from onlinear.models import file as model_file
from onlinear.models.rule import classes_in, describe
from onlinear.models.state import State
from onlinear.spelling import option
from onlinear.streams.stream import Stream

_RESTART = "remove that file to start again"


class Reached(NamedTuple):
    """The progress of a training run: completed passes, and examples read in the current one."""

    passes: int
    rows: int
    checksum: str
    """The checksum of those examples."""


class Contents(NamedTuple):
    """What a whole pass reads: the number of examples, and their checksum before any shuffling."""

    rows: int
    checksum: str


class Checkpoint:
    """Saves the state of a training run in a file.

    `request` describes the training; a file of another training is refused. Without a path nothing is saved.
    """

    def __init__(self, path: str | os.PathLike[str] | None, every: float, request: dict[str, Any]) -> None:
        if not (isinstance(every, int | float) and every >= 0.0):
            raise ParameterError(f"{option('every')} is {every!r}; it must be a number of seconds, at least 0")
        self._path = None if path is None else Path(path)
        self._every = every
        self._request = request
        self._last = time.monotonic()
        self._passes = 0
        self._trail = Trail(None)
        self.reached: Reached | None = None
        """Where to resume, until that point is reached again."""
        self.contents: Contents | None = None
        """What a whole pass reads, once there has been one."""

    def found(self, rule: Any) -> State | None:
        """Return the state to resume from, if there is a file."""
        if self._path is None or not self._path.exists():
            return None
        state, header = model_file.read(self._path, classes_in(rule))
        match header["notes"]:
            case {
                "command": dict(request),
                "passes": int(passes),
                "rows": int(rows),
                "trail": str(checksum),
            } if min(passes, rows) >= 0:
                pass
            case _:
                raise ModelError(f"{self._path}: this is a model, not a checkpoint; choose another file")
        mine = json.loads(json.dumps(self._request))
        if passes == mine["passes"] and mine["begun from"] == _outline(state):
            # Training had finished, and only the file was not removed: the model to resume from is now its result.
            request["begun from"] = mine["begun from"]
        other = [name for name in request | mine if mine.get(name) != request.get(name)]
        if other:
            made, asked = (options.get(other[0]) for options in (request, mine))
            raise ModelError(
                f"{self._path}: this checkpoint was made with {option(other[0])} = {made!r}, not {asked!r}; {_RESTART}"
            )
        self.reached = Reached(passes, rows, checksum)
        self.contents = self._contents_in(header["notes"])
        return state

    def _contents_in(self, notes: dict[str, Any]) -> Contents | None:
        """Return what a whole pass has read, by the notes of a checkpoint; none before the first one has ended."""
        match notes:
            case {"passes": 0}:
                return None
            case {"contents": [int(rows), str(checksum)]}:
                return Contents(rows, checksum)
        raise ModelError(f"{self._path}: it does not say which data it was made from; {_RESTART}")

    @property
    def finished(self) -> bool:
        """Whether training had finished, and only the result had not been saved."""
        return self.reached is not None and self.reached.passes == self._request["passes"]

    def begin_pass(self, number: int, contents: Contents | None, stream: Stream) -> None:
        """Record the start of a pass, and what the first one has read."""
        if self.reached is not None and number != self.reached.passes:
            raise self._too_short(self.reached)
        self.contents = contents
        self._passes, self._trail = number, Trail(stream.encoding)

    def pass_over(self, chunk: Chunk) -> int:
        """Record examples that were learned from before the crash, and return their number."""
        if self.reached is None or self.reached.passes != self._passes:
            return 0
        n = min(chunk.n, self.reached.rows - self._trail.rows)
        self._trail.add(chunk, slice(0, n))
        if self._trail.rows == self.reached.rows:
            if str(self._trail) != self.reached.checksum:
                rows = f"the first {self._trail.rows:,} examples"
                raise DataError(f"{rows} differ from those of {self._path}; {_RESTART}")
            self.reached = None
        return n

    def _too_short(self, reached: Reached) -> DataError:
        found = f"there are only {self._trail.rows:,}"
        return DataError(f"{self._path} was made after {reached.rows:,} examples; {found}; {_RESTART}")

    def keep(self, learner: Any, stream: Stream, chunk: Chunk, first: int) -> None:
        """Record examples from `first` on that were learned from, and save the state at intervals."""
        if self._path is None or first == chunk.n:
            return
        self._trail.add(chunk, slice(first, chunk.n))
        if time.monotonic() - self._last >= self._every:
            learner.take_names(stream.names)
            self._write(self._path, learner.glance())
            self._last = time.monotonic()

    def finish(self, state: State, contents: Contents | None) -> None:
        """Save the last state, so that a crash before the result is saved loses nothing."""
        if self.reached is not None and not self.finished:
            raise self._too_short(self.reached)
        self.contents = contents
        if self._path is not None:
            self._passes, self._trail = self._request["passes"], Trail(None)
            self._write(self._path, state)

    def _write(self, path: Path, state: State) -> None:
        rows, checksum = self._trail.rows, str(self._trail)
        notes = {"command": self._request, "passes": self._passes, "rows": rows, "trail": checksum}
        contents = {} if self.contents is None else {"contents": list(self.contents)}
        model_file.write(path, state, notes=notes | contents)

    def remove(self) -> None:
        """Remove the file after training."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def describe_training(rule: Any, state: State | None, start: Any, **options: Any) -> dict[str, Any]:
    """Return the arguments of a training run as JSON."""
    described, arrays = _described(rule)
    members = [[*_described(one.rule), one.fit_intercept, one.normalize] for one in getattr(rule, "members", ())]
    return {
        "rule": described,
        "rule's arrays": arrays,
        **({"members": members} if members else {}),
        "begun from": None if state is None else _outline(state),
        "start": None if start is None else _digest(*(start if isinstance(start, tuple) else [start])),
        **options,
    }


def _described(rule: Any) -> tuple[dict[str, Any], str | None]:
    """Return a rule as JSON, and a digest of the arrays among its parameters, if there are any."""
    described, tensors = describe(rule)
    return described, _digest(*(tensors[name] for name in sorted(tensors))) if tensors else None


def _digest(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _outline(state: State) -> list[Any]:
    return [state.rounds, state.updates, state.checksum]
