"""The command line in this process, or in one of its own."""

import json
import subprocess
import sys

from click.testing import CliRunner

from onlinear.cli.app import commands


def run(*arguments, code=0):
    """Run a command here; return what click's runner has seen of it."""
    result = CliRunner().invoke(commands, [str(one) for one in arguments], prog_name="onlinear")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    result.stderr_bytes = without_notices(result.stderr_bytes)
    return result


def lines_of(*arguments):
    """Run a command here with --json; return the objects that it prints."""
    return [json.loads(line, parse_constant=refused) for line in run(*arguments, "--json").stdout.splitlines()]


def refused(constant):
    raise AssertionError(f"{constant} is not JSON")


def process(*arguments, **options):
    """Run a command in a process of its own."""
    return finished(command(*arguments), **options)


def shell(line, *arguments):
    """Run a command in a process of its own, with a line of the shell in which it is called "$@"."""
    return finished(["sh", "-c", line, "sh", *command(*arguments)])


def finished(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, **options)
    done.stderr = without_notices(done.stderr.encode()).decode()
    return done


def without_notices(text):
    """What was printed, but for the notices of what is compiled: they depend on what ran before."""
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"compiling "))


def command(*arguments):
    return [sys.executable, "-m", "onlinear", *map(str, arguments)]


OWN_RULE = """
from typing import NamedTuple

import numpy as np

from onlinear.rules import add, dot, rule


@rule(additive=True)
class Halfway(NamedTuple):
    rate: float = 0.5

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        if mistake:
            add(w, self.rate * y, x)
        return self.rate * mistake
"""
