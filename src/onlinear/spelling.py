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


def advice(*pieces: tuple[str, str, Any]) -> list[str]:
    """Return the pieces of advice that can be followed: all in Python, and in a command those whose option it has.

    Parameters
    ----------
    *pieces : (str, str, object)
        Words with ``{}`` in the place of the option; the option; its value or None.

    Examples
    --------
    >>> pieces = ("declare them ({})", "classes", None), ("accept new ones ({})", "new_classes", True)
    >>> advice(*pieces)
    ['declare them (classes)', 'accept new ones (new_classes=True)']
    >>> with command_line({"classes": "--classes"}):
    ...     advice(*pieces)
    ['declare them (--classes)']
    """
    return [words.format(option(name, value)) for words, name, value in pieces if not _options or name in _options]


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
