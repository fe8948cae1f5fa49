"""The shell examples of the guide for users of Vowpal Wabbit: the commands do, and print, what the page shows."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import without_notices

GUIDE = Path(__file__).parents[1] / "docs" / "coming-from-vowpal-wabbit.md"


def examples(text):
    """Return the commands of a page's console blocks, each with the output that stands below it."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.MULTILINE)
    return [(command, output.rstrip("\n")) for command, output in lines]


def matches(shown, printed):
    """Tell whether a page shows what was printed, where … stands for anything."""
    shown, printed = (text.replace("…", "...").rstrip("\n") for text in (shown, printed))
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


@pytest.fixture
def shell(tmp_path):
    """Run commands in a folder of their own, where `onlinear` is the one that is tested."""
    programs = tmp_path / "bin"
    programs.mkdir()
    onlinear = programs / "onlinear"
    onlinear.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m onlinear "$@"\n', encoding="utf-8")
    onlinear.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"}

    def run(command):
        words = ["sh", "-c", f"{{ {command}\n}} 2>&1"]
        options = {"cwd": work, "env": environment, "encoding": "utf-8", "timeout": 120}
        return subprocess.run(words, stdout=subprocess.PIPE, check=False, **options)

    return run


@pytest.mark.slow
def test_commands_print_what_the_page_shows(shell):
    commands = examples(GUIDE.read_text(encoding="utf-8"))
    assert commands
    for command, shown in commands:
        result = shell(command)
        assert result.returncode == 0, f"{command}\n{result.stdout}"
        printed = without_notices(result.stdout.encode()).decode()  # what is compiled depends on earlier runs
        assert matches(shown, printed), f"{command}\nprints\n{printed}\nand not\n{shown}"


def test_faults_are_seen(shell):
    text = "```console\n$ echo a; echo b >&2\na\nb\n$ true\n\n```\n```text\n$ not run\n```\n"
    assert examples(text) == [("echo a; echo b >&2", "a\nb"), ("true", "")]
    assert shell("echo a; echo b >&2").stdout == "a\nb\n"
    assert shell("exit 3").returncode == 3
    assert matches("1 …\nend", "1 2 3\n4\nend\n")
    assert not matches("1 …\nend", "2 3\nend\n")
    assert not matches("", "something\n")
