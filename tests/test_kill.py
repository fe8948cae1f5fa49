"""A few of the kills of kill.py, which has many more: ``make kill``."""

import pytest

import kill


@pytest.mark.slow
def test_killed_training_ends_with_the_same_bits(tmp_path):
    data = tmp_path / "data.svm"
    kill.make(data, 50_000)
    commands = [("Perceptron()", "{'passes': 9, 'shuffle': 999, 'fit_intercept': True}")]
    hits, wrong = kill.rehearse(data, tmp_path, 4, 0.0, commands=commands, longest_wait=0.1, tell=lambda line: None)
    assert not wrong
    assert hits
