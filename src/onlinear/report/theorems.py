"""What the theorems allowed, whether the data are separable, and with which margin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from onlinear.display import confidence, counted, rounded_down, rounded_up
from onlinear.pictures.bounds import bounds_picture
from onlinear.pictures.wording import label_name, rounded, rule_name
from onlinear.report.material import Written
from onlinear.report.parts import Chart, FactList, Part, Quoted, QuotedExamples, Section, Sentences, ValueTable
from onlinear.report.subject import Proven, Subject
from onlinear.theory import Certificate, Inseparable, Separable
from onlinear.theory.check.interval import MarginInterval
from onlinear.theory.check.verdict import show_share

LONGER = "onlinear certify searches for longer."
MOST_SHOWN = 12
"""How many examples of a proof are shown."""


def theorems_section(subject: Subject) -> Section:
    """Return the section on what each theorem allowed, and how much of it was used."""
    parts: list[Part] = []
    if subject.unproven:
        parts.append(Sentences([subject.unproven]))
    certified = [(rule_name(run.rule), found) for run, found in subject.certificates]
    if subject.certificate is not None:
        parts += theorem_parts(subject.certificate, rule_name(subject.run.rule))
        certified = certified[1:]
    others = [(name, found) for name, found in certified if isinstance(found, Certificate)]
    rows = [[name, *row] for name, found in others for row in bound_rows(found)]
    if rows:
        names = ["rule", "theorem", "made", "allowed", "used"]
        parts.append(ValueTable("What the theorems say about the other rules", names, rows, words=2))
    proofs = [found for _, found in subject.certificates if isinstance(found, Certificate)]
    if subject.compared and any(entry["chance"] for proof in proofs for entry in proof.record["bounds"]):
        parts.append(Sentences(["A probability is that of one bound for one rule, not for the best of several rules."]))
    without: dict[str, list[str]] = {}
    for name, found in certified:
        if isinstance(found, str):
            without.setdefault(found, []).append(name)
    reasons = [f"{', '.join(dict.fromkeys(names))}: {why}." for why, names in without.items()]
    parts += [Sentences(reasons)] * bool(reasons)
    return Section("theorems", "What the theorems allowed", parts)


def theorem_parts(certificate: Certificate, name: str) -> list[Part]:
    """Return what a certificate says about each theorem."""
    rows = bound_rows(certificate)
    assumed = [[bound.theorem, "; ".join(bound.checked), "; ".join(bound.declared)] for bound in certificate.bounds]
    parts: list[Part] = []
    if rows:
        table = ValueTable(f"What {name} made, and what is allowed", ["theorem", "made", "allowed", "used"], rows)
        picture = bounds_picture(certificate)
        parts.append(Chart("bounds", picture, table) if any(layer.x.size for layer in picture.layers) else table)
    if assumed:
        names = ["theorem", "checked on the examples", "taken for granted"]
        parts.append(ValueTable("What the theorems assume", names, assumed, words=3))
    excluded = [f"{entry['theorem']} does not apply: {entry['reason']}." for entry in certificate.record["excluded"]]
    return [*parts, Sentences(excluded)] if excluded and not rows else parts


def bound_rows(certificate: Certificate) -> list[list[str]]:
    """Return for each theorem what was made, what is allowed, and the share that was used."""
    rows = []
    for bound, entry in zip(certificate.bounds, certificate.record["bounds"], strict=True):
        chance = f" (probability {confidence(entry['quantities']['delta'])})" if entry["chance"] else ""
        if not math.isfinite(bound.value):
            rows.append([bound.theorem, rounded(entry["actual"]), "no limit is known", ""])
            continue
        relation = "≥" if bound.lower else "<" if bound.strict else "≤"
        risk = bound.of == "risk"
        counts = bound.of.removesuffix("s") if entry["actual"] == 1 else bound.of
        made = "risk, on average" if risk else f"{rounded(entry['actual'])} {counts}"
        used = "" if risk or not bound.value else f"{entry['actual'] / bound.value:.1%}"
        rows.append([bound.theorem, made, f"{relation} {_at_most(bound.value)}{chance}", used])
    return rows


def separability_section(subject: Subject) -> Section | None:
    """Return the section on whether some vector separates the examples, and with which margin."""
    proven = subject.proven
    if proven is None or subject.material is None:
        if not subject.unproven and subject.material is not None:
            why = "Experts vote; there is no weight vector that could separate their advice."
            if not subject.votes:
                why = (
                    "With this number of classes the proof would be too large for a report; onlinear certify makes it."
                )
            return Section("separability", "Is there a separator?", [Sentences([why])])
        return None
    places = subject.material.of_rows(proven.rows[:MOST_SHOWN])
    parts: list[Part] = [Sentences(_verdict_words(proven))]
    if isinstance(proven.verdict, Inseparable):
        quoted = _quoted_pairs(proven, places) if proven.pairs else _quoted_rows(proven.verdict, places)
        parts.append(QuotedExamples(quoted[:MOST_SHOWN]))
        more = len(quoted) - MOST_SHOWN
        parts += [Sentences([f"There are {more:,} more."])] * (more > 0)
    if proven.margin is not None:
        parts.append(FactList(margin_facts(proven.margin, pairs=proven.pairs is not None)))
    if subject.run.state.normalize:
        parts.append(Sentences([f"{subject.name} learned from normalized examples; here they are as they were given."]))
    return Section("separability", "Is there a separator?", parts)


def margin_facts(margin: MarginInterval, *, pairs: bool) -> list[tuple[str, str]]:
    """Return an interval for the largest margin, which may be that of pairs of classes, as names and values."""
    kind = "of the right class over every other" if pairs else margin.kind
    interval = f"{rounded_down(margin.lower)} to {rounded_up(margin.upper)}, {kind}"
    facts = [("largest margin", interval), ("radius", f"R ≤ {_at_most(margin.radius)}")]
    if margin.augmented is not None:
        ends = f"{rounded_down(margin.augmented.lower)} to {rounded_up(margin.augmented.upper)}"
        facts.insert(1, ("augmented margin", f"{ends}, with a 1 appended to each example"))
    if margin.separable:
        facts.append(("difficulty", f"(R/γ)² ≤ {_at_most(margin.difficulty)}"))
    return facts


def _at_most(value: float) -> str:
    """Return an upper bound, rounded up, with thousands separators."""
    return f"{float(rounded_up(value)):,.12g}"


def _verdict_words(proven: Proven) -> list[str]:
    vectors = "weight vectors, one for each class," if proven.pairs else "weight vector"
    how = "with an intercept" if proven.fit_intercept else "without an intercept"
    verdict = proven.verdict
    if isinstance(verdict, Separable):
        found = (
            f"There are {vectors} {how} that classify"
            if proven.pairs
            else f"There is a {vectors} {how} that classifies"
        )
        return [f"Yes. {found} every example correctly; this was checked exactly."]
    if isinstance(verdict, Inseparable):
        classify = "classify" if proven.pairs else "classifies"
        return [f"No {vectors} {how} {classify} all examples correctly. {_why(proven)}"]
    most = rounded_up(verdict.margin.upper)
    return [f"A report's budget does not decide this; no separator {how} has a margin above {most}. {LONGER}"]


def _why(proven: Proven) -> str:
    count = len(proven.verdict.rows)
    if count == 1:
        return "This example is all zeros: every weight vector scores it 0."
    if proven.pairs is None and proven.verdict._contradicts:
        return "These two are equal, and have opposite labels:"
    if proven.pairs is not None:
        return (
            f"The {count:,} pairs of an example and a wrong class that follow contradict each other: how far the right"
            " class is ahead of the wrong one, times the share of the pair, adds up to exactly 0 whatever the weights"
            " are, so it cannot be ahead in all of them."
        )
    return (
        f"The {count:,} examples that follow contradict each other: each times its label ±1 and its share, they add up"
        " to exactly 0, so no vector can be right on all of them."
    )


def _quoted_rows(verdict: Inseparable, places: Mapping[int, Written]) -> list[Quoted]:
    listed = zip(verdict.rows.tolist(), verdict.labels, verdict.shares, strict=True)
    return [
        _quoted(row, f"label {label_name(label)}, share {show_share(share)}", places) for row, label, share in listed
    ]


def _quoted_pairs(proven: Proven, places: Mapping[int, Written]) -> list[Quoted]:
    pairs: Any = proven.pairs
    found = [
        (pairs.pair(int(row)), share) for row, share in zip(proven.verdict.rows, proven.verdict.shares, strict=True)
    ]
    return [
        _quoted(
            pair.example,
            f"label {label_name(pair.own)}, against {label_name(pair.other)}, share {show_share(share)}",
            places,
        )
        for pair, share in sorted(found, key=lambda one: one[0].example)
    ]


def _quoted(row: int, said: str, places: Mapping[int, Written]) -> Quoted:
    example = places.get(row)
    return Quoted(f"row {row:,}", said, "") if example is None else Quoted(example.place, said, example.text)


def certified_parts(certificate: Certificate, places: Mapping[int, Written]) -> list[Part]:
    """Return the verdict and the margin that a certificate has."""
    record = certificate.record
    verdict, pairs = record["separability"], certificate._pairs_per_example()
    parts: list[Part] = []
    if verdict is not None and verdict["verdict"] == "inseparable":
        rows = sorted({row // pairs for row in verdict["rows"]}) if pairs else verdict["rows"]
        parts.append(Sentences(["No weight vector classifies all of these examples correctly:"]))
        parts.append(
            QuotedExamples(
                [
                    _quoted(row, f"label {places[row].label}" if row in places else "", places)
                    for row in rows[:MOST_SHOWN]
                ]
            )
        )
        more = len(rows) - MOST_SHOWN
        parts += [Sentences([f"There are {counted(more, 'more example')} in the proof."])] * (more > 0)
    elif verdict is not None:
        words = {
            "separable": "Yes: some weight vector classifies every example correctly.",
            "undecided": "It was not decided.",
        }
        parts.append(Sentences([words[verdict["verdict"]]]))
    inseparable = verdict is not None and verdict["verdict"] == "inseparable"
    if certificate.margin is not None and not inseparable:
        parts.append(FactList(margin_facts(certificate.margin, pairs=pairs > 0)))
    return parts
