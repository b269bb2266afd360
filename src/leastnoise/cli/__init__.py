"""The command line: a verb a file, errors in one sentence."""

from leastnoise.cli.app import main

__all__ = ["main"]
