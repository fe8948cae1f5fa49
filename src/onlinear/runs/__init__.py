"""A stream through a rule: predict, learn, count."""

from onlinear.runs.batch import BatchRun, batch_perceptron
from onlinear.runs.converge import Convergence, converge
from onlinear.runs.online import run
from onlinear.runs.outcome import Run
from onlinear.runs.state import State
from onlinear.runs.trace import Potentials, Trace

__all__ = [
    "BatchRun",
    "Convergence",
    "Potentials",
    "Run",
    "State",
    "Trace",
    "batch_perceptron",
    "converge",
    "run",
]
