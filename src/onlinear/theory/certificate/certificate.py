"""Making, showing and verifying certificates."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from onlinear.display import Facts, counted, rounded_down, rounded_up
from onlinear.errors import AssumptionError, DataError, OnlinearError, ParameterError, VerificationError
from onlinear.runs.batch import BatchRun
from onlinear.runs.outcome import Run
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.certificate.record import (
    VERSION,
    bound_of,
    compute_record,
    data_of,
    digest_of,
    interval_of,
    outcome_of,
)
from onlinear.theory.certificate.replay import (
    convert_layout,
    describe_run,
    make_recorded_rule,
    open_examples,
    options_of,
    replay,
)
from onlinear.theory.certificate.witnesses import find_witnesses
from onlinear.theory.certificate.wording import in_current_words
from onlinear.theory.check.interval import MarginInterval, OnStep
from onlinear.theory.examples import Examples

_NAMES = frozenset(
    (
        *("rule", "options", "procedure", "delta", "data", "outcome"),
        *("margins", "separability", "comparator", "bounds", "excluded", "digest"),
    )
)
_TOLERANCE = 1e-12
"""How far a recomputed bound may be off, relative to itself: earlier versions rounded logarithms more generously."""


def certify(
    run: Run,
    X: Any,
    y: Any = None,
    comparator: Any = None,
    *,
    delta: float = 0.05,
    progress: OnStep | None = None,
) -> Certificate:
    """Return a certificate for a run: its mistakes beside what each theorem allows, and what the data permit.

    The run is first repeated on the examples, so that it is certain to belong to them.

    Parameters
    ----------
    run : Run
        The result of `onlinear.run`, `onlinear.converge` or `onlinear.batch_perceptron`.
    X, y : matrix and labels
        The examples of the run, in their order; without y, blocks ``(X, y)`` that can be iterated again.
    comparator : array, or pair (array, float), optional
        The vector for the perceptron hinge bound (P5). Default: the one that makes it smallest.
    delta : float
        The probability with which a probabilistic statement may fail.
    progress : callable, optional
        Called with a `Step` of each search: for the margins, for a verdict, for the comparator.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> certificate = onlinear.certify(onlinear.run(onlinear.rules.Perceptron(), X, y), X, y)
    >>> certificate.tightest.theorem, certificate.holds
    ('Perceptron hinge bound (P5)', True)
    >>> certificate.verify(X, y)
    """
    if not isinstance(run, Run):
        raise ParameterError(f"run is {type(run).__name__}; it must be a Run, as onlinear.run returns it")
    if isinstance(X, Examples):
        raise ParameterError("X is Examples; certify repeats the run, and needs X and y themselves")
    if not (isinstance(delta, float) and 0.0 < delta < 1.0):
        raise ParameterError(f"delta is {delta!r}; it must be a number with 0 < delta < 1")
    examples = open_examples(X, y, options_of(run))
    equal_steps = not isinstance(run, BatchRun) or run.schedule == "constant"
    if run.rule.weighted and equal_steps and run.state.steps != run.updates:
        raise ParameterError("the run has learned with sample weights; the theorems assume equal steps")
    description = describe_run(run, examples.n)
    checksum = run.state.checksum
    if checksum is not None and checksum != examples.seen.checksum(description["procedure"]["passes"]):
        raise DataError("these are not the examples of the run, or not in its order: their checksums differ")
    again = replay(description, X, y, run.rule)
    found, claimed = ({"outcome": outcome_of(one), **describe_run(one, examples.n)} for one in (again, run))
    _compare(found, claimed, DataError, "the run has", "over these examples it gets")
    return Certificate(compute_record(run, examples, find_witnesses(run, examples.seen, comparator, progress), delta))


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Facts):
    """The result of a run, what the theorems allow, and the witnesses; plain data, with nothing executable in it.

    Attributes
    ----------
    record : dict
        Everything, as it stands in the JSON form.
    """

    record: dict[str, Any]

    @property
    def mistakes(self) -> int:
        """The mistakes of the run."""
        return int(self.record["outcome"]["mistakes"])

    @property
    def bounds(self) -> list[Bound]:
        """The bound of each theorem that applies."""
        return [bound_of(entry) for entry in in_current_words(self.record)["bounds"]]

    @property
    def holds(self) -> bool:
        """Whether the run is within every bound."""
        return all(
            entry["actual"] < entry["value"] or (entry["actual"] == entry["value"] and not entry["strict"])
            for entry in self.record["bounds"]
        )

    @property
    def tightest(self) -> Bound | None:
        """The bound of which the largest share was used, of those that are certain (None: there is none)."""
        entry = self._tightest()
        return None if entry is None else bound_of(entry)

    @property
    def margin(self) -> MarginInterval | None:
        """The largest margin of the rows as the rule saw them, as an interval (None: the rule does not use margins)."""
        entries = self.record["margins"]
        return None if entries is None else interval_of(entries["learned"], self.record)

    @property
    def difficulty(self) -> float | None:
        """(R/γ)² with the proven margin, rounded up; infinite where no separator is known."""
        return None if self.margin is None else self.margin.difficulty

    def to_json(self) -> str:
        """Return the certificate as text."""
        return json.dumps(self.record, ensure_ascii=False, allow_nan=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Return the certificate that `to_json` wrote; nothing in it is trusted before `verify`."""
        try:
            record = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(f"this is not a certificate: {error}") from error
        if not isinstance(record, dict) or record.get("certificate") != VERSION or not set(record) >= _NAMES:
            raise DataError(f"this is not a complete certificate of version {VERSION}")
        return cls(record)

    def verify(self, X: Any, y: Any = None, rule: Any = None) -> None:
        """Recompute everything from the examples; raise a `VerificationError` with the first entry that differs.

        The recorded rule runs in the recorded order and layout with the recorded seed. Margins, bounds and the rest are
        recomputed from the examples and the recorded witnesses, without any solver.

        Parameters
        ----------
        X, y : matrix and labels
            The examples, in any layout.
        rule : class, optional
            The rule, where it is not one of the library's: its code is not recorded.
        """
        try:
            self._verify(X, y, rule)
        except (DataError, AssumptionError) as error:
            raise VerificationError(f"the certificate does not fit these examples: {error}") from error
        except OnlinearError:
            raise
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
            RecursionError,
            MemoryError,
        ) as error:
            raise VerificationError(f"the certificate is malformed: {type(error).__name__}: {error}") from error

    def _verify(self, X: Any, y: Any, rule: Any) -> None:
        record, procedure = in_current_words(self.record), self.record["procedure"]
        X = convert_layout(X, y, record["data"]["layout"])
        examples = open_examples(X, y, record["options"])
        _compare({"data": data_of(examples)}, {"data": record["data"]}, VerificationError)
        if procedure["kind"] == "run" and procedure["passes"] * examples.n != record["outcome"]["rounds"]:
            raise VerificationError(f"{procedure['passes']} passes do not make {record['outcome']['rounds']} rounds")
        description = {name: record[name] for name in ("rule", "options", "procedure")}
        outcome = replay(description, X, y, make_recorded_rule(record, rule))
        witnesses = {name: record[name] for name in ("margins", "separability", "comparator")}
        delta = float(record["delta"])
        if not 0.0 < delta < 1.0:
            raise VerificationError(f"delta is {delta!r}; it must be between 0 and 1")
        found = compute_record(outcome, examples, witnesses, delta)
        _compare({**found, "digest": record["digest"]}, record, VerificationError)
        if record["digest"] != digest_of(self.record):
            raise VerificationError("the certificate has been altered: its digest is not that of its content")

    def _tightest(self) -> dict[str, Any] | None:
        certain = [entry for entry in in_current_words(self.record)["bounds"] if not entry["chance"]]
        return max(certain, key=_share, default=None)

    def _pairs_per_example(self) -> int:
        """Return how many pairs of its class and another each example stands for; 0 where there are two classes."""
        options = self.record["options"]
        return len(options["classes"]) - 1 if options.get("multiclass", False) else 0

    def _title(self) -> str:
        rule = self.record["rule"]
        parameters = ", ".join(f"{name}={value!r}" for name, value in rule["parameters"].items())
        return f"Certificate for {rule['name']}({parameters})"

    def _facts(self) -> list[tuple[str, str]]:
        record = in_current_words(self.record)
        data, outcome = record["data"], record["outcome"]
        facts = [
            (
                "examples",
                f"{data['rows']:,} with {counted(data['features'], 'feature')}, sha256 {data['fingerprint'][:16]}…",
            ),
            ("order", _order(record["procedure"])),
            ("mistakes", f"{outcome['mistakes']:,} in {outcome['rounds']:,} rounds"),
            ("updates", f"{outcome['updates']:,}"),
        ]
        margin, verdict = self.margin, record["separability"]
        if verdict is not None:
            facts.append(("separable", _verdict(verdict, self._pairs_per_example())))
        if margin is not None and (verdict is None or verdict["verdict"] != "inseparable"):
            kind = "of the right class over every other" if self._pairs_per_example() else margin.kind
            facts.append(("largest margin", f"{rounded_down(margin.lower)} to {rounded_up(margin.upper)}, {kind}"))
            affine = record["margins"]["affine"]
            if affine is not None:
                ends = f"{rounded_down(affine['lower'])} to {rounded_up(affine['upper'])}"
                facts.append(("", f"{ends}, affine: the distance to the hyperplane"))
            hard = f"(R/γ)² ≤ {rounded_up(margin.difficulty)}" if margin.separable else "no separator is known"
            facts.append(("difficulty", hard))
        tightest = self._tightest()
        for entry in record["bounds"]:
            mark = "; the tightest" if entry == tightest else ""
            facts.append((entry["theorem"], f"{_statement(entry)}{mark}"))
        return facts + [(entry["theorem"], f"does not apply: {entry['reason']}") for entry in record["excluded"]]


def _compare(
    found: Any,
    claimed: Any,
    fault: type[OnlinearError],
    claim: str = "the certificate says",
    fact: str = "the data say",
    place: str = "",
) -> None:
    """Raise at the first place where a claim differs from what was recomputed."""
    if isinstance(found, dict) and isinstance(claimed, dict) and found.keys() == claimed.keys():
        for name, value in found.items():
            _compare(value, claimed[name], fault, claim, fact, f"{place}.{name}" if place else name)
    elif isinstance(found, list) and isinstance(claimed, list) and len(found) == len(claimed):
        for k, pair in enumerate(zip(found, claimed, strict=True)):
            _compare(*pair, fault, claim, fact, f"{place}[{k}]")
    elif not _same(found, claimed, _TOLERANCE if place.startswith("bounds[") else 0.0):
        raise fault(f"{place or 'it'}: {claim} {_brief(claimed)}, {fact} {_brief(found)}")


def _same(found: Any, claimed: Any, tolerance: float) -> bool:
    if isinstance(found, float) and isinstance(claimed, float):
        return math.isclose(found, claimed, rel_tol=tolerance)
    return type(found) is type(claimed) and bool(found == claimed)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:56]}…{text[-1]}"


def _order(procedure: dict[str, Any]) -> str:
    passes = counted(procedure["passes"], "pass")
    if procedure["kind"] == "run":
        return f"{passes}, as given"
    if procedure["kind"] == "converge":
        return f"halting loop, {procedure['selection']}: {passes}"
    return f"all misclassified examples together, step size {procedure['schedule']}: {passes}"


def _verdict(entry: dict[str, Any], pairs: int) -> str:
    if entry["verdict"] != "inseparable":
        return {"separable": "yes", "undecided": "not decided"}[entry["verdict"]]
    rows = entry["rows"]
    if pairs:
        rows = sorted({row // pairs for row in rows})
    if len(rows) == 1:
        return f"no: row {rows[0]} is all zeros"
    few = ", ".join(map(str, rows[:6])) + ("…" if len(rows) > 6 else "")
    return f"no: {'pairs of classes on ' if pairs else ''}rows {few} cancel exactly"


def _share(entry: dict[str, Any]) -> float:
    return float(entry["actual"] / entry["value"]) if entry["value"] else 1.0


def _statement(entry: dict[str, Any]) -> str:
    actual, value = entry["actual"], entry["value"]
    count = f"{actual:,}" if isinstance(actual, int) else f"{actual:,.6g}"
    relation = "<" if entry["strict"] else "≤"
    chance = f", with probability {1.0 - entry['quantities']['delta']:g}" if entry["chance"] else ""
    if entry["of"] == "risk":
        declared = ", ".join(entry["declared"])
        return f"mean risk of the hypotheses used ≤ {rounded_up(value)}{chance} (declared: {declared})"
    noun = entry["of"].removesuffix("s") if actual == 1 else entry["of"]
    return f"{count} {noun} {relation} {rounded_up(value)}{chance} ({_share(entry):.1%} of it)"
