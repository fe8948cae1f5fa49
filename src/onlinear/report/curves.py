"""Mistakes over time, rules and members side by side, and which classes are taken for each other."""

from __future__ import annotations

import numpy as np

from onlinear.display import counted
from onlinear.pictures.compare import compare_picture
from onlinear.pictures.confusion import confusion_picture
from onlinear.pictures.mistakes import mistakes_picture
from onlinear.pictures.picture import Axis, Picture
from onlinear.pictures.rows import row_bars, rows_axis
from onlinear.report.overview import percent
from onlinear.report.parts import Chart, FactList, Part, Section, Sentences, ValueTable
from onlinear.report.subject import Subject
from onlinear.runs.curve import Curve

_MOMENTS = 16
"""How many moments of a curve are in the table behind it."""


def mistakes_section(subject: Subject) -> Section:
    """Return the section on the mistakes over time, with what the theorems allow."""
    curve = subject.curve
    if curve is None:
        why = 'The course of the run is unknown; to record it, learn with trace="curve".'
        return Section("mistakes", "Mistakes over time", [Sentences([why])])
    counts = mistakes_picture(subject.run, bounds=subject.certificate)
    rates = mistakes_picture(subject.run, rate=True)
    parts: list[Part] = [
        Chart("mistakes", counts, _table_of_moments(curve, rate=False)),
        Chart(
            "rate",
            _with_title(rates, f"Share of mistakes of {subject.name}, up to each round"),
            _table_of_moments(curve, rate=True),
        ),
    ]
    return Section("mistakes", "Mistakes over time", parts)


def comparison_section(subject: Subject) -> Section | None:
    """Return the section on several rules; None if there is one only."""
    if subject.compared is None:
        return None
    rounds = subject.run.rounds
    rows = [
        [repr(run.rule), f"{run.mistakes:,}", percent(run.mistakes, rounds), f"{run.updates:,}"] for run in subject.runs
    ]
    table = ValueTable("Rules, the best first", ["rule", "mistakes", "rate", "updates"], rows)
    parts: list[Part] = [table]
    if all(run.trace is not None for run in subject.runs):
        parts = [Chart("rules", compare_picture(subject.compared), table)]
    left = list(subject.compared.left_out.items())
    if left:
        parts += [Sentences(["These rules were left out:"]), FactList(left)]
    return Section("rules", "Rules compared", parts)


def members_section(subject: Subject) -> Section | None:
    """Return the section on the members of a majority; None if the run is not one."""
    run, made = subject.run, subject.run.expert_mistakes
    if made is None or not run.state.members:
        return None
    order = np.argsort(made, kind="stable").tolist()
    shares = (run.weights / run.weights.sum()).tolist()
    names = [run.rule.members[n].name for n in order]
    rows = [
        [name, f"{int(made[n]):,}", percent(int(made[n]), run.rounds), f"{shares[n]:.1%}"]
        for name, n in zip(names, order, strict=True)
    ]
    rows.insert(0, ["the majority itself", f"{run.mistakes:,}", percent(run.mistakes, run.rounds), ""])
    table = ValueTable("The majority and its members", ["rule", "mistakes", "rate", "share of the vote now"], rows)
    lengths = [int(made[n]) / run.rounds for n in order]
    layers = [
        row_bars("the majority", ["the majority"], [run.mistakes / run.rounds], role="class"),
        row_bars("members", names, lengths, first=1, role="class"),
    ]
    listed = ["the majority", *names]
    beside = run.baselines
    if beside is not None:
        known = ["majority so far", "last label"]
        shown = [beside.majority / beside.rounds, beside.last_label / beside.rounds]
        layers.append(row_bars("without learning", known, shown, first=len(listed), role="baseline"))
        listed += known
    axis = Axis("mistakes per round", percent=True, low=0.0)
    picture = Picture("The majority beside its members", axis, rows_axis(listed), tuple(layers))
    behind = run.mistakes - int(made.min())
    words = "as many mistakes as"
    if behind:
        words = f"{counted(abs(behind), 'more mistake' if behind > 0 else 'fewer mistake')} than"
    said = (
        f"The majority made {words} its best member: {names[0]}. Which member would be the best was not known"
        " beforehand."
    )
    return Section("members", "Members of the majority", [Chart("members", picture, table), Sentences([said])])


def confusion_section(subject: Subject) -> Section | None:
    """Return the section on the classes that were predicted; None where it is unknown."""
    if subject.curve is None:
        return None
    picture = confusion_picture(subject.run)
    names = picture.x.names
    counts = np.array([int(text.replace(",", "") or "0") for text in picture.layers[0].texts])
    rows = [
        [name, *(f"{count:,}" for count in row)]
        for name, row in zip(names, counts.reshape(len(names), -1).tolist(), strict=True)
    ]
    table = ValueTable("Labels (rows) and predictions (columns)", ["label", *names], rows)
    said = ["Each prediction was made before the label was seen."]
    # Of more than 30 classes not all are in the picture; the curve has them.
    ties = subject.run.mistakes - int(subject.curve.confusion.sum() - np.trace(subject.curve.confusion))
    if ties > 0 and int(subject.curve.rounds[0]) == 0:
        said.append(
            f"{counted(ties, 'mistake')} on the diagonal: where the best classes tie, no prediction is right, and the"
            " first of them is shown as predicted."
        )
    return Section("confusion", "Which classes were confused", [Chart("confusion", picture, table), Sentences(said)])


def _table_of_moments(curve: Curve, *, rate: bool) -> ValueTable:
    """Return the counts of a curve, or their shares of the rounds, at some of its moments."""
    last = curve.rounds.size - 1
    chosen = np.unique(np.linspace(min(1, last), last, min(_MOMENTS, max(1, last))).round().astype(int))
    first = int(curve.rounds[0])
    rows = []
    for i in chosen.tolist():
        rounds = int(curve.rounds[i]) - first
        made = [int(counts[i]) for counts in (curve.mistakes, curve.updates, curve.majority, curve.last_label)]
        shown = [percent(n, rounds) for n in made] if rate else [f"{n:,}" for n in made]
        rows.append([f"{int(curve.rounds[i]):,}", *shown])
    names = ["rounds", "mistakes", "updates", "majority so far", "last label"]
    return ValueTable(
        f"The course at {counted(len(rows), 'moment')}, of {curve.rounds.size:,} that are drawn", names, rows
    )


def _with_title(picture: Picture, title: str) -> Picture:
    return Picture(title, picture.x, picture.y, picture.layers, picture.notes, picture.square)
