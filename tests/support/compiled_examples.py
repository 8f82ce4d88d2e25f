"""Examples that several tests compile: once in a process."""

from functools import cache

import kinode as kn
from kinode.dynamics.compiled_system import Dynamics


@cache
def compiled_example(name: str) -> Dynamics:
    """The compiled system of ``examples/<name>.yaml``."""
    return kn.compile(kn.load(f"examples/{name}.yaml"))
