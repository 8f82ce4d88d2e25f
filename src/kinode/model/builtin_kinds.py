"""The packages whose modules hold kinode's own kinds.

A new kind is a new module in one of them, or a new class in one of their modules; nothing lists it by name.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module

from kinode.model import constraints, elements, environment, joints, network, signals

# Most models need the first ones alone.
PACKAGES = (joints, constraints, elements, environment, network, signals)


def load_builtin_kinds(enough: Callable[[], bool]) -> bool:
    """Import the modules of kinds, package by package, until that is enough; whether all of them are imported."""
    for package in PACKAGES:
        if enough():
            return False
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    return True
