"""The largest weights, and the examples that cost most."""

from __future__ import annotations

from onlinear.pictures.weights import weights_picture
from onlinear.pictures.wording import rule_name
from onlinear.report.parts import Chart, Part, Quoted, QuotedExamples, Section, Sentences, ValueTable
from onlinear.report.subject import Subject

_TOP = 20


def weights_section(subject: Subject) -> Section | None:
    """Return the section on the largest weights; of a majority, those of its best member."""
    run = subject.run
    majority = bool(run.state.members)
    if majority:
        run = run.best_member()
    picture = weights_picture(run, top=_TOP)
    texts = [layer.texts for layer in picture.layers]
    if not any(texts):
        return None
    pairs = sorted(
        (int(place), text, value)
        for layer in picture.layers
        for place, text, value in zip(layer.y.tolist(), layer.texts, layer.x.tolist(), strict=True)
    )
    advised = run.rule.inputs == "advice"
    rows = [[text, f"{value:.2%}" if advised else f"{value:.6g}".replace("-", "−")] for _, text, value in pairs]
    table = ValueTable("The largest weights", ["expert" if advised else "feature", picture.x.label], rows)
    parts: list[Part] = [Chart("weights", picture, table)]
    if majority:
        parts.insert(0, Sentences([f"These are the weights of the best member, {rule_name(run.rule)}."]))
    return Section("weights", "Largest weights", parts)


def costliest_section(subject: Subject) -> Section | None:
    """Return the section on the mistakes with the worst scores; None if they are unknown, or there are none."""
    curve, material, names = subject.curve, subject.material, subject.classes
    if curve is None or not curve.costliest:
        return None
    found = {}
    # A curve that began later does not tell which of the examples were before.
    if material is not None and not material.stream.once and int(curve.rounds[0]) == 0:
        found = material.of_rounds(one.round for one in curve.costliest)
        material.check(found, {one.round: names[one.answer] for one in curve.costliest})
    quoted = []
    for one in curve.costliest:
        example = found.get(one.round)
        number = f"round {one.round + 1:,}"
        place = number if example is None else f"{example.place} ({number})"
        predicted = f"predicted {names[one.prediction]}, cost {one.cost:.4g}" if one.cost else "a tie"
        said = f"label {names[one.answer]}, {predicted}"
        quoted.append(Quoted(place, said, "" if example is None else example.text))
    cost = "how far the score was on the wrong side"
    if len(names) > 2:
        cost = "how far the best wrong class was ahead of the right one"
    if subject.run.state.members:
        cost += ", in shares of the vote (1: every member was wrong)"
    said = (
        f"The mistakes with the largest cost: {cost}. They may be outliers, or have wrong labels; in the first rounds"
        " little was learned yet."
    )
    parts: list[Part] = [Sentences([said]), QuotedExamples(quoted)]
    if material is not None and len(found) < len(quoted):
        parts.append(Sentences(["Where an example stood is shown only if it is quick to find."]))
    return Section("costliest", "Examples that cost most", parts)
