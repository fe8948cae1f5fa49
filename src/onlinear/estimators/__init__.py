"""Classifiers with the interface of scikit-learn."""

from onlinear.estimators.any_rule import OnlineClassifier
from onlinear.estimators.auto import AutoClassifier
from onlinear.estimators.batch import BatchPerceptronClassifier
from onlinear.estimators.experts import ExpertsClassifier
from onlinear.estimators.perceptron import MarginPerceptronClassifier, PerceptronClassifier
from onlinear.estimators.winnow import WinnowClassifier

__all__ = [
    "AutoClassifier",
    "BatchPerceptronClassifier",
    "ExpertsClassifier",
    "MarginPerceptronClassifier",
    "OnlineClassifier",
    "PerceptronClassifier",
    "WinnowClassifier",
]
