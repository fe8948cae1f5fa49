"""How much of what each theorem allows was used."""

from __future__ import annotations

import math

from onlinear.display import confidence
from onlinear.pictures.picture import Axis, Picture
from onlinear.pictures.rows import row_bars, rows_axis
from onlinear.pictures.wording import limit_words, rounded
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.certificate.certificate import Certificate


def bounds_picture(certificate: Certificate) -> Picture:
    """Return for each theorem about the run, what it used of what the theorem allows.

    Parameters
    ----------
    certificate : Certificate
        The result of `onlinear.certify`.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> certificate = onlinear.certify(onlinear.run(onlinear.rules.Perceptron(), X, y), X, y)
    >>> bounds_picture(certificate).y.names[0]
    'Perceptron mistake bound (P1): 8 of 97.8759'
    """
    names, shares, notes = [], [], []
    for bound, entry in zip(certificate.bounds, certificate.record["bounds"], strict=True):
        chance = chance_words(bound)
        if bound.of == "risk":
            notes.append(
                f"{bound.theorem}: the mean risk of the hypotheses used is at most {limit_words(bound.value)}{chance},"
                f" if {' and '.join(bound.declared)}. It is not a count."
            )
        elif not math.isfinite(bound.value):
            notes.append(f"{bound.theorem}: no limit is known.")
        else:
            of = " expected" * (bound.of == "expected mistakes")
            names.append(f"{bound.theorem}: {rounded(entry['actual'])}{of} of {limit_words(bound.value)}{chance}")
            shares.append(entry["actual"] / bound.value if bound.value else 1.0)
    notes += [f"{entry['theorem']} does not apply: {entry['reason']}." for entry in certificate.record["excluded"]]
    high = max([1.0, *shares])
    return Picture(
        "What the theorems allowed, and how much was used",
        Axis("share of the bound", percent=True, low=0.0, high=high),
        rows_axis(names),
        (row_bars("", names, shares),),
        tuple(notes),
    )


def chance_words(bound: Bound) -> str:
    """Return with which probability a bound holds, for the end of a name; nothing if it is certain."""
    delta = bound.quantities.get("delta")
    return f" (with probability {confidence(delta)})" if delta else ""
