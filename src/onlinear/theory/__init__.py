"""Why to trust it: margins, separability, bounds, comparators and certificates.

Whatever is called proven is rounded outward, and comes with a witness where there is one.
"""

import warnings
from typing import Any

from onlinear.data.order import OrderCheck
from onlinear.theory import bounds
from onlinear.theory.certificate import Certificate, Limits, certify
from onlinear.theory.check.interval import MarginInterval, Step
from onlinear.theory.check.measures import Margin, distances, hinge_loss, margin, radius, rescale, strip_width
from onlinear.theory.check.order import order_check
from onlinear.theory.check.verdict import Inseparable, Separable, Undecided
from onlinear.theory.examples import Examples
from onlinear.theory.lemmas import Broken, LemmaReport, verify_lemmas
from onlinear.theory.pairs import ClassPairs
from onlinear.theory.search.comparator import Comparator, best_comparator
from onlinear.theory.search.decide import separability
from onlinear.theory.search.hard_margin import max_margin

__all__ = [
    "Broken",
    "Certificate",
    "ClassPairs",
    "Comparator",
    "Examples",
    "Inseparable",
    "LemmaReport",
    "Limits",
    "Margin",
    "MarginInterval",
    "OrderCheck",
    "Separable",
    "Step",
    "Undecided",
    "best_comparator",
    "bounds",
    "certify",
    "distances",
    "hinge_loss",
    "margin",
    "max_margin",
    "order_check",
    "radius",
    "rescale",
    "separability",
    "strip_width",
    "verify_lemmas",
]


def __getattr__(name: str) -> Any:
    if name == "hinge":
        warnings.warn("onlinear.theory.hinge is now hinge_loss", DeprecationWarning, stacklevel=2)
        return hinge_loss
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
