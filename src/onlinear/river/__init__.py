"""Classifiers with the interface of River: they learn from dicts and frames, with features by name."""

try:
    import river  # noqa: F401
except ImportError as error:
    raise ImportError('onlinear.river needs River: pip install "onlinear[river]"') from error

from onlinear.river.classifiers import (
    AutoClassifier,
    MarginPerceptronClassifier,
    OnlineClassifier,
    PerceptronClassifier,
    WinnowClassifier,
)

__all__ = [
    "AutoClassifier",
    "MarginPerceptronClassifier",
    "OnlineClassifier",
    "PerceptronClassifier",
    "WinnowClassifier",
]
