"""AutoClassifier: the majority of rules, with the interface of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onlinear
from onlinear.errors import DataError, ParameterError
from onlinear.rules import AROW, FixedShare, Majority, Member, Perceptron, WeightedMajority, Winnow

X, Y = onlinear.datasets.noisy(n=400, seed=0)
IRIS = load_iris(return_X_y=True)


def members_of(model):
    return [(state.rounds, state.mistakes_by_class) for state in model.run_.state.members]


def test_partial_fit_is_a_run_in_any_batches():
    whole = onlinear.run(Majority(), X, Y)
    for size in (1, 7, 400):
        model = onlinear.AutoClassifier()
        for first in range(0, 400, size) if size > 1 else (*range(20), 20):
            rows = slice(first, first + size) if size > 1 or first < 20 else slice(20, 400)
            model.partial_fit(X[rows], Y[rows], classes=[-1, 1])
        assert model.mistakes_ == whole.mistakes
        assert model.weights_.tolist() == (whole.weights / whole.weights.sum()).tolist()
        assert model.expert_mistakes_.tolist() == whole.expert_mistakes.tolist()
        assert (model.regret_, model.t_) == (whole.regret, 400)
        assert np.array_equal(model.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("data", [(X, Y), IRIS], ids=["two classes", "three classes"])
def test_fit_votes_in_the_first_pass_and_its_members_learn_on(data):
    X, y = data
    model = onlinear.AutoClassifier(shuffle=False, max_iter=4).fit(X, y)
    once = onlinear.run(Majority(), X, y, classes=np.unique(y).tolist())
    assert (model.mistakes_, model.t_, model.n_iter_) == (once.mistakes, len(y), 4)
    assert model.run_.weights.tobytes() == once.weights.tobytes()
    for member, state in zip(Majority().members, model.run_.state.members, strict=True):
        alone = onlinear.run(
            member.rule,
            [(X, y)] * 4,
            fit_intercept=member.fit_intercept,
            normalize=member.normalize,
            classes=np.unique(y).tolist(),
        )
        assert state.rounds == 4 * len(y)
        assert np.array_equal(onlinear.Run(state).predict(X), alone.predict(X))


def test_it_is_as_good_as_averaged_gradient_descent():
    for X, y in (load_breast_cancer(return_X_y=True), IRIS):
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[: len(y) // 2], order[len(y) // 2 :]
        peer = SGDClassifier(average=True, random_state=0).fit(X[train], y[train]).score(X[test], y[test])
        assert onlinear.AutoClassifier().fit(X[train], y[train]).score(X[test], y[test]) >= peer


def test_certificates_of_one_pass():
    model = onlinear.AutoClassifier().partial_fit(X[:200], Y[:200], classes=[-1, 1]).partial_fit(X[200:], Y[200:])
    assert model.certificate(X, Y).holds
    once = onlinear.AutoClassifier(max_iter=1, shuffle=False).fit(X, Y)
    assert once.certificate(X, Y).holds
    with pytest.raises(DataError, match="the run has"):
        onlinear.AutoClassifier(shuffle=False).fit(X, Y).certificate(X, Y)


def test_saving_and_resuming(tmp_path):
    model = onlinear.AutoClassifier().fit(*IRIS)
    model.run_.save(tmp_path / "model")
    assert np.array_equal(onlinear.load(tmp_path / "model").predict(IRIS[0]), model.predict(IRIS[0]))
    before = members_of(model)
    model.partial_fit(*IRIS)
    assert model.n_iter_ == 1
    assert members_of(model) != before


def test_frames_sparse_matrices_and_labels_of_any_kind():
    frame, names = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]), np.where(Y > 0, "yes", "no")
    model = onlinear.AutoClassifier().fit(frame, names)
    assert set(model.predict(frame)) == {"yes", "no"}
    assert model.run_.state.names == ("a", "b", "c")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])
    Z = np.round(X * 16)
    dense, sparse = (onlinear.AutoClassifier().fit(form, Y) for form in (Z, scipy.sparse.csr_array(Z)))
    assert np.mean(dense.predict(X) == sparse.predict(scipy.sparse.csr_array(X))) > 0.99


def test_parameters():
    rule = Majority([AROW(), Member(Perceptron(), normalize=True)], WeightedMajority(0.5))
    assert clone(onlinear.AutoClassifier(rule.members, rule.vote)).fit(X, Y).run_.rule == rule
    grid = {"vote": [WeightedMajority(0.2), FixedShare()], "max_iter": [1, 2]}
    search = GridSearchCV(onlinear.AutoClassifier(), grid, cv=2)
    assert search.fit(*IRIS).best_score_ > 0.8
    assert make_pipeline(StandardScaler(), onlinear.AutoClassifier()).fit(*IRIS).score(*IRIS) > 0.9
    random = [onlinear.AutoClassifier(random_state=seed).fit(*IRIS).mistakes_ for seed in range(6)]
    assert len(set(random)) > 1
    given = np.random.RandomState(3)
    assert onlinear.AutoClassifier(random_state=given).fit(*IRIS).n_iter_ == 3


def test_what_is_refused():
    with pytest.raises(ParameterError, match="classes is missing"):
        onlinear.AutoClassifier().partial_fit(X, Y)
    with pytest.raises(DataError, match="only one class, 1; at least two are needed"):
        onlinear.AutoClassifier().fit(X, np.ones(len(Y), dtype=int))
    with pytest.raises(DataError, match=r"unknown labels \[2\]; the classes are \[-1, 1\]"):
        onlinear.AutoClassifier().fit(X, Y).partial_fit(X, Y, classes=[-1, 1, 2])
    with pytest.raises(DataError, match=r"Only binary classification is supported\. .* Winnow takes binary inputs"):
        onlinear.AutoClassifier([Winnow()]).fit(*IRIS)
    with pytest.raises(ParameterError, match="max_iter"):
        onlinear.AutoClassifier(max_iter=0).fit(X, Y)
    model = onlinear.AutoClassifier().fit(X, Y)
    before = members_of(model)
    huge = np.full((1, X.shape[1]), 1e200)
    wrong = -model.predict(huge)
    with pytest.raises(DataError, match="row 1: its values are too large to learn from"):
        model.partial_fit(np.vstack([X[:1], huge]), np.append(Y[:1], wrong))
    assert members_of(model) == before


def test_new_classes_and_weights():
    order = np.random.default_rng(0).permutation(150)
    rows, labels = IRIS[0][order], IRIS[1][order]
    model = onlinear.AutoClassifier(new_classes=True)
    for first in range(0, 150, 5):
        part = slice(first, first + 5)
        model.partial_fit(rows[part], labels[part], sample_weight=np.full(5, 0.5))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.decision_function(rows).shape == (150, 3)
    assert model.score(*IRIS) > 0.8


def test_a_majority_has_a_classifier_of_its_own():
    model = onlinear.OnlineClassifier(Majority())
    assert clone(model).get_params()["rule"] == Majority()
    with pytest.raises(ParameterError, match=r"use onlinear\.AutoClassifier"):
        model.fit(X, Y)
