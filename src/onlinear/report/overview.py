"""What was run, and on what."""

from __future__ import annotations

import math

from onlinear.display import counted
from onlinear.pictures.wording import label_name, rule_name
from onlinear.report.parts import FactList, KeyNumber, Part, Section, Sentences, ValueTable
from onlinear.report.subject import Subject
from onlinear.runs.baselines import order_words
from onlinear.runs.convergence import Convergence
from onlinear.runs.outcome import Run

_MOST_CLASSES = 20
_MOST_COLUMNS = 40
_KINDS = {"number": "numbers", "category": "categories"}
"""What the columns of a table were read as."""
_REMARKS = {
    "majority so far": "answers the most frequent label of the rounds before",
    "last label": "answers the label of the round before",
}


def percent(part: float, whole: float) -> str:
    """Return a share in percent, with two digits that are not 0 if it is small."""
    if not whole:
        return "–"
    share = part / whole
    if share >= 0.001 or not share:
        return f"{share:.2%}"
    digits = -math.floor(math.log10(share)) - 1
    return f"{100 * share:.{digits}f}".rstrip("0") + "%"


def key_numbers(subject: Subject) -> list[KeyNumber]:
    """Return what to know first: the mistakes, and what to compare them with."""
    run = subject.run
    numbers = [
        KeyNumber(
            percent(run.mistakes, run.rounds),
            "wrong while learning",
            "; ".join(
                [f"{counted(run.mistakes, 'mistake')} in {counted(run.rounds, 'round')}", *_reservations(subject)]
            ),
        )
    ]
    beside = run.baselines
    if beside is not None:
        name = "last label" if beside.last_label < beside.majority else "majority so far"
        best = min(beside.last_label, beside.majority)
        numbers.append(KeyNumber(percent(best, beside.rounds), "without learning", f"{name}: {_REMARKS[name]}"))
    made = run.expert_mistakes
    if made is not None and run.state.members:
        best_member = int(made.argmin())
        member = run.rule.members[best_member].name
        numbers.append(KeyNumber(percent(int(made[best_member]), run.rounds), "the best member", member))
    if subject.proven is not None:
        verdict = type(subject.proven.verdict).__name__
        words = {"Separable": "yes", "Inseparable": "no", "Undecided": "not decided"}[verdict]
        how = "with an intercept" if subject.proven.fit_intercept else "without an intercept"
        numbers.append(KeyNumber(words, "linearly separable", how))
    return numbers


def _reservations(subject: Subject) -> list[str]:
    """Return why the share of mistakes may not be that on new examples."""
    run, said = subject.run, []
    if subject.passes > 1 and run.baselines is not None:
        beside = run.baselines
        said.append(
            f"in the first pass {beside.mistakes:,} of {beside.rounds:,}, {percent(beside.mistakes, beside.rounds)}"
        )
    if run.order is not None and run.order.noticed is not None:
        said.append("the labels are not in random order")
    return said


def what_was_run(subject: Subject, data: str) -> Section:
    """Return the section on the rule, the data, the baselines and the order of the labels."""
    run = subject.run
    facts = [("data", data)] if data else []
    file_format = (run.state.reading or {}).get("format")
    facts += [("format", str(file_format))] if file_format else []
    first = run.state.labels.rounds if run.state.labels is not None else 0
    examples = f"{first:,}" + (f", read {subject.passes:,} times" if subject.passes > 1 else "")
    # A halting loop takes some examples more often than others.
    facts.append(("examples", examples) if first else ("rounds", f"{run.rounds:,}"))
    if isinstance(run, Convergence):
        facts.append(("halted", f"{'yes' if run.halted else 'no'}: {run.reason}"))
    facts.append(("features", f"{run.n_features:,}" + ("" if run.state.names is None else ", with names")))
    facts += _columns_by_kind(subject)
    if run.state.multiclass:
        facts.append(("classes", counted(len(subject.classes), "class")))
    else:
        facts.append(("classes", f"{subject.classes[0]} (negative), {subject.classes[1]} (positive)"))
    rules = "; ".join(_rule_words(one) for one in subject.runs)
    facts.append(("rules, the best first" if subject.compared else "rule", rules))
    material = subject.material
    if material is not None and material.shuffle:
        facts.append(("order", f"shuffled in windows of {material.shuffle:,}, seed {material.seed}"))
    order = run.order
    if order is not None:
        words = "there is no evidence against a random order of the labels"
        if order.noticed is not None:
            words = f"the labels are not in random order, as noticed in round {order.noticed:,}"
        facts.append(
            ("order check (P18)", f"{words} (ln E ≥ {order.log_evidence:.4g}; refuted from 6.9 on)".replace("-", "−"))
        )
    parts: list[Part] = [FactList(facts), *_class_table(subject)]
    notes = []
    if order is not None and order.noticed is not None:
        notes.append(order_words(order.noticed, order.rounds))
    beside = run.baselines
    if beside is not None and beside.majority_is_better:
        notes.append(f"{subject.name} makes more mistakes than answering the most frequent label so far.")
    if beside is not None and beside.last_label_is_best:
        notes.append(f"{subject.name} makes more mistakes than repeating the last label.")
    return Section("run", "What was run", [*parts, *([Sentences(notes)] if notes else [])])


def _rule_words(run: Run) -> str:
    """Return a rule with its options; a majority with the number of its members."""
    if run.state.members:
        return f"{rule_name(run.rule)} of {counted(len(run.rule.members), 'rule')}"
    options = ["with an intercept"] * bool(run.state.fit_intercept) + ["normalized"] * bool(run.state.normalize)
    return ", ".join([repr(run.rule), *options])


def _class_table(subject: Subject) -> list[Part]:
    """Return how many examples of each class there were, and the mistakes on them."""
    run, curve = subject.run, subject.curve
    if len(subject.classes) > _MOST_CLASSES:
        return []
    seen = None
    if curve is not None and int(curve.rounds[0]) == 0:
        seen = curve.confusion.sum(axis=1).tolist()
    rows = []
    for i, name in enumerate(subject.classes):
        made = run.mistakes_by_class[i]
        counts = [] if seen is None else [f"{seen[i]:,}", percent(seen[i], run.rounds)]
        rows.append([name, *counts, f"{made:,}", *([] if seen is None else [percent(made, seen[i])])])
    names = ["class", *([] if seen is None else ["rounds", "share"]), "mistakes"]
    names += [] if seen is None else ["mistake rate"]
    return [ValueTable(f"Classes, and the mistakes of {subject.name} on each", names, rows)]


def _columns_by_kind(subject: Subject) -> list[tuple[str, str]]:
    """Return the columns of a table as (name, value) pairs, by what they were read as."""
    columns = subject.material.stream.columns if subject.material is not None else None
    facts = []
    for kind in dict.fromkeys((columns or {}).values()):
        names = [label_name(str(name)) for name, its in (columns or {}).items() if its == kind]
        more = [f"and {len(names) - _MOST_COLUMNS:,} more"] * (len(names) > _MOST_COLUMNS)
        facts.append((_KINDS.get(kind, kind), ", ".join([*names[:_MOST_COLUMNS], *more])))
    return facts
