"""`auto` and `majority(…)` on the command line."""

import sys

import numpy as np
import pytest

import onlinear
from command_line import OWN_RULE, lines_of, run
from onlinear.rules import AROW, FixedShare, Majority, Member, Perceptron, WeightedMajority, Winnow


@pytest.fixture
def mine(examples):
    sys.modules.pop("mine", None)
    (examples / "mine.py").write_text(OWN_RULE)
    yield "mine.py:Halfway"
    sys.modules.pop("mine", None)


def test_training_without_a_rule_says_what_runs(examples):
    shown = run("train", "real.svm", "-o", "model")
    first, labels, *_ = shown.stderr.splitlines()
    assert first == f"rule: auto, the weighted majority of {len(Majority().members)} rules (--rule chooses another)"
    assert labels.startswith("labels: ")
    again = onlinear.run(Majority(), onlinear.open_stream("real.svm"))
    assert shown.stdout.startswith(repr(again))
    assert onlinear.load("model").mistakes == again.mistakes
    assert run("train", "real.svm", "--rule", "auto", "--intercept", "-q").stdout == repr(again) + "\n"
    assert "rule: auto" not in run("train", "real.svm", "--rule", "auto").stderr
    refused = run("train", "real.svm", "--normalize", code=2).stderr
    assert "--normalize does not apply to AROW(full=64): each member of a majority has its own" in refused


def test_members_are_named_with_their_options(examples):
    named = "majority(arow(r=0.5, normalize=True), perceptron(intercept=False), winnow, vote=fixed-share(share=0.1))"
    (end,) = lines_of("train", "binary.svm", "--rule", named, "-q")
    members = [Member(AROW(r=0.5), normalize=True), Member(Perceptron(), fit_intercept=False), Winnow()]
    again = onlinear.run(Majority(members, FixedShare(share=0.1)), onlinear.open_stream("binary.svm"))
    assert end["mistakes"] == again.mistakes
    assert [one["mistakes"] for one in end["members"]] == again.expert_mistakes.tolist()
    assert [one["weight"] for one in end["members"]] == again.weights.tolist()
    assert [(one["fit_intercept"], one["normalize"]) for one in end["members"]] == [
        (True, True),
        (False, False),
        (False, False),
    ]
    assert end["rule"]["parameters"]["vote"]["name"] == "FixedShare"
    assert (end["regret"], end["expected_mistakes"]) == (again.regret, again.expected_mistakes)
    (end,) = lines_of("train", "real.svm", "--rule", "Majority(perceptron, arow, eta=0.5)", "-q")
    assert (
        end["mistakes"]
        == onlinear.run(
            Majority([Perceptron(), AROW()], WeightedMajority(0.5)), onlinear.open_stream("real.svm")
        ).mistakes
    )


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("majority(", "is not of the form majority(RULE, RULE, …)"),
        ("majority(arow, nothing)", "there is no rule 'nothing'"),
        ("majority(arow, majority(winnow))", "'majority(winnow)' is a majority, and cannot be a part of another one"),
        ("majority(weighted-majority)", "cannot be a member; members learn from the examples"),
        ("majority(arow, vote=perceptron)", "does not learn from advice"),
        ("majority(arow(s=1))", "AROW has no parameter 's'"),
        ("majority(arow, vote=weighted-majority, vote=fixed-share)", "a majority has one vote"),
        ("majority(arow, vote=weighted-majority, eta=0.3)", "a majority has one vote"),
        ("majority(arow, eta=)", "a majority has one vote"),
        (
            "majority(arow, r=0.5)",
            "'r=0.5' is not a member; the parameters of a rule stand in its brackets: arow(r=0.5)",
        ),
        ('majority(arow(intercept="no"))', "fit_intercept of a member is 'no'; it must be True or False"),
        ("majority(margin-perceptron)", "a parameter is missing: MarginPerceptron(margin=…)"),
    ],
)
def test_wrong_majorities(examples, rule, message):
    assert message in run("train", "real.svm", "--rule", rule, code=2).stderr


def test_a_member_that_refuses_an_example_is_named(examples):
    failed = run("train", "real.svm", "--rule", "majority(arow, winnow)", "-q", code=1).stderr
    assert failed.startswith("onlinear: error: real.svm:1, index 1: value ")
    assert "inputs must be 0 or 1 for Winnow(beta=1.0, threshold=None), a member of the majority" in failed


def test_the_best_member_is_a_model_of_its_own(examples):
    shown = run("train", "real.svm", "-o", "model", "--best-member", "-q").stdout
    whole, best = onlinear.run(Majority(), onlinear.open_stream("real.svm")), onlinear.load("model")
    n = int(whole.expert_mistakes.argmin())
    assert f"saved to   model, the best member: {best.rule!r}" in shown
    assert best.rule == Majority().members[n].rule
    assert np.array_equal(best.weights, whole.best_member().weights)
    assert best.baselines == whole.baselines._replace(mistakes=best.mistakes)
    assert run("evaluate", "model", "real.svm").stdout
    assert "version 1" in run("inspect", "model").stdout
    assert "--best-member needs --output" in run("train", "real.svm", "--best-member", code=2).stderr
    one = run("train", "real.svm", "-o", "model", "--best-member", "--rule", "arow", code=2).stderr
    assert "--best-member is for a majority" in one


def test_options_of_a_resumed_majority(examples):
    run("train", "first.svm", "--rule", "majority(arow,perceptron,vote=randomized-weighted-majority)", "-o", "m", "-q")
    with_intercept = run("train", "second.svm", "--from", "m", "--intercept", "-q").stdout
    assert with_intercept == run("train", "second.svm", "--from", "m", "-q").stdout
    assert (
        "--normalize does not apply to AROW()"
        in run("train", "second.svm", "--from", "m", "--normalize", code=2).stderr
    )
    assert "the rule of m has the seed 0" in run("train", "second.svm", "--from", "m", "--seed", 3, code=2).stderr
    (end,) = lines_of("train", "first.svm", "-o", "best", "--best-member", "-q")
    assert end["best_member"]["name"] == type(onlinear.load("best").rule).__name__


def test_the_file_of_a_vote_is_not_overwritten(examples):
    (examples / "vote.py").write_text("kept")
    failed = run("train", "first.svm", "--rule", "majority(arow, vote=vote.py:Mine)", "-o", "vote.py", code=2).stderr
    assert "vote.py is the file of --rule" in failed
    assert (examples / "vote.py").read_text() == "kept"


def test_resuming_keeps_the_rule(examples):
    whole = onlinear.train(Majority([AROW(), Perceptron()]), onlinear.open_stream(["first.svm", "second.svm"]))
    run("train", "first.svm", "--rule", "majority(arow, perceptron)", "-o", "model", "-q")
    run("train", "second.svm", "--from", "model", "-o", "model", "-q")
    assert onlinear.load("model").mistakes == whole.mistakes
    run("train", "first.svm", "--rule", "perceptron", "-o", "old", "-q")
    shown = run("train", "second.svm", "--from", "old", "-o", "old")
    assert shown.stdout.startswith("Run of Perceptron")
    assert "rule: auto" not in shown.stderr


@pytest.mark.parametrize("rule", [Perceptron(), Majority([AROW(), Perceptron()]), Majority()])
def test_a_checkpoint_keeps_its_rule(examples, rule):
    def interrupt(progress):
        if progress.passes == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        onlinear.train(
            rule, onlinear.open_stream("real.svm"), checkpoint="kept", every=0.0, progress=interrupt, passes=3
        )
    shown = run("train", "real.svm", "--checkpoint", "kept", "--passes", 3)
    again = onlinear.train(rule, onlinear.open_stream("real.svm"), passes=3)
    assert shown.stdout.splitlines()[0] == f"Run of {rule!r}"
    assert f"{again.mistakes:,} (" in shown.stdout
    assert shown.stderr.startswith("resuming from kept\n")
    assert "rule: auto" not in shown.stderr


def test_members_of_ones_own(examples, mine):
    rule = f"majority(arow, {mine}(rate=0.25), eta=0.5)"
    run("train", "first.svm", "--rule", rule, "-o", "model", "-q")
    for command in ("predict", "evaluate"):
        needs = run(command, "model", "second.svm", code=2).stderr
        assert "Halfway is a user-defined rule, and the file contains no code; use --rule FILE.py:Halfway" in needs
        assert run(command, "model", "second.svm", "--rule", mine).stdout
        assert run(command, "model", "second.svm", "--rule", rule).stdout
        other = run(command, "model", "second.svm", "--rule", f"majority(winnow,{mine})", code=2).stderr
        assert "model is the majority of AROW, Halfway, and keeps them" in other
    assert "Halfway(rate=0.25)" in run("inspect", "model", "--rule", mine).stdout
    assert "Halfway(rate=0.25)" in run("inspect", "model").stdout
    run("train", "first.svm", "--rule", "perceptron", "-o", "single", "-q")
    assert (
        "single is of Perceptron, not of a majority"
        in run("train", "first.svm", "--from", "single", "--rule", "auto", code=2).stderr
    )
    wrong = run("evaluate", "model", "second.svm", "--rule", f"{mine},perceptron", code=2).stderr
    assert "none of its user-defined rules" in wrong
    run("train", "second.svm", "--from", "model", "--rule", mine, "-o", "model", "-q")
    assert "is the file of --rule" in run("train", "first.svm", "--rule", rule, "-o", "mine.py", code=2).stderr


def test_inspecting_shows_the_members_and_the_weights_of_the_best(examples):
    run("train", "real.svm", "-o", "model", "-q")
    shown = run("inspect", "model", "--top", 2).stdout
    assert "format     version 2" in shown
    assert "members" in shown
    best = onlinear.load("model").best_member()
    assert f"The weights of the best member, {best.rule!r}:" in shown
    (told,) = lines_of("inspect", "model", "--top", 1)
    assert told["top"][0]["weight"] == pytest.approx(best.weights[np.abs(best.weights).argmax()])


def test_certificates(examples):
    end, proof = lines_of("train", "real.svm", "--certify", "-q")
    outcome = proof["certificate"]["outcome"]
    assert outcome["mistakes"] == end["mistakes"]
    assert outcome["member_mistakes"] == [one["mistakes"] for one in end["members"]]
    run("train", "real.svm", "-o", "model", "-q")
    shown = run("certify", "--model", "model", "real.svm").stdout
    assert "Fixed share mistake bound" in shown
    assert "Anytime randomised weighted majority mistake bound" in shown
