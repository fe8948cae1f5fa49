"""Checks of input and output files: no output overwrites an input or another output."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

STDIN = "-"
_REPLACED = ("--output", "--from")
"""A resumed model may replace the one it was resumed from."""


def read_once(data: Iterable[str]) -> str:
    """Return the name of an input that can be read only once, such as a pipe, if there is one."""
    for each in data:
        if each == STDIN:
            return "the standard input"
        if Path(each).exists() and not Path(each).is_file() and not Path(each).is_dir():
            return each
    return ""


def check_places(outputs: Mapping[str, str | None], data: Iterable[str], **inputs: str | list[str] | None) -> None:
    """Raise, before anything is read, if an output cannot be written or would overwrite another file in use.

    Parameters
    ----------
    outputs : mapping
        The output files by option.
    data : iterable of str
        Files, folders, and pipes.
    **inputs
        Other input files by option, without its dashes.
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
            files = [] if read is None or (option, other) == _REPLACED else [read] if isinstance(read, str) else read
            if any(_same(path, file) for file in files):
                raise click.BadParameter(f"{path} is the file of {other}, and would be overwritten", param_hint=option)
        for each in data:
            _check_data(option, path, each)


def _check_writable(option: str, path: str) -> None:
    place = Path(path)
    if place.is_dir():
        raise click.BadParameter(f"{path} is a folder", param_hint=option)
    if not place.parent.is_dir():
        raise click.BadParameter(f"{path}: the folder {place.parent} does not exist", param_hint=option)
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise click.BadParameter(f"{path} is not writable", param_hint=option)


def _check_data(option: str, path: str, each: str) -> None:
    files = [each]
    if Path(each).is_dir():
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(each)):
            raise click.BadParameter(f"{path} is inside {each}, and would be read as data next time", param_hint=option)
        # A path outside the folder can only be a link to a file in it.
        files = _found(each) if Path(path).exists() else []
    if any(_same(path, file) for file in files):
        raise click.BadParameter(f"{path} is among the data, and would be overwritten", param_hint=option)


def _found(folder: str) -> list[str]:
    from onlinear.streams.files import find_files

    return find_files(folder)


def _same(path: str, other: str) -> bool:
    """Tell whether two paths are the same regular file, which need not exist yet."""
    try:
        status = Path(path).stat()
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)
    try:
        there = os.fstat(sys.stdin.fileno()) if other == STDIN else Path(other).stat()
    except (OSError, ValueError, AttributeError):  # it does not exist, or the standard input is not a file
        return False
    return Path(path).is_file() and os.path.samestat(status, there)
