"""What a certificate records: witnesses that were searched for, and everything that follows from them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import Trail
from onlinear.data.digest import Digest
from onlinear.data.matrices import sums_of
from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError, VerificationError
from onlinear.rules.perceptron import Perceptron
from onlinear.runs.converge import Convergence
from onlinear.runs.outcome import Run
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.bounds.multiclass import ClassPairs
from onlinear.theory.certificate.replay import described, options_of, weights_digest
from onlinear.theory.certificate.statements import REPLAYED, Case, Excluded, Statement, statements
from onlinear.theory.check.interval import Kind, MarginInterval, learned_kind, proven_lower, proven_upper, radius_of
from onlinear.theory.check.verdict import Inseparable, Separable
from onlinear.theory.examples import Examples
from onlinear.theory.search.comparator import comparator_of
from onlinear.theory.search.decide import verdict_of
from onlinear.theory.search.hard_margin import Progress, margin_interval

VERSION: Final = 1


def searched(run: Run, examples: Examples, comparator: Any, progress: Progress | None) -> dict[str, Any]:
    """Return what has to be searched for: separators, combinations, the comparator."""
    options = options_of(run)
    compares = isinstance(run.rule, Perceptron) and not isinstance(run, Convergence) and options["start"] is None
    compares = compares and not run.state.multiclass
    if comparator is not None and not compares:
        raise ParameterError("a comparator is for the perceptron on two classes, from 0, in the order of the examples")
    kinds = _kinds(run, examples)
    if kinds is None:
        return {"margins": None, "separability": None, "comparator": None}
    margins = {name: kind and _witness(margin_interval(examples, kind, 1e-4), examples) for name, kind in kinds.items()}
    learned, combination = margins["learned"], None
    if learned is not None and learned["weights"] is None and _decidable(examples):
        verdict = verdict_of(examples.unscaled(), progress)
        if isinstance(verdict, Inseparable):
            combination = _shares(verdict)
        elif isinstance(verdict, Separable) and verdict.weights.dtype != object:
            learned["weights"] = _whole(verdict, examples)
    u = None
    if compares:
        found = comparator_of(examples, progress=progress) if comparator is None else None
        u = (found.whole if found else examples.vector("comparator", comparator)).tolist()
    return {"margins": margins, "separability": combination, "comparator": u}


def computed(run: Run, data: Examples | ClassPairs, witnesses: dict[str, Any], delta: float) -> dict[str, Any]:
    """Return the whole record: everything but the witnesses is computed here."""
    description, examples = described(run, data.n), data.seen
    kinds, margins = _kinds(run, examples), witnesses["margins"]
    proven: Any = None
    if kinds is not None:
        proven = {name: kind and _proven(margins[name], kind, examples) for name, kind in kinds.items()}
    separator = None
    if proven is not None and proven["learned"]["lower"] > 0.0:
        separator = np.array(proven["learned"]["weights"])
    start = description["options"]["start"]
    u = witnesses["comparator"]
    case = Case(
        outcome=run,
        examples=examples,
        n=data.n,
        pairs=data if isinstance(data, ClassPairs) else None,
        passes=None if isinstance(run, Convergence) else run.rounds // data.n,
        start=None if start is None else np.array(start),
        separator=separator,
        comparator=None if u is None else _vector(u, examples),
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
    """Return a fingerprint of everything in a record but the fingerprint itself."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def opened(X: Any, y: Any, options: dict[str, Any]) -> Examples | ClassPairs:
    """Return the examples as the rule saw them."""
    if options.get("multiclass", False):
        if y is None or options["normalize"]:
            what = "blocks; give X and y" if y is None else "normalised rows; normalise them beforehand"
            raise ParameterError(f"with more than two classes there are no certificates for {what}")
        return ClassPairs(X, y, options["classes"], fit_intercept=options["fit_intercept"])
    names = ("fit_intercept", "normalize", "classes", "n_features")
    return Examples(X, y, **{name: options[name] for name in names})


def data_of(examples: Examples | ClassPairs) -> dict[str, Any]:
    """Return what tells these examples from others."""
    digest, codes = Digest(), Counter[int]()
    y: NDArray[Any]
    for _, source, span, y in examples.blocks():
        digest.add(source.block(span, 0, normalize=False), y)
        codes.update(y.tolist())
    rows: dict[str, Any] = {"positive": codes[1]}
    if isinstance(examples, ClassPairs):
        rows = {"by_class": [codes[code] for code in range(examples.classes.size)]}
    return {
        "layout": examples.layout,
        "rows": examples.n,
        **rows,
        "features": examples.width,
        "fingerprint": digest.hexdigest(),
    }


def fingerprint_of(examples: Examples, passes: int) -> str:
    """Return the checksum that a run leaves of these examples, read so many times."""
    trail = Trail()
    for _, source, span, y in examples.repeated(passes).blocks():
        trail.add(sums_of(source, span, source.block(span, 0, normalize=False)), y)
    return str(trail)


def outcome_of(run: Run) -> dict[str, Any]:
    """Return what came out, down to the bits of the weights."""
    return {
        "rounds": run.rounds,
        "mistakes": run.mistakes,
        **_by_class(run),
        "updates": run.updates,
        "expected_mistakes": run.expected_mistakes,
        "margin_upper_bound": _finite(run.margin_upper_bound),
        "weights": weights_digest(run),
    }


def _by_class(run: Run) -> dict[str, Any]:
    if run.state.multiclass:
        return {"mistakes_by_class": list(run.mistakes_by_class)}
    return {"mistakes_positive": run.mistakes_positive, "mistakes_negative": run.mistakes_negative}


def _kinds(run: Run, examples: Examples) -> dict[str, Kind | None] | None:
    """Return which margins belong to an outcome: that of what the rule saw, and beside it the affine one."""
    if run.rule.inputs != "real":
        return None
    affine = examples.bias and _both_classes(examples)
    return {"learned": learned_kind(examples), "affine": "affine" if affine else None}


def _whole(vector: Any, examples: Examples) -> list[float]:
    """Return weights as they are recorded: the intercept first, if there is one."""
    return [*([float(vector.intercept)] * examples.bias), *vector.weights.tolist()]


def _witness(interval: MarginInterval, examples: Examples) -> dict[str, Any]:
    """Return an interval's two witnesses."""
    return {
        "weights": None if interval.weights is None else _whole(interval, examples),
        "support": interval.support.tolist(),
        "shares": interval.shares.tolist(),
    }


def _proven(entry: dict[str, Any], kind: Kind, examples: Examples) -> dict[str, Any]:
    """Return an interval computed from its witnesses alone."""
    weights = entry["weights"]
    support = np.array(entry["support"], dtype=np.intp)
    if support.min(initial=0) < 0:
        raise VerificationError("a row's number is negative")
    lower = 0.0 if weights is None else max(0.0, proven_lower(examples, _vector(weights, examples), kind))
    return {
        "kind": kind,
        "lower": lower,
        "upper": proven_upper(examples, support, np.array(entry["shares"], dtype=np.float64), kind),
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
    return _shares(Inseparable.by(examples.unscaled(), rows, [_fraction(share) for share in held["shares"]]))


def _decidable(examples: Examples) -> bool:
    """Tell whether the rows' lengths do not matter: they do where normalised rows stand beside an intercept."""
    return not (examples.normalize and examples.bias)


def _shares(verdict: Inseparable) -> dict[str, Any]:
    # In base 16: numbers of thousands of digits are no trouble there.
    shares = [f"{share.numerator:x}/{share.denominator:x}" for share in verdict.shares]
    return {"verdict": "inseparable", "rows": verdict.rows.tolist(), "shares": shares}


def _fraction(text: str) -> Fraction:
    if re.fullmatch(r"[0-9a-f]+/[0-9a-f]+", text) is None:
        raise VerificationError(f"a share must be two numbers in base 16, such as 1/4, not {text[:20]!r}")
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


def _both_classes(examples: Examples) -> bool:
    seen: set[int] = set()
    for _, _, _, y in examples.blocks():
        seen.update(np.unique(y).tolist())
    return len(seen) == 2


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
