"""How verdicts are shown: examples by their places in the files, and with several classes as pairs of classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from onlinear.cli.output import Summary, visible
from onlinear.display import shortened, wrapped

if TYPE_CHECKING:
    from onlinear.data.chunk import Chunk
    from onlinear.theory import Certificate, ClassPairs

_SHOWN = 12
"""How many pairs are listed before the rest are only counted."""
_FEW = 6
"""How many places stand in one line."""


def find_places(chunks: Iterable[Chunk], rows: Iterable[int]) -> dict[int, str]:
    """Return the places of examples, by their numbers."""
    wanted = sorted(rows)
    found: dict[int, str] = {}
    first = 0
    for chunk in chunks if wanted else ():
        found |= {row: visible(chunk.place(row - first)) for row in wanted if first <= row < first + chunk.n}
        first += chunk.n
        if len(found) == len(wanted):
            break
    return found


def examples_of_verdict(verdict: Any, pairs: ClassPairs | None) -> set[int]:
    """Return the numbers of the examples that prove a verdict; there are none if it is not `Inseparable`."""
    rows = [int(row) for row in getattr(verdict, "rows", ())]
    return set(rows) if pairs is None else {pairs.pair(row).example for row in rows}


def verdict_text(verdict: Any, pairs: ClassPairs | None, places: dict[int, str]) -> str:
    """Return a verdict as text."""
    if pairs is None:
        named = {f"row {row}": place for row, place in places.items()}
        return repr(Summary(verdict._title(), [(named.get(name, name), value) for name, value in verdict._facts()]))
    intercept = ", with an intercept" if pairs.bias else ""
    return repr(Summary(f"{type(verdict).__name__}{intercept}", _pair_facts(verdict, pairs, places)))


def verdict_record(verdict: Any, pairs: ClassPairs | None, places: dict[int, str]) -> dict[str, Any] | None:
    """Return a verdict for JSON."""
    if verdict is None:
        return None
    facts: dict[str, Any] = {"verdict": type(verdict).__name__.lower()}
    if not hasattr(verdict, "rows"):
        return facts
    facts["because"] = verdict.explain(places) if pairs is None else _pairs_reason(verdict, pairs)
    parts = zip(verdict.rows.tolist(), verdict.labels, verdict.shares, strict=True)
    facts["rows"] = [{**_example(row, label, pairs, places), "share": float(share)} for row, label, share in parts]
    return facts


def _example(row: int, label: Any, pairs: ClassPairs | None, places: dict[int, str]) -> dict[str, Any]:
    """Return the example of a row, or of a pair, for JSON."""
    if pairs is None:
        return {"row": row, "place": places.get(row), "label": label}
    pair = pairs.pair(row)
    return {"row": pair.example, "place": places.get(pair.example), "label": pair.own, "against": pair.other}


def margin_text(margin: Any, pairs: ClassPairs | None) -> str:
    """Return an interval for the margin as text."""
    if pairs is None:
        return repr(margin)
    return repr(Summary("Largest margin, of the right class over every other", margin._facts("pair")))


def certificate_text(certificate: Certificate, chunks: Iterable[Chunk]) -> str:
    """Return a certificate as text, with the places of the examples that no vector separates."""
    pairs = certificate._pairs_per_example()
    rows = (certificate.record["separability"] or {}).get("rows", [])
    examples = sorted({row // pairs for row in rows}) if pairs else rows
    places = find_places(chunks, examples[:_FEW])
    facts = certificate._facts()
    if places:
        listed = ", ".join([*places.values(), *["…"] * (len(examples) > _FEW)])
        reason = "is all zeros" if len(examples) == 1 else "cancel exactly"
        separable = f"no: {'pairs of classes on ' * bool(pairs)}{listed} {reason}"
        facts = [(name, separable if name == "separable" else value) for name, value in facts]
    return repr(Summary(certificate._title(), facts))


def _pair_facts(verdict: Any, pairs: ClassPairs, places: dict[int, str]) -> list[tuple[str, str]]:
    """Return the facts of a verdict on pairs of classes."""
    from onlinear.theory import Separable, Undecided
    from onlinear.theory.check.verdict import show_share

    if isinstance(verdict, Undecided):
        return verdict._facts()
    if isinstance(verdict, Separable):
        vectors = "a weight vector and an intercept" if pairs.bias else "a weight vector"
        how = f"{vectors} for each of the {pairs.classes.size} classes"
        return wrapped("witness", f"{how}, with which every example scores highest for its own class")
    listed = [
        (pairs.name(row, places), f"share {show_share(share)}")
        for row, share in zip(verdict.rows.tolist(), verdict.shares, strict=True)
    ]
    return [("because", _pairs_reason(verdict, pairs)), *shortened(listed, _SHOWN)]


def _pairs_reason(verdict: Any, pairs: ClassPairs) -> str:
    if len(verdict.rows) == 1:
        return "this example is all zeros: every weight vector scores it 0"
    x = "(x, 1)" if pairs.bias else "x"
    these = f"these {len(verdict.rows):,} pairs of an example and a wrong class"
    return f"{these}, with these shares, cancel exactly: Σ λ·{x}⊗(e_y − e_r) = 0"
