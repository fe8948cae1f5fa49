"""Write docs/reference.md from the docstrings."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import onlinear

PAGES = {
    "onlinear": [
        name for name in onlinear.__all__ if name[0] != "_" and name not in {"rules", "datasets", "errors", "theory"}
    ],
    "onlinear.rules": onlinear.rules.__all__,
    "onlinear.datasets": onlinear.datasets.__all__,
    "onlinear.theory": [name for name in onlinear.theory.__all__ if name not in {"bounds", *onlinear.__all__}],
    "onlinear.theory.bounds": onlinear.theory.bounds.__all__,
    "onlinear.errors": [name for name in vars(onlinear.errors) if name.endswith("Error")],
}


def entry(module: Any, name: str) -> str:
    """Return the text for one public name."""
    thing = getattr(module, name)
    signature = f"({', '.join(thing._fields)})" if hasattr(thing, "_fields") else ""
    if inspect.isfunction(thing):
        signature = str(inspect.signature(thing, eval_str=False)).replace("'", "")
    lines = [f"### `{name}{signature}`", "", "```text", inspect.getdoc(thing) or "", "```", ""]
    for attribute, member in vars(thing).items() if inspect.isclass(thing) else ():
        if isinstance(member, property):
            lines += [f"- `{attribute}`: {(inspect.getdoc(member) or '').partition(chr(10))[0]}"]
    return "\n".join([*lines, ""])


def reference() -> str:
    """Return the page."""
    parts = ["# Reference", "", "Written from the code by `make docs`.", ""]
    for page, names in PAGES.items():
        module = importlib.import_module(page)
        parts += [f"## {page}", "", inspect.getdoc(module), ""]
        parts += [entry(module, name) for name in names]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("reference.md").write_text(reference(), encoding="utf-8")
