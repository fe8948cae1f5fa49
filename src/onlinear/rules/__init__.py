"""What is learned: the rules, and what to write one's own with."""

from onlinear.engine.algebra import add, dot, index, size, squared_norm, trial, value, weight
from onlinear.engine.draws import uniform
from onlinear.engine.passes import TOO_LARGE
from onlinear.rules.experts import RandomizedWeightedMajority, WeightedMajority
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.rule import Rule, rule
from onlinear.rules.winnow import Winnow

__all__ = [
    "TOO_LARGE",
    "MarginPerceptron",
    "Perceptron",
    "RandomizedWeightedMajority",
    "Rule",
    "WeightedMajority",
    "Winnow",
    "add",
    "dot",
    "index",
    "rule",
    "size",
    "squared_norm",
    "trial",
    "uniform",
    "value",
    "weight",
]
