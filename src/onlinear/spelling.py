"""How messages spell an option: as an argument in Python, and on the command line as the option of the command."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

_options: dict[str, str] = {}
"""The options of the command that runs, by the names of the arguments that they stand for."""


def option(name: str, value: Any = None) -> str:
    """Return an argument as its user writes it: ``max_features`` or ``--max-features``, with a value if there is one.

    Examples
    --------
    >>> option("classes"), option("missing", "zero"), option("strict", True)
    ('classes', "missing='zero'", 'strict=True')
    >>> with command_line({"missing": "--missing", "strict": "--strict"}):
    ...     option("classes"), option("missing", "zero"), option("strict", True)
    ('classes', '--missing zero', '--strict')
    """
    if name not in _options:
        return name if value is None else f"{name}={value!r}"
    if isinstance(value, dict):
        value = ",".join(f"{key}={one}" for key, one in value.items())
    return _options[name] if value in (None, True) else f"{_options[name]} {value}"


@contextlib.contextmanager
def command_line(options: Mapping[str, str]) -> Iterator[None]:
    """Spell arguments as these options of a command, as long as it runs."""
    before = dict(_options)
    _use(options)
    try:
        yield
    finally:
        _use(before)


def _use(options: Mapping[str, str]) -> None:
    # A variable of the module, not of a context: readers in other threads raise errors, too.
    _options.clear()
    _options.update(options)
