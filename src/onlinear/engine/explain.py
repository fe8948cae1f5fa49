"""numba's report of what it could not compile, in a sentence."""

from __future__ import annotations

import re
import traceback

RULE_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What the code of a rule may raise."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STAGE = re.compile(r"Failed in \w+ mode pipeline \(step: [^)]*\)")
_PLACE = re.compile(r'File "([^"]+)", line (\d+):\n(?:.*\n)*?(.*)\n\s*\^')
_NOT_THEIRS = re.compile(r"site-packages/numba/|(^|/)onlinear/engine/")
_NOT_RULES = re.compile(r"(^|/)onlinear/(runs|models)/|site-packages/numpy/")
_ROW = re.compile(r"(Dense|Sparse)Row\(|'NamedTuple' object has no attribute|float64\*")
# What numba says where a function that must not allocate does.
_ALLOCATION = ("NRT required", "Only accept returning of array passed into the function")


def place_in_rule(error: BaseException) -> str:
    """Return where in the rule's code an error was raised, to be put after a message; nothing where that is unknown."""
    found = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not _NOT_THEIRS.search(frame.filename) and not _NOT_RULES.search(frame.filename)
    ]
    return f", at {found[-1].filename}:{found[-1].lineno}: {found[-1].line}".rstrip(": ") if found else ""


def explain(report: str) -> str:
    """Return the cause and its place in the user's code from a report of several pages.

    Reports nest: each stage that failed quotes the stage within it, so the cause is the first line
    after the innermost one.
    """
    report = _COLOUR.sub("", report)
    if any(sign in report for sign in _ALLOCATION):
        cause = "it allocates memory in a round; allocate it in start() instead"
    elif "readonly array" in report:
        cause = "score() writes to the state; only update() may write"
    elif "mul(float64, none)" in report:
        cause = "update() returns None on some path; it must return the size of the step, or whether one was taken"
    else:
        lines = [line.strip() for line in _STAGE.split(report)[-1].splitlines() if line.strip()]
        cause = lines[0] if lines else "numba gives no reason"
        if cause.endswith("found for signature:") and len(lines) > 1:
            cause = f"there is no {lines[1].removeprefix('>>> ')}"
    if _ROW.search(cause):
        cause = "x is a row, not an array: use dot(w, x), add(w, a, x), and value(x, k) to look into it"
    elif cause.startswith("Unknown attribute"):
        cause = f"{cause.partition(' of type')[0]}; compiled methods see fields and plain methods only"
    for path, line, text in _PLACE.findall(report):
        if not _NOT_THEIRS.search(path):
            return f"{cause}, at {path}:{line}: {text.strip()}"
    return cause
