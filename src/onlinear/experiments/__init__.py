"""The experiments of the lecture notes: each is called, measures, and says what it has found."""

from onlinear.experiments.batches import batch
from onlinear.experiments.exclusive_or import figure1
from onlinear.experiments.experiment import Experiment, Reproduction
from onlinear.experiments.expert_advice import experts
from onlinear.experiments.halting import convergence
from onlinear.experiments.label_noise import noise
from onlinear.experiments.orders import order
from onlinear.experiments.which_rule import rules
from onlinear.experiments.wider_margins import margin
from onlinear.experiments.winnow_figure import figure2

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Reproduction",
    "batch",
    "convergence",
    "experts",
    "figure1",
    "figure2",
    "margin",
    "noise",
    "order",
    "rules",
]

EXPERIMENTS = {one.name: one for one in (figure2, figure1, convergence, order, margin, batch, experts, noise, rules)}
"""All experiments by name, in the order in which the command lists them."""
