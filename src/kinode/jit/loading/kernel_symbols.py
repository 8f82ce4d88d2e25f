"""The names by which kernels, their data and the routines that they call know each other."""

from __future__ import annotations

from kinode.named_tuples import NamedTuple

ARGUMENTS = ("t", "q", "u", "z", "p", "inputs", "x", "work", "out")
"""The arguments of a kernel."""
INTERPRETER = "interpreter of bytecode"
"""What the cache knows the code of the interpreter by."""


class RoutineNames(NamedTuple):
    """The names of the shared routines for one number of lanes."""

    sincos: str
    exp: str
    interval: str
    fetch: str
    batch: str


def names(lanes: int) -> RoutineNames:
    """The names of the shared routines for a number of lanes."""
    return RoutineNames(*(f"kinode_{routine}_{lanes}" for routine in RoutineNames._fields))


def routine_symbol(name: str) -> str:
    """The symbol of a function of the loop language, by its module and name."""
    return f"kinode_{name.rpartition(':')[2]}"


def global_name(name: str) -> str:
    """The name of a global variable for named data; of letters and digits, whatever the name."""
    return f"data_{name.encode().hex()}"
