"""scikit-learn's own checks, over every classifier and several parameter sets, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import onlinear
from onlinear.rules import MarginPerceptron

ESTIMATORS = [
    onlinear.PerceptronClassifier(),
    onlinear.PerceptronClassifier(tie="negative", fit_intercept=False, shuffle=False, max_iter=20),
    onlinear.PerceptronClassifier(new_classes=True, warm_start=True, random_state=None),
    onlinear.MarginPerceptronClassifier(),
    onlinear.MarginPerceptronClassifier(margin=0.01, normalized=True, tie="positive"),
    onlinear.BatchPerceptronClassifier(),
    onlinear.BatchPerceptronClassifier(schedule="1/k", fit_intercept=False, warm_start=True),
    onlinear.WinnowClassifier(),
    onlinear.WinnowClassifier(beta=0.1, threshold=2.0, binarize=0.5, shuffle=False),
    onlinear.OnlineClassifier(),
    onlinear.OnlineClassifier(MarginPerceptron(margin=0.5, normalized=False), new_classes=True),
]


# The checks ask for five passes over examples that no vector separates.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_scikit_learns_checks(estimator):
    for instance, check in estimator_checks_generator(estimator, mark=None):
        check(instance)
