"""Packages that kinode does without until they are asked for: each comes with an extra of its own."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kinode.errors import ArgumentError


def need(package: str, extra: str, purpose: str) -> Any:
    """A package that need not be installed; without it, an error that says what wants it and how to get it."""
    try:
        return import_module(package)
    except ImportError as error:
        missing = (error.name or package).partition(".")[0]
        raise ArgumentError(f"{purpose} needs the package {missing}: pip install 'kinode[{extra}]'") from None
