"""Which parts the symbols of printed equations belong to, so that a page can light them up.

Symbols carry names as their indices: of components (``q_elbow``, ``F_arm.1``, ``lam_pin, 2``), of nodes, or they are
parameters, inputs and signals, which belong to all that read them.  A word belongs to the longest name that it begins
with.
"""

from __future__ import annotations

from kinode.errors import Error
from kinode.model.base.fields import Component
from kinode.model.system import System

MOST_READERS = 12  # of a parameter; one that more read lights up nothing in particular


def find_owners(system: System) -> dict[str, list[str]]:
    """The components that each word of a symbol belongs to.

    Examples
    --------
    >>> owners = find_owners(kn.load("examples/motor_axis.yaml"))
    >>> owners["elbow"], owners["reach"], owners["rotor"]
    (['elbow'], ['arm'], ['motor', 'gear'])
    """
    owners: dict[str, list[str]] = {}
    readers: dict[str, list[str]] = {}
    components: dict[str, Component] = {
        name: x
        for section in (system.bodies, system.joints, system.constraints, system.elements, system.frames)
        for name, x in section.items()
    }
    for name, component in components.items():
        for _, law in component.expressions():
            for word in law.names():
                if name not in readers.setdefault(word, []):
                    readers[word].append(name)
    for word in (*system.parameters, *system.inputs, *system.signals):
        if 0 < len(readers.get(word, ())) <= MOST_READERS:
            owners[word] = readers[word]
    owners |= _nodes(system)
    owners |= {name: [name] for name in components}
    return owners | {name.replace(".", "_"): parts for name, parts in owners.items() if "." in name}


def _nodes(system: System) -> dict[str, list[str]]:
    """The parts that meet at each node."""
    try:
        nodes = system.nodes
    except Error:  # a network that is not whole
        return {}
    ends = {name: list(dict.fromkeys(part for part, _ in x.ports)) for name, x in nodes.items() if not x.reference}
    return {name: parts for name, parts in ends.items() if 0 < len(parts) <= MOST_READERS}
