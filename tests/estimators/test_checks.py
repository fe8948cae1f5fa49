"""scikit-learn's own checks, over every classifier and several parameter sets, with no expected failures."""

import os
import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import check_estimator

import onlinear
from onlinear.rules import AROW, MarginPerceptron, NormalizedAdaGrad

pytestmark = pytest.mark.slow

ESTIMATORS = [
    onlinear.AutoClassifier(),
    onlinear.AutoClassifier(new_classes=True, shuffle=False),
    onlinear.PerceptronClassifier(),
    onlinear.PerceptronClassifier(average=True, intercept_scaling=3.0),
    onlinear.PerceptronClassifier(average=False, early_stopping=True, max_iter=100),
    onlinear.PerceptronClassifier(tie="negative", fit_intercept=False, shuffle=False, max_iter=20),
    onlinear.PerceptronClassifier(new_classes=True, random_state=None, max_iter=50),
    onlinear.MarginPerceptronClassifier(),
    onlinear.MarginPerceptronClassifier(margin=0.01, normalized=True, tie="positive", max_iter=50),
    onlinear.BatchPerceptronClassifier(),
    onlinear.BatchPerceptronClassifier(schedule="1/k", fit_intercept=False, max_iter=50),
    onlinear.WinnowClassifier(),
    onlinear.WinnowClassifier(beta=0.1, threshold=2.0, binarize=0.5, shuffle=False, max_iter=50),
    onlinear.OnlineClassifier(),
    onlinear.OnlineClassifier(AROW()),
    onlinear.OnlineClassifier(NormalizedAdaGrad(), early_stopping=True),
    onlinear.OnlineClassifier(MarginPerceptron(margin=0.5, normalized=False), new_classes=True, max_iter=50),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_scikit_learns_checks(estimator):
    done = check_estimator(estimator, on_skip=None)
    skipped = {check["check_name"] for check in done if check["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # which needs a process of its own, and has one below
    assert len(done) > 50


def test_array_api():
    # SciPy decides when it is imported whether it dispatches on arrays; scikit-learn skips this check if it does not.
    code = """
import warnings
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_array_api_input
import onlinear
warnings.simplefilter("error")
warnings.simplefilter("ignore", ConvergenceWarning)
for name in onlinear.estimators.__all__:
    check_array_api_input(name, getattr(onlinear, name)(), array_namespace="numpy", expect_only_array_outputs=False)
    print(name)
"""
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300, env=environment
    )
    assert done.stdout.split() == onlinear.estimators.__all__
