"""The record of a certificate: everything that follows from a run, the examples and the witnesses."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from onlinear.data.digest import Digest
from onlinear.engine.flat import Floats
from onlinear.errors import VerificationError
from onlinear.runs.convergence import Convergence
from onlinear.runs.outcome import Run
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.certificate.replay import describe_run, weights_digest
from onlinear.theory.certificate.statements import REPLAYED, Case, Excluded, Statement, statements
from onlinear.theory.certificate.structure import VERSION
from onlinear.theory.check.interval import (
    MarginInterval,
    MarginKind,
    learned_kind,
    proven_lower,
    proven_upper,
    radius_of,
)
from onlinear.theory.check.verdict import Inseparable
from onlinear.theory.examples import Examples
from onlinear.theory.pairs import ClassPairs
from onlinear.theory.voted import VotedExamples

Data: TypeAlias = Examples | ClassPairs | VotedExamples


def compute_record(run: Run, data: Data, witnesses: dict[str, Any], delta: float) -> dict[str, Any]:
    """Return the whole record: everything but the witnesses is computed from the examples."""
    description = describe_run(run, data.n)
    examples: Any = data.seen
    kinds, margins = margin_kinds(run, examples), witnesses["margins"]
    proven: Any = None
    if kinds is not None:
        proven = {name: kind and _proven(name, margins, kind, examples) for name, kind in kinds.items()}
    separator: Any = None
    if proven is not None and proven["learned"]["lower"] > 0.0:
        separator = examples.split(np.array(proven["learned"]["weights"]))
    start = description["options"]["start"]
    u = witnesses["comparator"]
    case = Case(
        outcome=run,
        examples=examples,
        n=data.n,
        pairs=data if isinstance(data, ClassPairs) else None,
        passes=None if isinstance(run, Convergence) else run.rounds // data.n,
        start=None if start is None else examples.split(np.array(start)),
        separator=separator,
        comparator=None if u is None else examples.split(_vector(u, examples)),
        delta=delta,
    )
    said = list(statements(case))
    record = {
        "certificate": VERSION,
        **description,
        "delta": delta,
        "data": data_of(data),
        "outcome": outcome_of(run),
        "margins": proven,
        "separability": _verdict_record(witnesses, proven, examples),
        "comparator": u,
        "bounds": [_entry(one) for one in said if isinstance(one, Statement)],
        "excluded": [one._asdict() for one in said if isinstance(one, Excluded)],
    }
    return {**record, "digest": digest_of(record)}


def digest_of(record: dict[str, Any]) -> str:
    """Return the SHA-256 of everything in a record but the digest itself."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def data_of(examples: Data) -> dict[str, Any]:
    """Return what identifies these examples; the SHA-256 has the name that it has had since version 1."""
    digest, codes = Digest(), Counter[int]()
    for rows in examples.blocks():
        digest.add(rows.block(), rows.y)
        codes.update(rows.y.tolist())
    counts: dict[str, Any] = {"positive": codes[1]}
    if not isinstance(examples, Examples):
        counts = {"by_class": [codes[code] for code in range(examples.classes.size)]}
    return {
        "layout": examples.layout,
        "rows": examples.n,
        **counts,
        "features": examples.width,
        "fingerprint": digest.hexdigest(),
    }


def outcome_of(run: Run) -> dict[str, Any]:
    """Return the counts of a run, and the SHA-256 of its weights."""
    return {
        "rounds": run.rounds,
        "mistakes": run.mistakes,
        **_by_class(run),
        "updates": run.updates,
        "expected_mistakes": run.expected_mistakes,
        "margin_upper_bound": _finite(run.margin_upper_bound),
        "weights": weights_digest(run),
        **({"member_mistakes": _member_mistakes(run)} if run.state.members else {}),
    }


def _member_mistakes(run: Run) -> list[int]:
    made = run.expert_mistakes
    return [] if made is None else made.tolist()


def _by_class(run: Run) -> dict[str, Any]:
    if run.state.multiclass:
        return {"mistakes_by_class": list(run.mistakes_by_class)}
    return {"mistakes_positive": run.mistakes_positive, "mistakes_negative": run.mistakes_negative}


def margin_kinds(run: Run, examples: Examples) -> dict[str, MarginKind | None] | None:
    """Return which margins belong to a run: that of the rows as the rule saw them, and beside it the affine one."""
    if run.rule.inputs != "real" or run.state.members:
        return None
    affine = examples.bias and _has_both_classes(examples)
    return {"learned": learned_kind(examples), "affine": "affine" if affine else None}


def combination_record(verdict: Inseparable) -> dict[str, Any]:
    """Return a verdict as it is recorded, with its combination."""
    # In base 16: Python refuses to write out decimal numbers of thousands of digits.
    shares = [f"{share.numerator:x}/{share.denominator:x}" for share in verdict.shares]
    return {"verdict": "inseparable", "rows": verdict.rows.tolist(), "shares": shares}


def _proven(name: str, margins: dict[str, Any] | None, kind: MarginKind, examples: Examples) -> dict[str, Any]:
    """Return an interval computed from its witnesses alone."""
    entry = None if margins is None else margins[name]
    if entry is None:
        place = "margins" if margins is None else f"margins.{name}"
        raise VerificationError(f"{place} is null; a run like this one has a margin that is {kind}")
    weights = entry["weights"]
    support = np.array(entry["support"], dtype=np.intp)
    lower = 0.0 if weights is None else max(0.0, proven_lower(examples, _vector(weights, examples), kind))
    upper = proven_upper(examples, support, np.array(entry["shares"], dtype=np.float64), kind)
    if math.isinf(upper):
        of = " of each class" if kind == "affine" else ""
        raise VerificationError(f"margins.{name}.shares bound no margin: some{of} must be above 0, and none too large")
    return {
        "kind": kind,
        "lower": lower,
        "upper": upper,
        "radius": radius_of(examples, kind),
        "weights": weights,
        "support": entry["support"],
        "shares": entry["shares"],
    }


def _vector(entries: Any, examples: Examples) -> Floats:
    """Return a recorded vector, intercept first, once it is known to fit."""
    whole = np.array(entries, dtype=np.float64)
    if whole.shape != (examples.width + examples.bias,) or not np.isfinite(whole).all():
        raise VerificationError(f"a recorded vector does not fit {examples.width} features")
    return whole


def _verdict_record(
    witnesses: dict[str, Any], proven: dict[str, Any] | None, examples: Examples
) -> dict[str, Any] | None:
    """Return the verdict on separability, checked: the combination that is 0, or the separator above."""
    if proven is None:
        return None
    if proven["learned"]["lower"] > 0.0:
        return {"verdict": "separable"}
    held = witnesses["separability"]
    if held is None or "rows" not in held:
        return {"verdict": "undecided"}
    rows = np.array(held["rows"], dtype=np.intp)
    return combination_record(Inseparable.by(examples.unscaled(), rows, [_fraction(share) for share in held["shares"]]))


def _fraction(text: str) -> Fraction:
    numerator, denominator = (int(part, 16) for part in text.split("/"))
    return Fraction(numerator, denominator)


def _entry(statement: Statement) -> dict[str, Any]:
    bound = statement.bound
    return {
        "theorem": bound.theorem,
        "of": bound.of,
        "actual": statement.actual,
        "value": bound.value,
        "strict": bound.strict,
        "chance": bool(bound.quantities.get("delta")),
        "checked": [*bound.checked, *(words for words in bound.declared if words in REPLAYED)],
        "declared": [words for words in bound.declared if words not in REPLAYED],
        "quantities": dict(bound.quantities),
        "note": bound.note,
    }


def bound_of(entry: dict[str, Any]) -> Bound:
    """Return a recorded bound."""
    return Bound(
        entry["value"],
        entry["theorem"],
        tuple(entry["checked"]),
        tuple(entry["declared"]),
        dict(entry["quantities"]),
        strict=entry["strict"],
        of=entry["of"],
        note=entry["note"],
    )


def interval_of(entry: dict[str, Any], record: dict[str, Any]) -> MarginInterval:
    """Return a recorded interval."""
    options, weights = record["options"], entry["weights"]
    # Of several classes all vectors are laid end to end, each with its intercept.
    many = options.get("multiclass", False)
    bias = int(options["fit_intercept"] and not many)
    return MarginInterval(
        lower=entry["lower"],
        upper=entry["upper"],
        weights=None if weights is None else np.array(weights[bias:]),
        intercept=float(weights[0]) if weights is not None and bias else 0.0,
        support=np.array(entry["support"], dtype=np.intp),
        shares=np.array(entry["shares"]),
        kind=entry["kind"],
        radius=entry["radius"],
        normalize=options["normalize"],
        classes=(-1, 1) if many else tuple(options["classes"]),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _has_both_classes(examples: Examples) -> bool:
    seen: set[int] = set()
    for rows in examples.blocks():
        seen.update(np.unique(rows.y).tolist())
    return len(seen) == 2
