"""The command line: it parses, calls and prints; what it calls is there for programs, too."""

from onlinear.cli.app import main

__all__ = ["main"]
