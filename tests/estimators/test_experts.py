"""Experts of every make, against a loop written plainly, the theorems, and scikit-learn's own checks."""

import itertools
import math
import pickle

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
import river.dummy
import river.linear_model
import river.multiclass
import river.preprocessing
import scipy.sparse
from hypothesis import given, settings
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import onlinear
import strategies
from onlinear.errors import DataError, ParameterError
from onlinear.estimators import ExpertsClassifier, OnlineClassifier, PerceptronClassifier, WinnowClassifier
from onlinear.rules import AROW, Perceptron, RandomizedWeightedMajority, WeightedMajority
from onlinear.theory import bounds


class Column(ClassifierMixin, BaseEstimator):
    """Advises the sign of one column: with one of these for each, X itself is the advice."""

    def __init__(self, j=0):
        self.j = j

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = classes
        return self

    def predict(self, X):
        if not hasattr(self, "classes_"):
            raise NotFittedError
        return self.classes_[(X[:, self.j] > 0).astype(int)]


class Frail(Column):
    """Fails at an example that is 13 in its column."""

    def partial_fit(self, X, y, classes=None):
        if X[0, self.j] == 13:
            raise RuntimeError("thirteen")
        return super().partial_fit(X, y, classes)


class Fickle(Column):
    """Each clone says something else: what an expert without a seed does, but surely."""

    made = itertools.count()

    def __init__(self, j=0):
        super().__init__(j)
        self._turn = next(self.made) % 2

    def predict(self, X):
        return self.classes_[[self._turn] * len(X)] if hasattr(self, "classes_") else super().predict(X)


def columns(N):
    return [Column(j) for j in range(N)]


def many_makes():
    return [
        PerceptronClassifier(),
        WinnowClassifier(),
        ("river", river.linear_model.Perceptron()),
        ("last", river.dummy.NoChangeClassifier()),
        ("first column", Column()),
        SGDClassifier(random_state=0),
    ]


def stream(n=60, d=4, seed=0):
    X, y = onlinear.datasets.separable(margin=0.01, n=n, d=d, seed=seed)
    return np.round(16 * X) / 16, y


def in_batches(model, X, y, cuts):
    """Learn in batches that end at the cuts."""
    for first, last in itertools.pairwise([0, *sorted(cuts), len(y)]):
        if first < last:
            model.partial_fit(X[first:last], y[first:last], classes=np.unique(y))
    return model


def plainly(experts, X, y, eta):
    """Weighted majority over experts, one after the other, as it stands in a book; ties are mistakes."""
    experts = [expert[1] if isinstance(expert, tuple) else expert for expert in experts]
    experts = [expert.clone() if hasattr(expert, "clone") else clone(expert) for expert in experts]
    classes = sorted(set(y.tolist()))
    w, m, M = [1.0] * len(experts), [0] * len(experts), 0
    for i in range(len(y)):
        named, row, answer = dict(enumerate(X[i].tolist())), X[i : i + 1], y[i]
        vote, wrong = 0.0, []
        for n, expert in enumerate(experts):
            if hasattr(expert, "predict_one"):
                said = classes[1] if expert.predict_one(named) else classes[0]
                expert.learn_one(named, bool(answer == classes[1]))
            else:
                try:
                    said = expert.predict(row)[0]
                except NotFittedError:
                    said = classes[0]
                expert.partial_fit(row, [answer], classes=np.array(classes))
            vote += w[n] if said == classes[1] else -w[n]
            if said != answer:
                wrong.append(n)
        if vote * (1 if answer == classes[1] else -1) <= 0:
            M += 1
        for n in wrong:
            w[n] *= 1 - eta
            m[n] += 1
    return M, m, np.array(w) / sum(w)


@settings(max_examples=15)
@given(strategies.real(max_width=4), st.sampled_from([0.25, 0.5]))
def test_it_does_what_the_book_says(data, eta):
    X, y = data
    model = ExpertsClassifier(many_makes(), WeightedMajority(eta)).fit(X, y)
    mistakes, made, shares = plainly(many_makes(), X, y, eta)
    assert model.mistakes_ == mistakes
    assert model.expert_mistakes_.tolist() == made
    assert model.regret_ == mistakes - min(made)
    assert model.weights_ == pytest.approx(shares, rel=1e-12)
    assert model.t_ == len(y)


@given(strategies.advice(max_width=6), st.sampled_from([0.1, 0.5, 0.9]))
def test_weighted_majority_keeps_its_bound(data, eta):
    X, y = data
    model = ExpertsClassifier(columns(X.shape[1]), WeightedMajority(eta)).fit(X, y)
    advice = model.advice(X, y)
    assert (advice[1:] == X[1:]).all()
    assert (advice[0] == -1).all()  # nobody had learned the classes yet
    assert model.mistakes_ <= bounds.weighted_majority(advice, y, eta).value
    certificate = model.certificate(X, y)
    assert certificate.holds
    assert certificate.mistakes == model.mistakes_
    certificate.verify(advice, y)


@given(strategies.advice(max_width=6), st.sampled_from([0.1, 0.5, "anytime"]), st.integers(0, 5))
def test_randomised_majority_keeps_its_bound(data, eta, seed):
    X, y = data
    model = ExpertsClassifier(columns(X.shape[1]), RandomizedWeightedMajority(eta, seed)).fit(X, y)
    advice = model.advice(X, y)
    bound = bounds.anytime(advice, y) if eta == "anytime" else bounds.randomized_weighted_majority(advice, y, eta)
    assert model.expected_mistakes_ <= bound.value
    again = onlinear.run(RandomizedWeightedMajority(eta, seed), advice, y)
    assert (model.expected_mistakes_, model.mistakes_) == (again.expected_mistakes, again.mistakes)
    model.certificate(X, y).verify(advice, y)


@settings(max_examples=10)
@given(strategies.real(max_width=4), st.lists(st.integers(0, 30), max_size=4), st.booleans())
def test_the_size_of_the_batches_changes_nothing(data, cuts, randomised):
    X, y = data
    rule = RandomizedWeightedMajority("anytime") if randomised else WeightedMajority(0.3)
    whole = ExpertsClassifier(many_makes(), rule).fit(X, y)
    parts = in_batches(ExpertsClassifier(many_makes(), rule), X, y, [min(cut, len(y)) for cut in cuts])
    assert (parts.run_.weights == whole.run_.weights).all()
    for name in ("t_", "mistakes_", "regret_", "expected_mistakes_"):
        assert getattr(parts, name) == getattr(whole, name)
    assert (parts.experts_[0].coef_ == whole.experts_[0].coef_).all()
    assert parts.named_experts_["river"].weights == whole.named_experts_["river"].weights
    assert (parts.decision_function(X) == whole.decision_function(X)).all()


def test_decisions_are_weighted_means_of_what_the_experts_say_now():
    X, y = stream()
    model = ExpertsClassifier(many_makes()).fit(X, y)
    said = []
    for expert in model.experts_:
        if hasattr(expert, "predict_one"):
            said.append([1 if expert.predict_one(dict(enumerate(x.tolist()))) else -1 for x in X])
        else:
            said.append(np.where(expert.predict(X) == 1, 1, -1))
    scores = model.decision_function(X)
    assert scores == pytest.approx(model.weights_ @ np.array(said))
    assert (np.abs(scores) <= 1).all()
    assert (model.predict(X) == np.where(scores > 0, 1, -1)).all()


def test_a_drawn_vote_is_predicted_as_the_rule_says():
    X, y = np.array([[1, 1], [1, -1], [-1, 1]]), ["no", "yes", "yes"]
    for tie, label in (("mistake", "no"), ("negative", "no"), ("positive", "yes")):
        model = ExpertsClassifier(columns(2), WeightedMajority(tie=tie)).fit(X, y)
        assert model.weights_.tolist() == [0.5, 0.5]
        assert model.predict(X).tolist() == ["yes", label, label]


def test_predicting_draws_nothing():
    X, y = stream()
    model = ExpertsClassifier(columns(4), RandomizedWeightedMajority(0.5)).fit(X, y)
    assert (model.predict(X) == np.where(model.decision_function(X) > 0, 1, -1)).all()


def test_labels_of_different_lengths_reach_experts_whole():
    X, y = stream()
    words = np.where(y > 0, "positive", "no")
    model = ExpertsClassifier([Column(), SGDClassifier(random_state=0), river.linear_model.Perceptron()]).fit(X, words)
    numbers = ExpertsClassifier([Column(), SGDClassifier(random_state=0), river.linear_model.Perceptron()]).fit(X, y)
    assert model.classes_.tolist() == ["no", "positive"]
    assert (model.expert_mistakes_ == numbers.expert_mistakes_).all()
    assert (model.predict(X) == np.where(numbers.predict(X) > 0, "positive", "no")).all()


def test_river_gets_the_stored_entries_of_sparse_rows():
    X, y = stream()
    X[np.abs(X) < 0.25] = 0.0
    halves = scipy.sparse.csr_matrix(X / 2)
    twice = scipy.sparse.csr_matrix(
        (
            np.repeat(halves.data, 2),
            np.repeat(halves.indices, 2),
            2 * halves.indptr,
        ),
        shape=X.shape,
    )
    dense = ExpertsClassifier([river.linear_model.Perceptron(), BernoulliNB()]).fit(X, y)
    for matrix in (scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X), twice):
        sparse = ExpertsClassifier([river.linear_model.Perceptron(), BernoulliNB()]).fit(matrix, y)
        assert (sparse.expert_mistakes_ == dense.expert_mistakes_).all()
        assert dict(sparse.experts_[0].weights) == {j: w for j, w in dense.experts_[0].weights.items() if X[:, j].any()}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_experts_know_the_features_by_their_names(frame):
    X, y = stream()
    names = ["a", "b", "c", "d"]
    table = frame(dict(zip(names, X.T, strict=True)))
    experts = [PerceptronClassifier(), BernoulliNB(), river.linear_model.Perceptron()]
    model = ExpertsClassifier(experts).fit(table, y)
    plain = ExpertsClassifier(experts).fit(X, y)
    assert model.feature_names_in_.tolist() == names
    assert [expert.feature_names_in_.tolist() for expert in model.experts_[:2]] == [names, names]
    assert list(model.experts_[2].weights) == names
    assert (model.expert_mistakes_ == plain.expert_mistakes_).all()
    assert (model.predict(table) == plain.predict(X)).all()
    assert model.certificate(table, y).mistakes == plain.mistakes_
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["b", "a", "c", "d"]])
    assert not hasattr(model.fit(X, y), "feature_names_in_")


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [13.0]], [1, -1], "thirteen"),
        ([[1.0], [math.nan]], [1, -1], "NaN"),
        ([[1.0], [2.0]], [1, 3], "label 3"),
        ([[1.0, 2.0]], [1], "features"),
        ([[1.0], [2.0]], [1], "inconsistent"),
    ],
)
def test_a_batch_that_fails_leaves_everything_as_it_was(X, y, message):
    experts = [PerceptronClassifier(), river.linear_model.Perceptron(), Frail()]
    model = ExpertsClassifier(experts).partial_fit([[1.0], [2.0], [-1.0]], [1, -1, -1], classes=[-1, 1])
    before = pickle.dumps(model)
    with pytest.raises((ValueError, RuntimeError), match=message):
        model.partial_fit(X, y)
    assert pickle.dumps(model) == before
    with pytest.raises((ValueError, RuntimeError)):
        model.fit(X, [-1] * len(y))
    assert pickle.dumps(model) == before


def test_a_first_batch_that_fails_leaves_nothing():
    model = ExpertsClassifier([Frail()])
    with pytest.raises(RuntimeError) as caught:
        model.partial_fit([[1.0], [13.0]], [1, -1], classes=[-1, 1])
    assert caught.value.__notes__ == ["This was the expert 'frail'."]
    assert vars(model) == {"experts": model.experts, "rule": None}


@pytest.mark.parametrize(
    ("experts", "message"),
    [
        ([], r"experts is \[\]"),
        (7, "experts is 7"),
        ([SVC()], "cannot learn online"),
        ([BernoulliNB], "BernoulliNB is a class"),
        ([("a", Column()), ("a", Column())], "must be distinct"),
        ([("rule", Column())], "cannot be called 'rule'"),
        ([("a__b", Column())], "cannot be called 'a__b'"),
        (["column"], "cannot learn online"),
    ],
)
def test_what_is_no_expert_is_refused(experts, message):
    with pytest.raises(ParameterError, match=message):
        ExpertsClassifier(experts).fit(*stream())


def test_what_else_is_refused():
    X, y = stream()
    model = ExpertsClassifier(columns(2))
    with pytest.raises(ParameterError, match="does not learn from advice"):
        ExpertsClassifier(columns(2), Perceptron()).fit(X, y)
    with pytest.raises(ParameterError, match="classes is missing"):
        model.partial_fit(X, y)
    with pytest.raises(DataError, match="only one class, 1"):
        model.fit(X, np.ones(len(y)))
    limited = [("winnow", WinnowClassifier()), river.linear_model.LogisticRegression()]
    for k, name in enumerate(["winnow", "logisticregression"]):
        with pytest.raises(DataError, match=rf"Only binary .* the expert '{name}' supports only two"):
            ExpertsClassifier(limited[k : k + 1]).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(DataError, match="among more than two classes a tie is a mistake"):
        ExpertsClassifier(rule=WeightedMajority(tie="negative")).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(DataError, match="of one type"):
        model.fit(X[:2], [1, "a"])
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ParameterError, match="training started with"):
        model.fit(X, y).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ParameterError, match="the state belongs to"):
        model.set_params(rule=WeightedMajority(0.25)).partial_fit(X, y)


def test_an_expert_that_speaks_of_something_else_is_refused():
    class Odd(Column):
        def predict(self, X):
            return np.full(len(X), 5)

    for odd, message in ((Odd(), "label 5"), (river.linear_model.LinearRegression(), "is it a classifier")):
        with pytest.raises(DataError, match=message) as caught:
            ExpertsClassifier([("fine", Column()), ("odd", odd)]).fit(*stream())
        assert caught.value.__notes__ == ["This was the expert 'odd'."]


def test_a_certificate_is_about_all_examples_in_their_order():
    X, y = stream()
    model = ExpertsClassifier(many_makes()).fit(X, y)
    with pytest.raises(DataError, match="trained on 60 examples; X has 59"):
        model.certificate(X[1:], y[1:])
    with pytest.raises(DataError, match="the examples or their order differ"):
        model.certificate(X[::-1], y[::-1])
    before = pickle.dumps(model)
    model.certificate(X, y).verify(model.advice(X, y), y)
    assert pickle.dumps(model) == before
    model.partial_fit(X, y)
    with pytest.raises(DataError, match="trained on 120 examples"):
        model.certificate(X, y)
    model.certificate(np.concatenate([X, X]), np.concatenate([y, y]))


def test_an_expert_that_cannot_be_brought_about_again_is_found_out():
    X, y = stream()
    model = ExpertsClassifier([Column(), Fickle()]).fit(X, y)
    with pytest.raises(DataError, match="an expert is random"):
        model.certificate(X, y)


def test_parameters_reach_into_experts():
    model = ExpertsClassifier([("a", SGDClassifier(alpha=1.0)), Column(1), Column(2), river.dummy.NoChangeClassifier()])
    params = model.get_params()
    assert (params["a__alpha"], params["column-2__j"]) == (1.0, 2)
    assert set(model.get_params(deep=False)) == {"experts", "rule"}
    model.set_params(a__alpha=2.0, **{"column-1__j": 5, "column-2": Column(7)})
    assert model.experts[0][1].alpha == 2.0
    assert dict(model.experts)["column-1"].j == 5
    assert dict(model.experts)["column-2"].j == 7
    with pytest.raises(ValueError, match="Invalid parameter 'b'"):
        model.set_params(b=1)
    model.set_params(experts=[Column(3)], column__j=4)
    assert model.experts[0].j == 4


def test_the_experts_that_were_given_learn_nothing():
    X, y = stream()
    mine = [BernoulliNB(), river.linear_model.Perceptron()]
    model = ExpertsClassifier(mine).fit(X, y)
    assert not hasattr(mine[0], "classes_")
    assert not mine[1].weights
    assert model.experts is mine
    assert list(model.named_experts_) == ["bernoullinb", "perceptron"]


def test_clone_and_pickle():
    X, y = stream()
    model = ExpertsClassifier(many_makes(), WeightedMajority(0.3)).fit(X, y)
    assert (clone(model).fit(X, y).run_.weights == model.run_.weights).all()
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, y)  # noqa: S301
    assert (again.run_.weights == model.partial_fit(X, y).run_.weights).all()


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "bb", "c"]], ids=str)
def test_several_classes(labels):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], np.array(labels)[y[order]]
    experts = [
        ("perceptron", PerceptronClassifier()),
        ("arow", OnlineClassifier(AROW())),
        ("sgd", SGDClassifier(random_state=0)),
        ("river", river.multiclass.OneVsRestClassifier(river.linear_model.LogisticRegression())),
    ]
    for rule in (WeightedMajority(0.25), RandomizedWeightedMajority("anytime", seed=1)):
        model = ExpertsClassifier(experts, rule).fit(X, y)
        advice = model.advice(X, y)
        assert set(np.unique(advice)) <= {0, 1, 2}
        for k, learner in enumerate([Perceptron(), AROW()]):
            alone = onlinear.run(learner, X, y, fit_intercept=True, classes=labels, trace=True)
            assert advice[:, k].tolist() == alone.trace.predictions.tolist()
        run = onlinear.run(rule, advice, y, classes=labels)
        assert model.expert_mistakes_.tolist() == (advice != np.searchsorted(labels, y)[:, None]).sum(axis=0).tolist()
        assert (model.mistakes_, model.weights_.tolist()) == (run.mistakes, (run.weights / run.weights.sum()).tolist())
        assert model.decision_function(X).shape == (150, 3)
        assert np.array_equal(model.predict(X), np.array(labels)[model.decision_function(X).argmax(axis=1)])
        assert model.certificate(X, y).holds
        halves = (
            ExpertsClassifier(experts, rule).partial_fit(X[:70], y[:70], classes=labels).partial_fit(X[70:], y[70:])
        )
        assert halves.weights_.tolist() == model.weights_.tolist()
    assert ExpertsClassifier().fit(X, y).score(X, y) > 0.6


def test_in_a_pipeline_and_in_a_search():
    X, y = stream(n=90)
    experts = [("ours", PerceptronClassifier()), ("river", river.linear_model.Perceptron())]
    pipeline = make_pipeline(StandardScaler(), ExpertsClassifier(experts))
    rules = [WeightedMajority(0.1), WeightedMajority(0.5), RandomizedWeightedMajority("anytime")]
    grid = {"expertsclassifier__rule": rules, "expertsclassifier__ours__fit_intercept": [True, False]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_["expertsclassifier__rule"] in rules
    assert len(search.cv_results_["params"]) == 6
    assert search.score(X, y) > 0.8


# That check wants a variable in the environment before SciPy is imported.
@pytest.mark.filterwarnings("ignore:Skipping check check_array_api_input")
@pytest.mark.parametrize(
    "model",
    [
        ExpertsClassifier(),
        ExpertsClassifier(rule=RandomizedWeightedMajority(0.25, seed=1)),
        ExpertsClassifier(
            [
                river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression(),
                ("winnow", WinnowClassifier(beta=0.5)),
                river.linear_model.Perceptron(),
            ],
            RandomizedWeightedMajority("anytime"),
        ),
        ExpertsClassifier([SGDClassifier(random_state=0), PerceptronClassifier()], WeightedMajority(1.0)),
    ],
    ids=["default", "randomised", "river", "scikit-learn"],
)
@pytest.mark.slow
def test_scikit_learn_finds_nothing_wrong(model):
    check_estimator(model)
