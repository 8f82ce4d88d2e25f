"""The command ``kinode``."""

from kinode.cli.commands import main

__all__ = ["main"]
