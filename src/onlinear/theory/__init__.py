"""Why to trust it: margins, separability, bounds, comparators and certificates.

Whatever is called proven is rounded outward, and comes with a witness where there is one.
"""

from onlinear.theory import bounds
from onlinear.theory.certificate import Certificate, certify
from onlinear.theory.check.interval import MarginInterval, Step
from onlinear.theory.check.measures import Margin, distances, hinge, margin, radius, rescale, strip_width
from onlinear.theory.check.verdict import Inseparable, Separable, Undecided
from onlinear.theory.lemmas import verify_lemmas
from onlinear.theory.lemmas.claims import Broken, LemmaReport
from onlinear.theory.search.comparator import Comparator, best_comparator
from onlinear.theory.search.decide import separability
from onlinear.theory.search.hard_margin import max_margin

__all__ = [
    "Broken",
    "Certificate",
    "Comparator",
    "Inseparable",
    "LemmaReport",
    "Margin",
    "MarginInterval",
    "Separable",
    "Step",
    "Undecided",
    "best_comparator",
    "bounds",
    "certify",
    "distances",
    "hinge",
    "margin",
    "max_margin",
    "radius",
    "rescale",
    "separability",
    "strip_width",
    "verify_lemmas",
]
