"""The experiments of the lecture notes: each is called, measures, and says what it has found."""

from onlinear.experiments.exclusive_or import figure1
from onlinear.experiments.experiment import Experiment, Reproduction
from onlinear.experiments.winnow_figure import figure2

__all__ = ["EXPERIMENTS", "Experiment", "Reproduction", "figure1", "figure2"]

EXPERIMENTS = {one.name: one for one in (figure2, figure1)}
"""All experiments by name, in the order in which the command lists them."""
