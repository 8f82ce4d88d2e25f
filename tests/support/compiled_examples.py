"""Examples that several tests compile: once in a process."""

from functools import cache

import kinode as kn


@cache
def compiled_example(name: str) -> kn.Dynamics:
    """The compiled system of ``examples/<name>.yaml``."""
    return kn.compile(kn.load(f"examples/{name}.yaml"))
