"""Where commands read and write: nothing is written over what is read, and no two things into one file."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

STDIN = "-"
_REPLACED = ("--output", "--from")
"""Going on from a model may put the new one in its place."""


def read_once(data: Iterable[str]) -> str:
    """Return what can be read only once, in words, if any of the data can."""
    for each in data:
        if each == STDIN:
            return "the standard input"
        if Path(each).exists() and not Path(each).is_file() and not Path(each).is_dir():
            return each
    return ""


def check_places(outputs: Mapping[str, str | None], data: Iterable[str], **inputs: str | None) -> None:
    """Refuse, before anything is read, a place where nothing can be written or where something would be lost.

    Parameters
    ----------
    outputs : mapping
        What is written, by the option that names it.
    data : iterable of str
        Files, folders, and what can be read only once.
    **inputs
        What else is read, by the option that names it, without its dashes.
    """
    written = {option: path for option, path in outputs.items() if path is not None}
    for option, path in written.items():
        _check_writable(option, path)
    for (one, path), (other, there) in itertools.combinations(written.items(), 2):
        if _same(path, there):
            raise click.UsageError(f"{one} and {other} are the same file: {path}")
    for option, path in written.items():
        for name, read in inputs.items():
            other = f"--{name.rstrip('_')}"
            if read is not None and (option, other) != _REPLACED and _same(path, read):
                raise click.BadParameter(f"{path} is the file of {other}, and would be lost", param_hint=option)
        for each in data:
            _check_data(option, path, each)


def _check_writable(option: str, path: str) -> None:
    place = Path(path)
    if place.is_dir():
        raise click.BadParameter(f"{path} is a folder", param_hint=option)
    if not place.parent.is_dir():
        raise click.BadParameter(f"{path}: there is no folder {place.parent}", param_hint=option)
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise click.BadParameter(f"{path} cannot be written to", param_hint=option)


def _check_data(option: str, path: str, each: str) -> None:
    files = [each]
    if Path(each).is_dir():
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(each)):
            raise click.BadParameter(f"{path} is inside {each}, and would be read as data next time", param_hint=option)
        # From outside only a link can lead to what is there.
        files = _found(each) if Path(path).exists() else []
    if any(_same(path, file) for file in files):
        raise click.BadParameter(f"{path} is among the data, and would be lost", param_hint=option)


def _found(folder: str) -> list[str]:
    from onlinear.streams.files import find_files

    return find_files(folder)


def _same(path: str, other: str) -> bool:
    """Tell whether two names are of the same file, which may not be there yet; devices can be shared."""
    try:
        status = Path(path).stat()
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)
    try:
        there = os.fstat(sys.stdin.fileno()) if other == STDIN else Path(other).stat()
    except (OSError, ValueError, AttributeError):  # nothing is there, or no file is behind the standard input
        return False
    return Path(path).is_file() and os.path.samestat(status, there)
