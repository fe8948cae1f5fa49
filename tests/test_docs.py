"""What the theory pages and the guides refer to exists: functions, tests, pages; and the table has every bound."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from onlinear import experiments
from onlinear.theory import bounds

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
GUIDES = [*sorted((ROOT / "docs").glob("coming-from-*.md")), ROOT / "docs" / "which-rule.md"]
MAPS = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/engine.md", "docs/guide.md")
]
LIBRARY = ROOT / "src" / "onlinear"
INDEX = ROOT / "docs" / "theory" / "README.md"
NOTES = ROOT / "docs" / "theory" / "notes.md"
EARLIER_NAMES = LIBRARY / "theory" / "certificate" / "wording.py"


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


def table_rows(text):
    """Return the rows of a text's tables, without their heads, as lists of cells; an escaped bar is part of a cell."""
    tables = re.findall(r"^\|.*\n\|[-|]+\|\n((?:\|.*\n)*)", text, re.MULTILINE)
    lines = [line for table in tables for line in table.splitlines()]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def rows(text):
    """Return the rows of the table of statements."""
    return table_rows(text.partition("## Equation, function, test")[2])


def all_bounds():
    return [name for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name))]


def absent_bounds(text):
    named = {name for row in rows(text) for name in re.findall(r"`onlinear\.theory\.bounds\.(\w+)`", row[2])}
    return [name for name in all_bounds() if name not in named]


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
    assert len(set(statements)) == len(statements)
    assert list(theorem_names()) == [*range(1, 14), 18, 19]


def test_every_page_is_in_the_index():
    text = INDEX.read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page != INDEX and f"({page.name})" not in text] == []


# --- The lecture notes ----------------------------------------------------------------------------

# What has a number or a name of its own in each note.
NUMBERED = {
    "000": [],
    "001": ["Assumption M", "Lemma 0.1", *(f"Eq. {k}" for k in (1, 2))],
    "002": [
        *("Lemma 1", "Theorem 2", "Lemma 3", "Lemma 4", "Theorem 5", "Table 1"),
        *("Algorithm 1", "Algorithm 2", "Figure 1", "Figure 2"),
        *(f"Eq. {k}" for k in range(1, 39)),
    ],
    "003": ["Assumption 1", "Assumption 2", *(f"Remark {k}" for k in ("i", "ii", "iii", "iv"))],
    "004": ["Theorem 1", "Lemma 2", "Lemma 3", "Lemma 4", *(f"Eq. {k}" for k in range(1, 5))],
}


def sections(text):
    """Return the page's sections under their headings."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def named_in(statement):
    """Return the numbered things of a note that a row is about: what it begins with, and its equations."""
    equations = "".join(re.findall(r"\(Eq\. ([\d, –]+)\)", statement))
    ranges = [re.findall(r"\d+", part) for part in equations.split(",") if part]
    numbers = [k for ends in ranges for k in range(int(ends[0]), int(ends[-1]) + 1)]
    return [re.match(r"[A-Z]\w+ [\w.]+|", statement).group(), *(f"Eq. {k}" for k in numbers)]


def missing_in_a_note(number, text):
    there = [name for row in table_rows(text) for name in named_in(row[0])]
    return [name for name in NUMBERED[number] if name not in there]


def unfounded(row):
    """Return the columns of a row that neither refer to anything nor say "none" with a reason."""
    columns = {
        "function": (row[1], "`onlinear."),
        "experiment": (row[2], "`onlinear.experiments."),
        "test": (row[3], "::test_"),
    }
    return [name for name, (cell, sign) in columns.items() if sign not in cell and not re.match(r"none: \w", cell)]


@pytest.mark.parametrize("number", NUMBERED)
def test_each_note_has_its_section_with_all_its_statements(number):
    section = sections(NOTES.read_text(encoding="utf-8"))[f"Note {number}"]
    assert missing_in_a_note(number, section) == []
    assert {row[0]: unfounded(row) for row in table_rows(section) if unfounded(row)} == {}
    # Theorems that are cited with the note's number belong to this note.
    assert set(re.findall(r"note (\d{3});", section)) <= {number}


def test_the_notes_page_names_every_bound_and_experiment():
    text = NOTES.read_text(encoding="utf-8")
    ours = [name for name in experiments.__all__ if name.islower()]
    assert [name for name in ours if f"`onlinear.experiments.{name}`" not in text] == []
    assert [bound for bound in all_bounds() if f"`onlinear.theory.bounds.{bound}`" not in text] == []


# --- Theorems by their names ----------------------------------------------------------------------

NUMBER = r"P\d{1,2}"
NAMED = re.compile(rf"\((?:note \d{{3}}; )?({NUMBER}(?:(?:, | and | to ){NUMBER})*)\)")
# Words that many theorems share, or that are in no name.
COMMON = {"a", "the", "of", "from", "with", "perceptron", "bound"}


def words(text):
    return re.findall(r"\w+", text.lower())


def theorem_names():
    """Return the name of each numbered theorem, by the table of statements."""
    found = [re.fullmatch(r"(.+) \(P(\d+)\)", row[0]) for row in rows(INDEX.read_text(encoding="utf-8"))]
    return {int(match[2]): match[1] for match in sorted(filter(None, found), key=lambda match: int(match[2]))}


def bare_numbers(text, names):
    """Return the numbers of theorems that do not stand in parentheses behind their names.

    The parentheses hold nothing but numbers, and the note: (P1), (P8, P9), (P8 to P11), (note 000; P1). One of the six
    words before them must be in the theorem's name, and not in many others: "the hinge bound (P5)", but neither "the
    bound (P5)" nor "the hinge bound (P1)". A range may be of "theorems".
    """
    named = []
    for match in NAMED.finditer(text):
        before = [word.removesuffix("s") for word in words(text[: match.start()][-200:])[-6:]]
        numbers = [int(k) for k in re.findall(r"\d+", match[1])]
        if " to " in match[1]:
            numbers = range(numbers[0], numbers[-1] + 1)
        known = [{word.removesuffix("s") for word in words(names.get(k, ""))} - COMMON for k in numbers]
        if all(set(before) & name for name in known) or (" to " in match[1] and before[-1:] == ["theorem"]):
            named.append(range(*match.span()))
    found = re.finditer(rf"\b{NUMBER}\b", text)
    return [match.group() for match in found if not any(match.start() in place for place in named)]


@pytest.mark.parametrize(
    "paths",
    [
        sorted((ROOT / "docs").rglob("*.md")),
        [ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
        [path for path in sorted(LIBRARY.rglob("*.py")) if path != EARLIER_NAMES],
    ],
    ids=["docs", "maps", "source"],
)
def test_no_theorem_is_a_number_only(paths):
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
    names = theorem_names()
    assert {path: bare for path, text in texts.items() if (bare := bare_numbers(text, names))} == {}
    # The hinge bound holds for separable data, too: no label or heading says otherwise.
    otherwise = re.compile(r"^.*P5\b.{0,20}not separable.*|^#.*not separable.*P5.*", re.MULTILINE)
    assert {path: lines for path, text in texts.items() if (lines := otherwise.findall(text))} == {}


def test_bare_numbers_are_seen():
    names = theorem_names()
    for text in (
        "the hinge bound (P5)",
        "Perceptron mistake bound (note 000; P1)",
        "margin perceptrons (P8, P9)",
        "bounds on margin and batch perceptrons (P8 to P11)",
        "Perceptron theorems (P1 to P12)",
    ):
        assert bare_numbers(text, names) == []
    for text, number in {
        "by P1": "P1",
        "the bound (P5)": "P5",
        "the hinge bound (P1)": "P1",
        "its mistake bound (P1, from 0)": "P1",
        "the mistake bound (P99)": "P99",
    }.items():
        assert bare_numbers(text, names) == [number]


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
    text = NOTES.read_text(encoding="utf-8")
    assert missing_in_a_note("002", text.replace("(Eq. 22–25)", "(Eq. 22–24)")) == ["Eq. 25"]
    assert missing_in_a_note("002", text.replace("| Lemma 1 (", "| Lemma (")) == ["Lemma 1"]
    assert unfounded(["a", "none", "none: defined only", "`tests/test_docs.py`"]) == ["function", "test"]
