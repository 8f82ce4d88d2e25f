"""Messages about names that mean no quantity: what the name is, and what may have been meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kinode.errors import find_close, suggest
from kinode.expressions.function_table import CONSTANTS, FUNCTIONS
from kinode.expressions.units import find_units
from kinode.other_words import OTHER_WORDS

if TYPE_CHECKING:
    from kinode.model.system import System

MOST_HINTS = 3


def explain_owner(owner: str, what: str, quantities: Iterable[str]) -> str:
    """The message about a component where one of its quantities is expected: ``h`` where ``h.q`` was meant."""
    known = list(quantities)
    message = suggest(f"{owner} is {what}, and no number", owner, [f"{owner}.{quantity}" for quantity in known[:1]])
    return message + (f" It has {', '.join(known)}" if known else "; it has no quantities")


def explain_constant(name: str) -> str:
    """The message about the time, a constant or a unit that is written like a component."""
    word, _, rest = name.partition(".")
    what = {"t": "the time", "pi": "the number pi"}.get(word, f"a unit, {CONSTANTS.get(word, 1.0):.6g} in SI")
    return f"{word} is {what}, and has no {rest!r}" if rest else f"{word} is {what}, and no quantity of the system"


def explain_unknown(system: System, words: list[str]) -> str:
    """The message about a name that no component has."""
    name = words[0]
    message = f"nothing is called {name!r}"
    known = [*system.components, *system.nodes, "system", "ground", "t", *(CONSTANTS if len(words) == 1 else ())]
    near = find_close(name, known, MOST_HINTS)
    if len(words) > 1:
        if not near and words[-1] in system.components:  # reaction.elbow
            near = [".".join((words[-1], *words[:-1]))]
    elif name in FUNCTIONS:
        return f"{message}; it is a function: write {name}(...)"
    elif not any(word.lower() == name.lower() for word in near):
        near = _with_owner(system, name) or near
        if not near and name in find_units():
            return f"{message}; it is a unit, and a quantity with its unit stands alone: '2 {name}'"
    return suggest(message, name, near, MOST_HINTS)


def _with_owner(system: System, name: str) -> list[str]:
    """Names of quantities, with their owners, that a bare word may stand for: ``torque`` is ``elbow.effort``."""
    meant = [name, *OTHER_WORDS.get(name.lower(), ())]
    if "t" in meant:
        return ["t"]
    if name.lower() in _WHOLE:
        return [f"system.{_WHOLE[name.lower()]}"]
    return [
        f"{owner}.{word}"
        for word in dict.fromkeys(meant)
        for owner, quantities in _quantities(system)
        if word in quantities
    ]


_WHOLE = {
    **dict.fromkeys(("g", "gravity"), "gravity"),
    **dict.fromkeys(("energy", "total_energy"), "energy"),
    **{word: word for word in ("kinetic_energy", "potential_energy", "momentum", "angular_momentum", "com")},
}


def _quantities(system: System) -> Iterable[tuple[str, Iterable[str]]]:
    """Components with the names of their quantities, those that are mostly asked for."""
    for name, joint in system.joints.items():
        yield name, ("q", "u", "u_dot", "effort", "power") if joint.n_u else ()
    for name, element in system.elements.items():
        yield name, element.offered()
    for name in system.bodies:
        yield name, ("position", "velocity", "acceleration", "rpy", "quaternion", "angular_velocity")
