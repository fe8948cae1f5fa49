"""The house rules: names that mean one thing, small files, no copies beside their twins, plain English.

Only the text of the source is read; nothing of the library is imported. Each failure lists file:line.
"""

import ast
import re
import runpy
from collections import defaultdict
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

MOST_LINES = 400
EQUAL_LINES = 6
# The passes for two and for more classes open their loops alike; a call between would cost more than a short row.
TWIN_LOOPS = ROOT / "src/onlinear/engine/passes.py"


def place(path, line):
    return f"{path.relative_to(ROOT)}:{line}"


def report(findings):
    """Fail with the list of what was found, unless it is empty."""
    wrong = list(findings)
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} found", *wrong]), pytrace=False)


# --- Names ----------------------------------------------------------------------------------------

# Names that may stand in several files, with those files (or their folder): all of a name's places must be covered.
SHARED = [
    # A loop in plain Python and its compiled form, which replaces it.
    (
        {"address", "all_below", "lane_add", "lane_dot", "lane_squares"} | {"dense_class_sums", "sparse_class_sums"},
        ["onlinear/engine/flat.py", "onlinear/engine/vectors.py"],
    ),
    (
        {"choose", "entries_at", "holds_somewhere", "places_at", "places_from", "plus", "put", "quotient", "root"}
        | {"stride", "take"},
        ["onlinear/engine/groups.py", "onlinear/engine/lanes.py"],
    ),
    ({"digits", "digits_of", "first_mark", "marks"}, ["onlinear/engine/*", "onlinear/streams/formats/text/*"]),
    # A rule with its faces: scikit-learn's and River's names are their users'.
    (
        {
            "AutoClassifier",
            "MarginPerceptronClassifier",
            "OnlineClassifier",
            "PerceptronClassifier",
            "WinnowClassifier",
        },
        ["onlinear/estimators/*", "onlinear/river/*"],
    ),
]


def definitions(tree):
    """Yield a module's classes, private ones too, and its public functions, but for those that teach numba."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_"), node.lineno
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if "overload" not in decorators:
                yield node.name, node.lineno


def is_shared(name, paths):
    patterns = list(chain.from_iterable(files for names, files in SHARED if name in names))
    return all(any(path.match(pattern) for pattern in patterns) for path in paths)


def test_no_two_classes_or_public_functions_share_a_name():
    places = defaultdict(list)
    for path in SOURCES:
        for name, line in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            places[name].append((path, line))
    report(
        f"{name}: " + ", ".join(place(path, line) for path, line in found)
        for name, found in sorted(places.items())
        if len(found) > 1 and not is_shared(name, [path for path, _ in found])
    )


# --- Sizes ----------------------------------------------------------------------------------------


def test_files_are_short():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    report(place(path, length) for path, length in lengths.items() if length > MOST_LINES)


# --- Copies ---------------------------------------------------------------------------------------


def lines_of(node):
    return range(node.lineno, node.end_lineno + 1)


def kept_parameters(node):
    """Yield the statements of a constructor that keep a parameter under its own name, as scikit-learn asks."""
    for statement in node.body:
        match statement:
            case ast.Assign([ast.Attribute(ast.Name("self"), attribute)], ast.Name(name)) if attribute == name:
                yield statement


def conventional_lines(tree):
    """Yield the lines that may be equal, for convention has it so.

    These are imports, signatures with their decorators, numpydoc's sections, the fields of a class, a constructor's
    ``self.name = name``, and arguments that are given by name.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.keyword):
            yield from lines_of(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from range(min(part.lineno for part in (node, *node.decorator_list)), node.body[0].lineno)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            yield from chain.from_iterable(map(lines_of, kept_parameters(node)))
        if isinstance(node, ast.ClassDef):
            yield from chain.from_iterable(lines_of(field) for field in node.body if isinstance(field, ast.AnnAssign))
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node):
            text = node.body[0]
            section = re.search(r"\n *(Parameters|Attributes|Returns|Raises)\n *-{3,}\n", text.value.value)
            if section:
                yield from range(text.lineno + text.value.value[: section.start()].count("\n"), text.end_lineno + 1)


def runs_of_lines(text):
    """Return the lines between conventional ones, each as (line number, line); blank lines do not count."""
    conventional = set(conventional_lines(ast.parse(text)))
    runs = [[]]
    for number, line in enumerate(text.splitlines(), start=1):
        if number in conventional:
            runs.append([])
        elif line.strip():
            runs[-1].append((number, " ".join(line.split())))
    return runs


def copies(texts):
    """Return groups of places where the same lines stand; the text of each file is given by its path."""
    windows = defaultdict(list)
    for path, text in texts.items():
        for run in runs_of_lines(text):
            for first in range(len(run) - EQUAL_LINES + 1):
                window = run[first : first + EQUAL_LINES]
                windows[tuple(line for _, line in window)].append((path, window[0][0]))
    return [found for found in windows.values() if len(found) > 1]


def test_no_six_lines_stand_twice():
    found = copies({path: path.read_text(encoding="utf-8") for path in SOURCES})
    report(
        " = ".join(place(path, line) for path, line in group)
        for group in found
        if {path for path, _ in group} != {TWIN_LOOPS}
    )


def test_copies_are_seen():
    body = "".join(f"x = {k}\n\n" for k in range(EQUAL_LINES))
    assert copies({"a": body, "b": "y = 0\n" + body}) == [[("a", 1), ("b", 2)]]
    assert copies({"a": body, "b": body.replace("x = 3", "x = 4")}) == []


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("", "import m{}\n", ""),
        ("def f(\n", "    p{},\n", "):\n    return p0\n"),
        ('"""Do.\n\nParameters\n----------\n', "p{}\n    A number.\n", '"""\n'),
        ("class C:\n", "    p{}: int\n", ""),
        ("class C:\n    def __init__(self, p):\n", "        self.p{0} = p{0}\n", ""),
        ("f(\n", "    p{}=1,\n", ")\n"),
    ],
    ids=["imports", "signature", "numpydoc", "fields", "constructor", "arguments"],
)
def test_conventions_are_no_copies(before, line, after):
    text = before + "".join(line.format(k) for k in range(2 * EQUAL_LINES)) + after
    assert copies({"a": text, "b": text}) == []


# --- English --------------------------------------------------------------------------------------

# Each with what to write instead. Spaces match line breaks, too.
BANNED = {
    r"so many": "this many; or the number itself",
    r"\bone (score|type|vector|weight|file|function|array|column|pass|number|row|line) an? \w+": "one ... per ...",
    r"what (it|they|\w+) (is|are) worth": "its guarantee",
    r"an? \w+ of its (fails|is|has)\b": "one of its ...",
    r"is no other number than": "rounds to",
    r"on one of its ways": "on some path",
    r"\bof one size\b|\bhave one size\b": "equal",
    r"leads outside": "exceeds",
    r"is no label": "is not a label; label is NaN",
    r"says? nothing about": "does not apply to",
    r"that no example can be made of": "malformed",
    r"the faces people know": "scikit-learn and River",
    r"how often all is read": "the number of passes over the data",
    r"of no data there is": "no data, ...",
    r"what its passes end by": "convergence assumes",
    r"(anything|something|nothing) to hope for": "whether the data are separable",
    r"not a thing for": "not thread-safe",
    r"to anybody's taste": "needs at least one column",
    r"the way of the data": "data flow",
}


def banned(text):
    """Yield the places of banned phrases in a text: line number, phrase, what to write instead."""
    for pattern, better in BANNED.items():
        # A comment's line break has its # behind it.
        spaced = pattern.replace(" ", r"(?:\s+(?:#\s*)?)")
        for match in re.finditer(spaced, text, re.IGNORECASE):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), better


@pytest.mark.parametrize("files", [SOURCES, PAGES], ids=["source", "pages"])
def test_no_banned_phrases(files):
    report(
        f"{place(path, line)}: “{phrase}”; better: {better}"
        for path in files
        for line, phrase, better in sorted(banned(path.read_text(encoding="utf-8")))
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("So many weights.", 1),
        ("x = 1  # so\n# many\n", 1),
        ("\nroom for one score a class", 2),
        ("one function\n    a theorem", 1),
        ("An assumption of its fails", 1),
        ("every number with what it is worth", 1),
    ],
)
def test_banned_phrases_are_seen(text, line):
    assert [found for found, _, _ in banned(text)] == [line]


@pytest.mark.parametrize("text", ["one row at a time", "this many", "one function per theorem"])
def test_plain_phrases_are_left_alone(text):
    assert list(banned(text)) == []


# --- Planted faults -------------------------------------------------------------------------------


def test_the_planted_faults_that_are_listed_exist():
    mutants = ROOT / "mutants"
    faults = runpy.run_path(str(mutants / "faults.py"))
    listed = set(faults["ALWAYS"])
    for name in ("hints.txt", "survivors.txt"):
        lines = (mutants / name).read_text(encoding="utf-8").splitlines()
        listed |= {line for line in lines if line and not line.startswith(("#", "    "))}
    known = {fault.name for path in {name.split()[0] for name in listed} for fault in faults["faults_in"](path)}
    report(sorted(listed - known))
