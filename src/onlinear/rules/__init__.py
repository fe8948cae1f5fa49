"""What is learned: the rules, and what to write one's own with."""

from onlinear.engine.algebra import add, dot, index, size, squared_norm, trial, value, weight
from onlinear.engine.draws import uniform
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.steps import add_rooted, add_scaled, add_squares, dot_squares, shrink
from onlinear.rules.averaged import AveragedPerceptron
from onlinear.rules.confidence import AROW, SCW
from onlinear.rules.experts import FixedShare, RandomizedWeightedMajority, WeightedMajority
from onlinear.rules.ftrl import FTRL
from onlinear.rules.gradient import AdaGrad, OnlineGradient
from onlinear.rules.majority import Majority, Member
from onlinear.rules.normalized import NormalizedAdaGrad
from onlinear.rules.passive_aggressive import PassiveAggressive
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.rule import Rule, rule
from onlinear.rules.winnow import Winnow

__all__ = [
    "AROW",
    "FTRL",
    "SCW",
    "TOO_LARGE",
    "AdaGrad",
    "AveragedPerceptron",
    "FixedShare",
    "Majority",
    "MarginPerceptron",
    "Member",
    "NormalizedAdaGrad",
    "OnlineGradient",
    "PassiveAggressive",
    "Perceptron",
    "RandomizedWeightedMajority",
    "Rule",
    "WeightedMajority",
    "Winnow",
    "add",
    "add_rooted",
    "add_scaled",
    "add_squares",
    "dot",
    "dot_squares",
    "index",
    "rule",
    "shrink",
    "size",
    "squared_norm",
    "trial",
    "uniform",
    "value",
    "weight",
]
