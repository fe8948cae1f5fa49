"""The report on a run, on several, or on a certificate: one HTML page, or Markdown with the same facts.

It needs Jinja2: ``pip install "onlinear[report]"``.
"""

from __future__ import annotations

from typing import Any

from onlinear.report.page import Page, check_jinja
from onlinear.report.summarise import summarise

__all__ = ["Page", "report", "summarise"]


def report(
    result: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "",
    data: str = "",
    command: str = "",
    shuffle: int = 0,
    seed: int = 0,
    date: str = "",
) -> Page:
    """Return the report on a result; `Page.save` writes it.

    It has the mistakes over time, if the run has a trace, and what the result knows. With the examples it also says
    which of them cost most, whether some vector separates them, and what each theorem allowed, unless they are too
    large for that. The same arguments give the same bytes.

    Parameters
    ----------
    result : Run, Comparison or Certificate
        What to report on; runs with ``trace="curve"``.
    X, y : matrix and labels, optional
        The examples, in the order of the run; without y, a stream or blocks ``(X, y)`` that can be iterated again.
    title : str
        The title. Default: the rule and the data.
    data : str
        What the data are called.
    command : str
        The command that made the report. Default: the lines of Python that make one like it.
    shuffle, seed : int
        Those of `onlinear.train`, if they were given there.
    date : str
        A date to print. By default there is none, and the report does not depend on when it is made.

    Returns
    -------
    Page

    Examples
    --------
    >>> import onlinear
    >>> from onlinear.report import report
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> run = onlinear.train(onlinear.rules.Perceptron(), X, y, trace="curve")
    >>> report(run, X, y, data="separable examples")
    Perceptron on separable examples
      What was run
      Mistakes over time
      Is there a separator?
      What the theorems allowed
      Largest weights
      Examples that cost most
      Which classes were confused
      How to reproduce it
    """
    check_jinja()
    return Page(
        summarise(
            result,
            X,
            y,
            title=title,
            data=data,
            command=command,
            shuffle=shuffle,
            seed=seed,
            date=date,
        )
    )
