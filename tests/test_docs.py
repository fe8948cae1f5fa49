"""What the theory pages and the guides refer to exists: functions, tests, pages; and the table has every bound."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from onlinear.theory import bounds

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
GUIDES = [*sorted((ROOT / "docs").glob("coming-from-*.md")), ROOT / "docs" / "which-rule.md"]
MAPS = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/engine.md", "docs/guide.md")
]
LIBRARY = ROOT / "src" / "onlinear"
INDEX = ROOT / "docs" / "theory" / "README.md"


def exists(dotted):
    """Whether a dotted name leads somewhere, by attributes, or by modules where there is no attribute."""
    first, *rest = dotted.split(".")
    thing = importlib.import_module(first)
    for part in rest:
        if not hasattr(thing, part):
            try:
                thing = importlib.import_module(f"{thing.__name__}.{part}")
            except (AttributeError, ImportError):
                return False
        else:
            thing = getattr(thing, part)
    return True


def unknown_names(text):
    return [name for name in re.findall(r"`(onlinear(?:\.\w+)+)", text) if not exists(name)]


def unknown_tests(text):
    def there(path, name):
        file = ROOT / path
        return file.is_file() and re.search(rf"^def {name}\(", file.read_text(encoding="utf-8"), re.MULTILINE)

    references = re.findall(r"(tests/[\w/]+\.py)::(\w+)", text)
    return [f"{path}::{name}" for path, name in references if not there(path, name)]


def unknown_files(text):
    """Return paths of files that are neither in the repository nor in the library."""
    paths = re.findall(r"`((?:\w+/)+\w+\.py)`", text)
    return [path for path in paths if not any((folder / path).is_file() for folder in (ROOT, LIBRARY))]


def unknown_links(text, page):
    """Return links to pages, or to headings of pages, that are not there."""
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = link.partition("#")
        other = page.parent / name if name else page
        if not other.is_file() or (anchor and anchor not in anchors(other.read_text(encoding="utf-8"))):
            missing.append(link)
    return missing


def anchors(text):
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows(text):
    """Return the rows of the table of statements, as lists of cells; an escaped bar is part of a cell."""
    lines = text.partition("## Equation, function, test")[2].splitlines()
    table = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in table[2:]]


def absent_bounds(text):
    named = {name for row in rows(text) for name in re.findall(r"`onlinear\.theory\.bounds\.(\w+)`", row[2])}
    return [name for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name)) and name not in named]


@pytest.mark.parametrize("page", [*PAGES, *GUIDES, *MAPS], ids=lambda page: page.name)
def test_what_a_page_refers_to_exists(page):
    text = page.read_text(encoding="utf-8")
    assert unknown_names(text) == []
    assert unknown_tests(text) == []
    assert unknown_files(text) == []
    assert unknown_links(text, page) == []


def test_the_map_has_every_package_and_module_at_the_top():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [
        f"{init.parent.name}/" for init in [*LIBRARY.glob("*/__init__.py"), *LIBRARY.glob("theory/*/__init__.py")]
    ]
    modules = [path.name for path in LIBRARY.glob("[a-z]*.py")]
    assert [name for name in packages + modules if not re.search(rf"^ +{re.escape(name)} ", text, re.MULTILINE)] == []


def test_the_table_has_every_bound_and_every_row_is_whole():
    text = INDEX.read_text(encoding="utf-8")
    assert absent_bounds(text) == []
    for statement, equation, function, test in rows(text):
        assert statement
        assert equation
        assert "`onlinear." in function, statement
        assert "::test_" in test, statement
    statements = [row[0] for row in rows(text)]
    assert statements[:13] == [f"P{k}" for k in range(1, 14)]
    assert len(set(statements)) == len(statements)


def test_every_page_is_in_the_index():
    text = INDEX.read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page != INDEX and f"({page.name})" not in text] == []


def test_faults_are_seen():
    assert unknown_names("`onlinear.theory.bounds.perceptron(X, y)` and `onlinear.theory.lemmas.verify_lemmas`") == []
    false = ["onlinear.theory.bounds.perceptrons", "onlinear.nothing", "onlinear.theory.bounds.hinge.nothing"]
    assert unknown_names(" ".join(f"`{name}`" for name in false)) == false
    assert unknown_tests("`tests/test_docs.py::test_faults_are_seen`") == []
    false = ["tests/test_docs.py::test_nothing", "tests/test_nothing.py::test_faults_are_seen"]
    assert unknown_tests(", ".join(false)) == false
    assert unknown_files("`tests/test_docs.py` `engine/passes.py` `engine/nothing.py`") == ["engine/nothing.py"]
    false = "[a](nothing.md) [b](README.md#nothing)"
    assert unknown_links(f"[c](README.md) {false}", INDEX) == ["nothing.md", "README.md#nothing"]
    text = INDEX.read_text(encoding="utf-8")
    without = "\n".join(line for line in text.splitlines() if "bounds.halving" not in line)
    assert absent_bounds(without) == ["halving"]
