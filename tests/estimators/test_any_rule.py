"""`OnlineClassifier`: the parameters of its rule, and rules that never halt."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onlinear
from classifiers import same
from onlinear.errors import ParameterError
from onlinear.rules import AROW, FTRL, SCW, AdaGrad, MarginPerceptron, NormalizedAdaGrad, PassiveAggressive, Winnow
from onlinear.rules.registry import ONLINE

X, Y = onlinear.datasets.noisy(n=2000, d=10, seed=0)
RULES = [
    cls(1.0) if cls is MarginPerceptron else cls()
    for cls in ONLINE.values()
    if cls.inputs == "real" and cls is not Winnow
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_parameters_of_the_rule_are_parameters(rule):
    model = onlinear.OnlineClassifier(rule)
    inner = {f"rule__{name}": value for name, value in rule._asdict().items()}
    assert inner.items() <= model.get_params().items()
    assert not inner.keys() & model.get_params(deep=False).keys()
    assert model.set_params(**inner).rule == rule
    changed = model.set_params(rule__tie="positive")
    assert changed.rule == rule._replace(tie="positive")
    assert rule.tie == "mistake"
    assert clone(changed).get_params() == changed.get_params()


def test_setting_them():
    model = onlinear.OnlineClassifier()
    assert not any(name.startswith("rule__") for name in model.get_params())
    assert model.set_params(rule__tie="negative").rule.tie == "negative"
    assert model.set_params(rule=AROW(), rule__r=0.1, max_iter=3).get_params()["rule__r"] == 0.1
    assert (model.rule, model.max_iter) == (AROW(0.1), 3)
    with pytest.raises(ValueError, match=r"Invalid parameter 'C' for estimator AROW\(.*Valid parameters are: \['r', "):
        model.set_params(rule__C=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'beta' for estimator OnlineClassifier"):
        model.set_params(beta=1.0)
    with pytest.raises(ParameterError, match=r"r is -1\.0"):
        model.set_params(rule__r=-1.0)
    assert model.rule == AROW(0.1)


def test_grid_search_over_a_parameter_of_the_rule():
    pipeline = make_pipeline(StandardScaler(), onlinear.OnlineClassifier(AROW()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(pipeline, {"onlineclassifier__rule__r": [0.01, 1.0, 100.0]}, cv=3).fit(X, Y)
    best = search.best_params_["onlineclassifier__rule__r"]
    assert search.best_estimator_[-1].rule == AROW(best)
    same(
        search.best_estimator_[-1], onlinear.OnlineClassifier(AROW(best)).fit(StandardScaler().fit_transform(X), Y).run_
    )


@pytest.mark.parametrize(
    "rule", [AdaGrad(), AdaGrad(loss="logistic"), AROW(), FTRL(), NormalizedAdaGrad(), PassiveAggressive(0.01), SCW()]
)
def test_rules_that_never_halt_stop_when_they_have_learned(rule):
    half = len(Y) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = onlinear.OnlineClassifier(rule).fit(X[:half], Y[:half])
        easy = onlinear.OnlineClassifier(rule).fit(*onlinear.datasets.separable(margin=0.2, n=300, d=5, seed=0))
    assert model.n_iter_ <= 16
    assert easy.n_iter_ <= 64
    assert easy.run_.mistakes < 60
    theirs = SGDClassifier(average=True, random_state=0).fit(X[:half], Y[:half])
    assert model.score(X[half:], Y[half:]) > theirs.score(X[half:], Y[half:]) - 0.05


def test_a_limit_is_a_limit():
    model = onlinear.OnlineClassifier(AROW(), max_iter=1).fit(X, Y)
    assert model.n_iter_ == 1
    same(model, onlinear.converge(AROW(), X, Y, selection="random", max_passes=1, fit_intercept=True))
    assert np.array_equal(model.classes_, [-1, 1])
