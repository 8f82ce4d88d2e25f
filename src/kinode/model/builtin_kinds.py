"""The packages whose modules hold kinode's own kinds.

A new kind is a new module in one of them, or a new class in one of their modules; nothing lists it by name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module

from kinode.model import constraints, elements, environment, joints, network, signals
from kinode.model.base import observers

# Most models need the first two alone.
PACKAGES = (joints, elements, constraints, environment, network, signals, observers)


def load_builtin_kinds(enough: Callable[[], bool]) -> bool:
    """Import the modules of kinds, one after the other, until that is enough; whether all of them are imported."""
    for package in PACKAGES:
        for file in sorted(os.listdir(package.__path__[0])):
            if enough():
                return False
            if file.endswith(".py") and not file.startswith("_"):
                import_module(f"{package.__name__}.{file.removesuffix('.py')}")
    return True
