"""Each experiment in small, conducted once."""

import pytest

from onlinear.experiments import EXPERIMENTS


@pytest.fixture(scope="session")
def small():
    """Return a function that conducts an experiment in small, at most once."""
    known = {}

    def conduct(name):
        if name not in known:
            known[name] = EXPERIMENTS[name]("small")
        return known[name]

    return conduct
