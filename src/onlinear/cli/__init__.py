"""The command line, a thin layer over the Python API."""

from onlinear.cli.app import main

__all__ = ["main"]
