"""Classifiers with the interface of scikit-learn."""

from onlinear.estimators.auto import AutoClassifier
from onlinear.estimators.experts import ExpertsClassifier
from onlinear.estimators.online import OnlineClassifier
from onlinear.estimators.perceptron import (
    BatchPerceptronClassifier,
    MarginPerceptronClassifier,
    PerceptronClassifier,
)
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
