"""Python in a process of its own."""

import os
import subprocess
import sys


def run_python(*words, **environment):
    """Run Python with these words and variables; return what it has printed."""
    settings = os.environ | environment
    command = [sys.executable, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=settings)  # noqa: S603  # our own code
