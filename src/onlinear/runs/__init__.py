"""Running rules over examples."""

from onlinear.models.state import State
from onlinear.runs.batch import BatchRun, batch_perceptron
from onlinear.runs.classes import state_before, with_classes
from onlinear.runs.comparing import compare
from onlinear.runs.comparison import Comparison
from onlinear.runs.converge import converge
from onlinear.runs.convergence import Convergence, Outcome
from onlinear.runs.curve import Curve
from onlinear.runs.evaluation import Evaluation
from onlinear.runs.online import run
from onlinear.runs.outcome import Run
from onlinear.runs.saved import load
from onlinear.runs.trace import Potentials, Trace
from onlinear.runs.training import Progress, train

__all__ = [
    "BatchRun",
    "Comparison",
    "Convergence",
    "Curve",
    "Evaluation",
    "Outcome",
    "Potentials",
    "Progress",
    "Run",
    "State",
    "Trace",
    "batch_perceptron",
    "compare",
    "converge",
    "load",
    "run",
    "state_before",
    "train",
    "with_classes",
]
