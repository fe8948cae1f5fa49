"""Majorities: what they are made of, what they refuse, and what they show."""

import copy
import math
from typing import NamedTuple

import numpy as np
import pytest

import onlinear
from onlinear.errors import DataError, ParameterError, RuleError
from onlinear.rules import (
    AROW,
    AdaGrad,
    AveragedPerceptron,
    FixedShare,
    Majority,
    MarginPerceptron,
    Member,
    NormalizedAdaGrad,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
    add,
    dot,
    rule,
)
from onlinear.runs import Potentials

X, Y = onlinear.datasets.noisy(n=400, seed=0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Majority([]), ParameterError, "must be a list of rules"),
        (lambda: Majority("arow"), ParameterError, "must be a list of rules"),
        (lambda: Majority(AROW()), ParameterError, r"members is AROW\(.*; it must be a list of rules"),
        (lambda: Majority([AROW]), RuleError, "AROW is a class; a rule is an instance of it"),
        (lambda: Majority([7]), RuleError, "7 is not a rule"),
        (lambda: Majority([Majority()]), ParameterError, "cannot be a member"),
        (lambda: Majority([WeightedMajority()]), ParameterError, "cannot be a member; members learn from the examples"),
        (lambda: Majority([AROW()], Perceptron()), ParameterError, "does not learn from advice"),
        (lambda: Majority([AROW()], 0.5), RuleError, "0.5 is not a rule"),
    ],
)
def test_what_cannot_be_a_majority(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": np.zeros(20)}, "start does not apply to a Majority"),
        ({"normalize": True}, r"normalize does not apply to AROW\(\): each member of a majority has its own options"),
        ({"trace": Potentials()}, "potentials can be traced for a single rule"),
    ],
)
def test_options_that_do_not_apply(options, message):
    with pytest.raises(ParameterError, match=message):
        onlinear.run(Majority([AROW(), Member(Perceptron(), normalize=True)]), X, Y, **options)


def test_an_intercept_that_every_member_has_may_be_asked_for():
    one = onlinear.run(Majority([AROW(), Perceptron()]), X, Y, fit_intercept=True)
    assert one.mistakes == onlinear.run(Majority([AROW(), Perceptron()]), X, Y).mistakes
    with pytest.raises(ParameterError, match=r"fit_intercept does not apply to Perceptron\(\), without intercept"):
        onlinear.run(Majority([AROW(), Member(Perceptron(), fit_intercept=False)]), X, Y, fit_intercept=True)
    again = onlinear.run(Majority([AROW(), Perceptron()]), X, Y, state=one, fit_intercept=True)
    assert again.rounds == 2 * one.rounds


def test_loops_take_a_single_rule():
    with pytest.raises(
        ParameterError, match="a Majority learns online, with run or train; converge takes a single rule"
    ):
        onlinear.converge(Majority(), X, Y)
    with pytest.raises(ParameterError, match="best_member=True is for a majority"):
        onlinear.train(Majority(), X, Y, best_member=True)
    with pytest.raises(ParameterError, match="is a single rule; best_member is for a Majority"):
        onlinear.run(AROW(), X, Y).best_member()


def test_a_state_belongs_to_its_majority():
    run = onlinear.run(Majority([AROW(), Perceptron()]), X, Y)
    others = [
        Majority([AROW(), Perceptron()], FixedShare()),
        Majority([AROW(), Perceptron("negative")]),
        Majority([AROW(), Member(Perceptron(), normalize=True)]),
        Majority([AROW()]),
        Majority(),
        AROW(),
    ]
    for other in others:
        with pytest.raises(ParameterError, match="the state belongs to Majority"):
            onlinear.run(other, X, Y, state=run)


def test_winnow_among_many_classes_is_refused_by_name():
    with pytest.raises(DataError, match="Winnow takes binary inputs and supports only two classes"):
        onlinear.run(Majority([AROW(), Winnow()]), np.eye(3), ["a", "b", "c"])


def test_a_member_names_itself():
    assert Member(AROW()).name == "AROW()"
    assert Member(AROW(r=0.1), normalize=True).name == "AROW(r=0.1), normalized"
    assert Member(Perceptron(), fit_intercept=False).name == "Perceptron(), without intercept"
    assert Member(MarginPerceptron(0.5)).name == "MarginPerceptron(margin=0.5)"
    assert Member(Winnow(), fit_intercept=False).name == "Winnow()"
    assert repr(Majority()) == "Majority()"
    assert repr(Majority(vote=FixedShare())) == "Majority(vote=FixedShare(eta=0.5, share=0.01, tie='mistake'))"
    assert repr(Majority([AROW(), Winnow()])) == "Majority([AROW(); Winnow()])"
    assert Majority([Winnow()]).members == (Member(Winnow(), fit_intercept=False),)
    assert copy.deepcopy(Majority()) == Majority()


def test_the_members_are_shown_best_first():
    run = onlinear.run(Majority([AveragedPerceptron(), Perceptron()]), X, Y)
    lines = repr(run).splitlines()
    at = next(i for i, line in enumerate(lines) if "members" in line)
    best, worst = sorted(run.expert_mistakes)
    assert lines[at].split() == ["members", "mistakes", "weight", "rule"]
    assert lines[at + 1].split()[0] == str(best)
    assert lines[at + 2].split()[0] == str(worst)
    more = "fewer" if run.regret < 0 else "more"
    plural = "" if abs(run.regret) == 1 else "s"
    assert lines[at + 3].split(maxsplit=1)[1] == f"{abs(run.regret)} {more} mistake{plural} than the best member"
    assert f"{run.expected_mistakes:,.2f} mistakes expected" in lines[at + 4]


@rule
class Column(NamedTuple):
    """Predicts by the sign of a column, and learns nothing."""

    j: int

    def start(self, n):
        return np.eye(1, n, self.j)[0]

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        return False


def test_regret_may_be_negative():
    """Where the members err in turn, their vote is right throughout."""
    y = np.where(np.arange(60) % 2, 1, -1)
    Z = np.where(np.arange(60)[:, None] % 3 == np.arange(3), -y[:, None], y[:, None]) * 1.0
    members = [Member(Column(j), fit_intercept=False) for j in range(3)]
    run = onlinear.run(Majority(members, WeightedMajority(0.01)), Z, y)
    assert (run.mistakes, run.expert_mistakes.tolist(), run.regret) == (0, [20, 20, 20], -20)
    assert "20 fewer mistakes than the best member" in repr(run)


def test_the_best_member_as_if_it_had_run_alone(tmp_path):
    run = onlinear.run(Majority([AROW(), Member(Perceptron(), normalize=True)]), onlinear.open_stream(X, Y))
    best = run.best_member()
    n = int(run.expert_mistakes.argmin())
    member = run.rule.members[n]
    options = {"fit_intercept": member.fit_intercept, "normalize": member.normalize}
    alone = onlinear.run(member.rule, onlinear.open_stream(X, Y), **options)
    for one in (best, alone):
        one.save(tmp_path / f"{one is best}")
    assert (tmp_path / "True").read_bytes() == (tmp_path / "False").read_bytes()
    assert run.baselines.mistakes == run.mistakes
    twice = onlinear.train(Majority([AROW()]), X, Y, passes=2)
    assert twice.best_member().baselines is None  # its mistakes of the first pass alone are not known


def test_the_anytime_bound_and_the_majority_bound_hold():
    for seed in range(5):
        Z, y = onlinear.datasets.noisy(n=500, flip=0.2, seed=seed)
        run = onlinear.run(Majority(), Z, y)
        n, m, rounds = len(run.rule.members), int(run.expert_mistakes.min()), run.rounds
        assert run.expected_mistakes - m <= 2 * math.sqrt(rounds * math.log(n) / 2) + math.sqrt(math.log(n) / 8)
        eta, share, _ = run.rule.vote
        lost = m * math.log(1 / (1 - eta)) + run.updates * math.log(1 / (1 - share))
        assert run.mistakes <= (math.log(n) + lost) / math.log(2 / (2 - eta))
        certificate = onlinear.certify(run, Z, y)
        assert certificate.holds
        certificate.verify(Z, y)


def test_a_vote_of_ones_own_choice():
    bounded = {FixedShare(0.3, 0.05): "mistakes", WeightedMajority(0.3): "mistakes"}
    for vote in (*bounded, RandomizedWeightedMajority(0.3, seed=3), WeightedMajority(1.0)):
        run = onlinear.run(Majority([AROW(), Perceptron()], vote), X, Y)
        certificate = onlinear.certify(run, X, Y)
        assert certificate.holds
        certificate.verify(X, Y)
        assert certificate.bounds[0].of == bounded.get(vote, "expected mistakes")


def test_an_auc_of_votes_says_how_many_of_them_are_equal():
    run = onlinear.run(Majority(), X[:200], Y[:200])
    found = run.evaluate(X[200:], Y[200:])
    assert f"({found.auc_ties:.0%} of the pairs have equal scores)" in repr(found)
    assert "equal scores" not in repr(run.best_member().evaluate(X[200:], Y[200:]))


@rule
class Tilted(NamedTuple):
    """A rule with an array among its parameters."""

    tilt: np.ndarray

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x) + self.tilt[0]

    def update(self, w, x, y, score, mistake):
        add(w, y * self.tilt[1] * mistake, x)
        return mistake


def test_majorities_are_equal_if_their_rules_are():
    one, two = (Majority([Tilted(np.array([0.5, tilt])), Perceptron()]) for tilt in (1.0, 2.0))
    assert one == Majority([Tilted(np.array([0.5, 1.0])), Perceptron()]) != two
    assert len({one, two, Majority([Tilted(np.array([0.5, 1.0])), Perceptron()])}) == 2
    assert Majority([AdaGrad(0.5, "hinge")]) != Majority([NormalizedAdaGrad(0.5, "hinge")])
    run = onlinear.run(one, X, Y)
    assert "Tilted(tilt=array" in repr(run)
    assert onlinear.compare([one, Perceptron()], X, Y)[0].mistakes == run.mistakes


def test_two_rules_of_one_name_are_refused():
    other = type(Column(0))
    name, other.__qualname__ = other.__qualname__, "Perceptron"
    try:
        with pytest.raises(ParameterError, match="two different rules are called Perceptron; give one of them another"):
            Majority([Perceptron(), Column(0)])
    finally:
        other.__qualname__ = name


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (Member(AROW(), fit_intercept="no"), "fit_intercept of AROW.* is 'no'; it must be True or False"),
        (Member(AROW(), normalize=2), "normalize of AROW.* is 2; it must be True or False"),
        (Member(Winnow(), fit_intercept=True), "takes binary inputs as they are: no intercept, not normalized"),
        (Member(Winnow(), normalize=True), "takes binary inputs as they are: no intercept, not normalized"),
    ],
)
def test_options_of_members_are_checked(member, message):
    with pytest.raises(ParameterError, match=message):
        Majority([member])


def test_the_default_options_of_a_member_fit_its_rule():
    assert Majority([Member(Winnow()), Member(AROW())]) == Majority([Winnow(), AROW()])
    given = Majority([Member(AROW(), np.True_, np.False_)]).members[0]
    assert (type(given.fit_intercept), type(given.normalize)) == (bool, bool)


def test_the_best_member_of_members_that_have_learned_on(tmp_path):
    best = onlinear.AutoClassifier().fit(X, Y).run_.best_member()
    assert best.rounds == 3 * len(Y)
    assert best.baselines is None
    best.save(tmp_path / "model")
    assert np.array_equal(onlinear.load(tmp_path / "model").predict(X), best.predict(X))
