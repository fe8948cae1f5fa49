"""From results to all that a report says, as plain data."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from onlinear.display import counted
from onlinear.errors import ParameterError
from onlinear.report.curves import comparison_section, confusion_section, members_section, mistakes_section
from onlinear.report.examples import costliest_section, weights_section
from onlinear.report.material import Material, look_up
from onlinear.report.overview import key_numbers, percent, what_was_run
from onlinear.report.parts import FactList, KeyNumber, ReportContents, Section, SourceCode
from onlinear.report.subject import Subject
from onlinear.report.theorems import (
    MOST_SHOWN,
    certified_parts,
    separability_section,
    theorem_parts,
    theorems_section,
)
from onlinear.rules.majority import Majority
from onlinear.rules.registry import BUILT_IN
from onlinear.runs.beginning import as_stream
from onlinear.runs.comparison import Comparison
from onlinear.runs.outcome import Run
from onlinear.theory import Certificate


def summarise(
    result: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "",
    data: str = "",
    command: str = "",
    shuffle: int = 0,
    seed: int = 0,
    date: str = "",
) -> ReportContents:
    """Return all that a report says; the parameters are those of `onlinear.report.report`."""
    if isinstance(result, Certificate):
        return _of_certificate(result, X, y, title or "Certificate", date)
    if not isinstance(result, Run | Comparison):
        raise ParameterError(f"there is no report on a {type(result).__name__}; give a Run, Comparison or Certificate")
    first = result if isinstance(result, Run) else result[0]
    material = None if X is None else Material(X, y, first, shuffle, seed)
    subject = Subject(result, material)
    sections = [
        what_was_run(subject, data),
        mistakes_section(subject),
        comparison_section(subject),
        members_section(subject),
        separability_section(subject),
        theorems_section(subject),
        weights_section(subject),
        costliest_section(subject),
        confusion_section(subject),
        _reproduce(subject, command),
    ]
    run = subject.run
    what = f"the best of {len(subject.runs):,} rules" if subject.compared else subject.name
    sizes = (run.rounds, "round"), (run.n_features, "feature"), (len(subject.classes), "class")
    lead = (
        f"{', '.join(counted(n, noun) for n, noun in sizes)}."
        f" {subject.name if subject.compared else 'It'} was wrong in {percent(run.mistakes, run.rounds)} of the rounds:"
        f" {_how(subject)}."
    )
    lead = lead if not subject.compared else f"{lead} It is {what}."
    title = title or f"{subject.name} on {data or 'examples'}"
    kept = [section for section in sections if section is not None]
    return ReportContents(title, lead, key_numbers(subject), kept, _signature(date))


def _how(subject: Subject) -> str:
    """Return how the examples were predicted and learned from."""
    if subject.halting:
        return "it went over the same examples until no mistake was left, or a limit was reached"
    if subject.passes > 1:
        return f"each example was predicted before it was learned from, {subject.passes:,} times over"
    return "each example was first predicted, then learned from"


def _reproduce(subject: Subject, command: str) -> Section:
    run = subject.run
    made = SourceCode("sh", command) if command else SourceCode("python", _lines(subject))
    facts = [("onlinear", _version())]
    if run.state.checksum is not None:
        facts.append(("checksum of the examples", str(run.state.checksum)))
    return Section("reproduce", "How to reproduce it", [made, FactList(facts)])


def _lines(subject: Subject) -> str:
    """Return the lines of Python that make a report like this."""
    run, material = subject.run, subject.material
    options = [f"{name}=True" for name in ("fit_intercept", "normalize") if getattr(run.state, name)]
    options = [] if run.state.members else options
    options += [f"passes={subject.passes}"] * (subject.passes > 1)
    if material is not None and material.shuffle:
        options += [f"shuffle={material.shuffle}", f"seed={material.seed}"]
    call = ", ".join(["X", "y", *options, 'trace="curve"'])
    rules = ", ".join(_spelled(one.rule) for one in subject.runs)
    if subject.halting:
        return _HALTING
    learn = (
        f"runs = onlinear.compare([{rules}], {call})" if subject.compared else f"run = onlinear.train({rules}, {call})"
    )
    names = sorted({type(one.rule).__name__ for one in subject.runs})
    name = "runs" if subject.compared else "run"
    imports = f"import onlinear\nfrom onlinear.rules import {', '.join(names)}\n"
    return f'{imports}\n{learn}\n{name}.report(X, y).save("report.html")'


_HALTING = """import onlinear

run = ...  # of onlinear.converge or onlinear.batch_perceptron, with the same arguments
run.report(X, y).save("report.html")"""


def _spelled(rule: Any) -> str:
    """Return a rule as it is written in Python; a majority with members of one's own by its name only."""
    plain = type(rule).__name__ in BUILT_IN or rule == Majority()
    return repr(rule) if plain else f"{type(rule).__name__}(…)"


def _of_certificate(certificate: Certificate, X: Any, y: Any, title: str, date: str) -> ReportContents:
    record = certificate.record
    outcome, recorded, rule = record["outcome"], record["data"], record["rule"]
    if X is not None:
        certificate.verify(X, y)
    pairs = certificate._pairs_per_example()
    rows = (record["separability"] or {}).get("rows", [])
    examples = sorted({row // pairs if pairs else row for row in rows})[:MOST_SHOWN]
    classes = record["options"].get("classes")
    places = {} if X is None else _places(X, y, classes, examples)
    facts = [
        ("rule", "a majority" if "members" in rule else rule["name"]),
        ("examples", f"{recorded['rows']:,}"),
        ("features", f"{recorded['features']:,}"),
        ("fingerprint", f"sha256 {recorded['fingerprint']}"),
        ("mistakes", f"{outcome['mistakes']:,} in {counted(outcome['rounds'], 'round')}"),
        ("updates", f"{outcome['updates']:,}"),
    ]
    facts += [("verified", "repeated on the examples, as this report was made")] if X is not None else []
    name = rule.get("name", "the majority")
    proof = certified_parts(certificate, places)
    sections = [Section("run", "What is certified", [FactList(facts)])]
    sections += [Section("separability", "Is there a separator?", proof)] if proof else []
    sections.append(Section("theorems", "What the theorems allowed", theorem_parts(certificate, name)))
    lines = (
        "import onlinear\n\n"
        'certificate = onlinear.Certificate.from_json(open("certificate.json").read())\n'
        "certificate.verify(X, y)  # repeats the run, and recomputes all of this\n"
        'certificate.report(X, y).save("report.html")'
    )
    sections.append(Section("reproduce", "How to reproduce it", [SourceCode("python", lines)]))
    rate = percent(outcome["mistakes"], outcome["rounds"])
    numbers = [
        KeyNumber(rate, "wrong while learning", f"{outcome['mistakes']:,} in {counted(outcome['rounds'], 'round')}")
    ]
    numbers.append(KeyNumber("yes" if certificate.holds else "no", "within every bound"))
    lead = f"A run of {name}: its mistakes, and what is proven about the examples."
    return ReportContents(title, lead, numbers, sections, _signature(date))


def _places(X: Any, y: Any, classes: Any, examples: list[int]) -> Any:
    return look_up(as_stream(X, y, classes if y is not None else None).independent().chunks(), set(examples))


def _version() -> str:
    return importlib.metadata.version("onlinear")


def _signature(date: str) -> str:
    return f"Made by onlinear {_version()}{f' on {date}' if date else ''}."
