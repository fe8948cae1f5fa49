"""Making, showing and verifying certificates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from onlinear.display import Pictured, Reported, confidence, counted, rounded_down, rounded_up
from onlinear.errors import DataError, OnlinearError, ParameterError, VerificationError
from onlinear.models.tensors import refuse_constant, without_duplicates
from onlinear.runs.batch import BatchRun
from onlinear.runs.outcome import Run
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.certificate.limits import USUAL, Limits, check_entries, check_limit, check_reads, check_work
from onlinear.theory.certificate.record import (
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
from onlinear.theory.certificate.statements import EQUAL_STEPS, NO_SEPARATOR, PROGRESSIVE, not_progressive
from onlinear.theory.certificate.structure import check_structure
from onlinear.theory.certificate.witnesses import find_witnesses
from onlinear.theory.certificate.wording import in_current_words
from onlinear.theory.check.interval import MarginInterval, OnStep
from onlinear.theory.examples import Examples
from onlinear.theory.reading import count_rows

_ROUNDED_MORE = frozenset({"value", "hinge_sum", "second_form", "looser", "expected_mistakes"})
"""Bounds from above, in the entries of `bounds`, that earlier versions rounded up by a few units more."""
_BY_AT_MOST = 1e-12


def certify(
    run: Run,
    X: Any,
    y: Any = None,
    comparator: Any = None,
    *,
    delta: float = 0.05,
    seconds: float = 60.0,
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
        The vector for the perceptron hinge bound (P5), or for that of PA-I or PA-II. Default: one that makes the bound
        (nearly) as small as possible.
    delta : float
        The probability with which a probabilistic statement may fail.
    seconds : float
        The budget of each search for a margin or a verdict: counted by its size, not clocked, so the certificate does
        not depend on the machine. What is not found is left open.
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
    votes = run.rule.inputs == "advice" or bool(run.state.members)
    examples = open_examples(X, y, options_of(run), votes=votes)
    states = [state for state in run.state.members or (run.state,) if isinstance(state.rule, EQUAL_STEPS)]
    scheduled = isinstance(run, BatchRun) and run.schedule != "constant"
    if not scheduled and any(state.steps != state.updates for state in states):
        raise ParameterError("the run has learned with sample weights; the theorems assume equal steps")
    description = describe_run(run, examples.n)
    checksum = run.state.checksum
    added = "there is no certificate if classes were added during the run; " if run.state.multiclass else ""
    if run.rule.weighted and not states:
        added += "there is no certificate for a run with sample weights; "
    if checksum is not None and checksum != examples.checksum(description["procedure"]["passes"]):
        raise DataError(f"{added}these are not the examples of the run, or not in its order: their checksums differ")
    again = replay(description, X, y, run.rule)
    found, claimed = ({"outcome": outcome_of(one), **describe_run(one, examples.n)} for one in (again, run))
    _compare(found, claimed, DataError, f"{added}the run has", "over these examples it gets")
    witnesses = find_witnesses(run, examples, comparator, seconds, progress)
    return Certificate(compute_record(run, examples, witnesses, float(delta)))


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Pictured, Reported):
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
        return all(map(_is_within, self.record["bounds"]))

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
    def from_json(cls, text: str, *, limits: Limits = USUAL) -> Certificate:
        """Return the certificate that `to_json` wrote. Only its structure is checked; `verify` checks the rest.

        Parameters
        ----------
        text : str
            The text.
        limits : Limits
            Its length may be at most ``limits.characters``.
        """
        try:
            check_limit(limits, "characters", len(text), "the text is too long")
            record = json.loads(text, object_pairs_hook=without_duplicates, parse_constant=refuse_constant)
            check_structure(record)
        except (VerificationError, ValueError, TypeError, RecursionError) as error:
            raise DataError(f"this is not a certificate: {error}") from error
        return cls(record)

    def verify(self, X: Any, y: Any = None, rule: Any = None, *, limits: Limits = USUAL) -> None:
        """Recompute everything from the examples; raise a `VerificationError` with the first entry that differs.

        The recorded rule runs in the recorded order and layout with the recorded seed. Margins, bounds and the rest are
        recomputed from the examples and the recorded witnesses, without any solver. The structure of the record and the
        work that it asks for are checked first.

        A bound that the run exceeds is an error, too, unless it only holds with some probability.

        Parameters
        ----------
        X, y : matrix and labels
            The examples, in any layout.
        rule : class, or list of classes, optional
            The rule, where it is not one of the library's: its code is not recorded. A majority may have several.
        limits : Limits
            The most work that the certificate may ask for; it need not come from somebody you trust.
        """
        check_structure(self.record)
        check_work(self.record, limits)
        made = make_recorded_rule(self.record["rule"], rule)
        try:
            self._verify(X, y, made, limits)
        except VerificationError:
            raise
        except OnlinearError as error:
            raise VerificationError(f"the certificate does not fit these examples: {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError) as error:
            raise VerificationError(f"the certificate is malformed: {type(error).__name__}: {error}") from error

    def _verify(self, X: Any, y: Any, rule: Any, limits: Limits) -> None:
        record, procedure = in_current_words(self.record), self.record["procedure"]
        X = convert_layout(X, y, record["data"]["layout"], limits)
        if y is not None and count_rows(X) != record["data"]["rows"]:
            rows = record["data"]["rows"]
            raise VerificationError(f"data.rows: the certificate says {rows}, the data say {count_rows(X)}")
        votes = rule.inputs == "advice" or "members" in record["rule"]
        examples = open_examples(X, y, record["options"], votes=votes)
        check_reads(record, examples, limits)
        _compare({"data": data_of(examples)}, {"data": record["data"]}, VerificationError)
        if procedure["kind"] == "run" and procedure["passes"] * examples.n != record["outcome"]["rounds"]:
            raise VerificationError(f"{procedure['passes']} passes do not make {record['outcome']['rounds']} rounds")
        passes = procedure["passes"] if procedure["kind"] == "run" else None
        reason = not_progressive(record["options"]["start"], passes)
        _check_applies(record, {PROGRESSIVE: reason} if reason else {})  # known before the run is repeated
        check_entries(record, examples, limits)
        description = {name: record[name] for name in ("rule", "options", "procedure")}
        outcome = replay(description, X, y, rule)
        witnesses = {name: record[name] for name in ("margins", "separability", "comparator")}
        found = compute_record(outcome, examples, witnesses, record["delta"])
        _check_applies(record, {entry["theorem"]: entry["reason"] for entry in found["excluded"]})
        _compare({**found, "digest": record["digest"]}, record, VerificationError)
        if record["digest"] != digest_of(self.record):
            raise VerificationError("the certificate has been altered: its digest is not that of its content")
        for entry in found["bounds"]:
            if not (entry["chance"] or _is_within(entry)):
                raise VerificationError(
                    f"the run exceeds a bound, so rounding decided a prediction: {_statement(entry)}"
                )

    def _tightest(self) -> dict[str, Any] | None:
        certain = [entry for entry in in_current_words(self.record)["bounds"] if not entry["chance"]]
        return max(certain, key=_share, default=None)

    def _pairs_per_example(self) -> int:
        """Return how many pairs of its class and another each example stands for; 0 where there are two classes."""
        options = self.record["options"]
        return len(options["classes"]) - 1 if options.get("multiclass", False) else 0

    def _title(self) -> str:
        rule = self.record["rule"]
        if "members" in rule:
            return f"Certificate for the majority of {counted(len(rule['members']), 'rule')}"
        return f"Certificate for {_named(rule)}"

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
        for member, made in zip(record["rule"].get("members", ()), outcome.get("member_mistakes", ()), strict=True):
            options = [words for name, words in _MEMBER_OPTIONS.items() if member[name]]
            facts.append(("member", f"{made:,} mistakes: {', '.join([_named(member['rule']), *options])}"))
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
        # The reason was recorded before the verdict, which may say more.
        inseparable = verdict is not None and verdict["verdict"] == "inseparable"
        known = {NO_SEPARATOR: "no vector separates the examples"} if inseparable else {}
        reasons = {entry["theorem"]: known.get(entry["reason"], entry["reason"]) for entry in record["excluded"]}
        return facts + [(theorem, f"does not apply: {reason}") for theorem, reason in reasons.items()]


_MEMBER_OPTIONS = {"fit_intercept": "with an intercept", "normalize": "normalized"}


def _named(rule: dict[str, Any]) -> str:
    """Return a recorded rule with its parameters."""
    return f"{rule['name']}({', '.join(f'{name}={value!r}' for name, value in rule['parameters'].items())})"


def _check_applies(record: dict[str, Any], excluded: dict[str, str]) -> None:
    """Raise if a record has the bound of a theorem that does not apply."""
    for entry in record["bounds"]:
        if entry["theorem"] in excluded:
            raise VerificationError(f"{entry['theorem']} does not apply: {excluded[entry['theorem']]}")


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
    elif not _agrees(found, claimed, place):
        raise fault(f"{place or 'it'}: {claim} {_brief(claimed)}, {fact} {_brief(found)}")


def _agrees(found: Any, claimed: Any, place: str) -> bool:
    """Tell whether a claim is proven: it is what was found or, of a bound from above, hardly more. Never less."""
    if type(found) is not type(claimed):
        return False
    if isinstance(found, float) and place.startswith("bounds[") and place.rpartition(".")[2] in _ROUNDED_MORE:
        return found <= float(claimed) <= found * (1.0 + _BY_AT_MOST)
    return bool(found == claimed)


def _is_within(entry: dict[str, Any]) -> bool:
    """Tell whether the run is within a recorded bound."""
    actual, value = entry["actual"], entry["value"]
    return bool(actual < value or (actual == value and not entry["strict"]))


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
    relation = ("<" if entry["strict"] else "≤") if _is_within(entry) else ("≥" if entry["strict"] else ">")
    chance = f", with probability {confidence(entry['quantities']['delta'])}" if entry["chance"] else ""
    if entry["of"] == "risk":
        declared = ", ".join(entry["declared"])
        return f"mean risk of the hypotheses used ≤ {rounded_up(value)}{chance} (declared: {declared})"
    noun = entry["of"].removesuffix("s") if actual == 1 else entry["of"]
    return f"{count} {noun} {relation} {rounded_up(value)}{chance} ({_share(entry):.1%} of it)"
