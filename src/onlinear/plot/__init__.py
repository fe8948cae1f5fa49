"""Pictures of results, drawn with matplotlib (``pip install "onlinear[plot]"``).

Each function takes a result, draws it and returns the axes; ``ax`` says where, ``theme`` in which colours. Beside each
there are ``.frame``, the data behind the picture, and ``.picture``, the same as a `Picture`; these need no matplotlib.

Examples
--------
>>> import onlinear
>>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
>>> run = onlinear.run(onlinear.rules.Perceptron(), X, y, trace="curve")
>>> ax = onlinear.plot.mistakes(run, bounds=onlinear.certify(run, X, y))
>>> ax.get_ylabel()
'mistakes'
>>> onlinear.plot.mistakes.frame(run).column_names
['series', 'x', 'y']
"""

from __future__ import annotations

from typing import Any

from onlinear.errors import ParameterError
from onlinear.models.state import State
from onlinear.pictures.boundary import boundary_picture
from onlinear.pictures.bounds import bounds_picture
from onlinear.pictures.compare import compare_picture
from onlinear.pictures.confusion import confusion_picture
from onlinear.pictures.margin import margin_picture
from onlinear.pictures.mistakes import mistakes_picture
from onlinear.pictures.natural import natural_picture
from onlinear.pictures.potentials import potentials_picture
from onlinear.pictures.regret import regret_picture
from onlinear.pictures.weights import weights_picture
from onlinear.plot.drawing import draw_picture
from onlinear.plot.kinds import PlotKind
from onlinear.plot.style import ThemeName
from onlinear.runs.curve import Curve
from onlinear.runs.evaluation import Evaluation
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace
from onlinear.theory.certificate.certificate import Certificate
from onlinear.theory.check.interval import MarginInterval
from onlinear.theory.check.verdict import Separable

__all__ = [
    "boundary",
    "bounds",
    "compare",
    "confusion",
    "draw",
    "margin",
    "mistakes",
    "potentials",
    "regret",
    "weights",
]

boundary = PlotKind(boundary_picture, "boundary")
bounds = PlotKind(bounds_picture, "bounds", Certificate)
compare = PlotKind(compare_picture, "compare")
confusion = PlotKind(confusion_picture, "confusion", Evaluation, Run, Trace, Curve)
margin = PlotKind(margin_picture, "margin", Run, MarginInterval)
mistakes = PlotKind(mistakes_picture, "mistakes", Run, Trace, Curve)
potentials = PlotKind(potentials_picture, "potentials", Run, Trace)
regret = PlotKind(regret_picture, "regret", Run)
weights = PlotKind(weights_picture, "weights", Run, State, Separable)


def draw(result: Any, ax: Any = None, *, theme: ThemeName | None = None, **options: Any) -> Any:
    """Draw the natural picture of a result, and return the axes; ``result.plot()`` does the same.

    Parameters
    ----------
    result : any result
        A run, a trace, a comparison, an evaluation, a certificate, a margin, a verdict, a data set or a picture.
    ax : matplotlib axes, optional
        Where to draw. Default: a new figure.
    theme : {"light", "dark"}, optional
        The colours. Default: those that suit the background of the axes.
    **options
        Those of the function of `onlinear.plot` that draws this kind of result.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.disjunction(k=2, N=50, n=1000, seed=0)
    >>> onlinear.plot.draw(onlinear.run(onlinear.rules.Winnow(), X, y), top=5).get_xlabel()
    'weight'
    """
    picture = natural_picture(result, **options)
    if picture is None:
        raise ParameterError(f"there is no natural picture of {type(result).__name__}; onlinear.plot has functions")
    return draw_picture(picture, ax, theme=theme)
