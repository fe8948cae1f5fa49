"""On scikit-learn's own data: as accurate as its perceptron, and exact where the examples can be separated."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onlinear
from onlinear.rules import Perceptron as Rule

DATA = {"digits": load_digits, "breast cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine}
SEEDS = range(10)


def accuracy(name, make):
    """Mean over ten seeds of the accuracy in five folds, behind a StandardScaler."""
    X, y = DATA[name](return_X_y=True)
    scores = [
        cross_val_score(
            make_pipeline(StandardScaler(), make(seed)), X, y, cv=StratifiedKFold(5, shuffle=True, random_state=seed)
        )
        for seed in SEEDS
    ]
    return np.mean(scores)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", DATA)
def test_within_two_points_of_scikit_learn(name):
    theirs = accuracy(name, lambda seed: Perceptron(random_state=seed))
    for make in (
        lambda seed: onlinear.PerceptronClassifier(random_state=seed, max_iter=1000),
        lambda seed: onlinear.PerceptronClassifier(random_state=seed, average=True),
        lambda seed: onlinear.MarginPerceptronClassifier(random_state=seed, max_iter=1000),
        lambda seed: onlinear.MarginPerceptronClassifier(random_state=seed, average=True),
        lambda seed: onlinear.BatchPerceptronClassifier(max_iter=1000),
    ):
        assert accuracy(name, make) > theirs - 0.02


@pytest.mark.parametrize("name", ["digits", "wine"])
@pytest.mark.parametrize(
    "estimator",
    [onlinear.PerceptronClassifier(), onlinear.MarginPerceptronClassifier(), onlinear.BatchPerceptronClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_can_be_separated_is_learned_without_error(name, estimator):
    X, y = DATA[name](return_X_y=True)
    assert make_pipeline(StandardScaler(), estimator).fit(X, y).score(X, y) == 1.0


def test_a_small_margin_takes_more_passes_and_gets_them():
    # The largest margin is 0.0014 where ‖x‖ goes up to 20: a thousand passes do not get there.
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = onlinear.PerceptronClassifier(shuffle=False, average=False).fit(X, y)
    assert model.score(X, y) == 1.0
    whole = onlinear.converge(Rule(), X, y, fit_intercept=True, max_passes=10**6)
    assert model.coef_.tobytes() == whole.weights.tobytes()
    assert (model.n_iter_, model.mistakes_) == (whole.passes, whole.mistakes)
    with pytest.warns(
        ConvergenceWarning,
        match=r"gave up after 1,000 passes; .* some vector separates them, .* more passes \(max_iter\) will",
    ):
        model.set_params(max_iter=1000).fit(X, y)


def test_what_cannot_be_separated_is_proven():
    X, y = load_iris(return_X_y=True)
    proof = r"no vector separates these examples: those in rows \d+"
    with pytest.warns(ConvergenceWarning, match=proof):
        onlinear.PerceptronClassifier(average=False).fit(X, y)
    # An average is the right thing here, and no reason for a warning.
    assert re.search(rf"averaged over \d+ passes; {proof}", onlinear.PerceptronClassifier().fit(X, y).run_.reason)
    both = y > 0
    with pytest.warns(ConvergenceWarning, match=r"margin above .*no vector separates .* cancel exactly"):
        onlinear.BatchPerceptronClassifier().fit(X[both], y[both])
