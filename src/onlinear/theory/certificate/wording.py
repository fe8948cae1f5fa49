"""Certificates written by earlier versions: the names of theorems have changed since, their meaning has not."""

from __future__ import annotations

from typing import Any, Final

_NOW: Final = {
    "P1 perceptron": "Perceptron mistake bound (P1)",
    "P2 perceptron, warm start": "Perceptron warm-start bound (P2)",
    "P5 perceptron, not separable": "Perceptron hinge bound (P5)",
    "P8 margin perceptron": "Margin perceptron update bound (P8)",
    "P9 margin perceptron, normalised": "Normalised margin perceptron update bound (P9)",
    "P10 batch perceptron": "Batch perceptron step bound (P10)",
    "P11 batch perceptron, schedule": "Batch perceptron step bound with a schedule (P11)",
    "P12 progressive validation": "Progressive validation (P12)",
    "P13 multiclass perceptron": "Multiclass perceptron mistake bound (P13)",
    "P1 to P12": "Perceptron theorems (P1 to P12)",
    "Winnow": "Winnow mistake bound",
    "weighted majority": "Weighted majority mistake bound",
    "halving": "Halving mistake bound",
    "randomised weighted majority": "Randomised weighted majority mistake bound",
    "randomised weighted majority, anytime": "Anytime randomised weighted majority mistake bound",
    "it is made for rounds in the order of the examples": "it applies to rounds in the order of the examples",
    "it is made for one pass over the examples": "it applies to one pass over the examples",
}


def in_current_words(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with theorems, and reasons why they do not apply, as they are worded today."""
    renamed = {
        part: [{name: _now(value) for name, value in entry.items()} for entry in record[part]]
        for part in ("bounds", "excluded")
    }
    return {**record, **renamed}


def _now(value: Any) -> Any:
    return _NOW.get(value, value) if isinstance(value, str) else value
