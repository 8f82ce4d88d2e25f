"""The parameters that the start of a run can depend on; with others changed, the start stays the same.

Masses, forces and efforts act on accelerations, and a start has none.  Left out are therefore the mass properties of
bodies, all fields of elements without states, and the laws of efforts along joints; without loops all fields of bodies.
Every parameter counts where the start follows from more: where a placement, a prescribed motion or an initial value
names a quantity.  In a network, or with a filter that starts at its input, those count that the function reads which
computes these values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kinode.algebra.scalars import Array
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.fields import Component
from kinode.model.base.parameters import Parameter, Signal
from kinode.model.joints.joint import Joint
from kinode.structure.topology import Topology

MASS_FIELDS = frozenset({"mass", "com", "inertia", "shape"})
EFFORT_FIELDS = frozenset({"effort", "damping", "stiffness", "friction", "compliance", "limits"})


def needs_quantities(topology: Topology) -> bool:
    """Whether a start follows from quantities: of a network, or what following states start at."""
    return topology.network is not None or _has_followers(topology)


def find_start_parameters(topology: Topology, read: Sequence[int] | None = None) -> Array:
    """Indices of the parameters that a start can depend on.

    ``read`` are those that the quantities of a start depend on, where they are known.
    """
    names = topology.parameters
    if needs_quantities(topology) and read is None:
        return np.arange(len(names))
    reached = {names[k] for k in read or ()}
    waiting = {name for law in _laws_of_the_start(topology, read is None) for name in law.names()}
    if read is not None:  # laws of elements act through quantities; initial values of their states name parameters
        system = topology.system
        owners = {*topology.z_of, *topology.layout.discrete_of, *system.parts} & system.elements.keys()
        states = (law.names() for name in owners for _, law in system.elements[name].expressions())
        waiting |= frozenset().union(*states) & system.parameters.keys()
    while waiting:
        name = waiting.pop()
        reached.add(name)
        behind = _names_behind(topology, name)
        if behind is None:
            return np.arange(len(names))
        waiting |= behind - reached
    return np.array([k for k, name in enumerate(names) if name in reached], dtype=int)


def _has_followers(topology: Topology) -> bool:
    """Whether a state of a component other than a joint starts at a value that follows from others."""
    system, default = topology.system, Component.consistent_values
    owners = [name for name in (*topology.z_of, *topology.layout.discrete_of) if name in system]
    return any(
        type(system[name]).consistent_values is not default and not isinstance(system[name], Joint) for name in owners
    )


def _laws_of_the_start(topology: Topology, with_elements: bool) -> Iterator[Expression]:
    """The expressions that a start can depend on, but for signals and parameters, which act where others name them."""
    system = topology.system
    stateful = {*topology.z_of, *topology.layout.discrete_of} if with_elements else set[str]()
    stateful |= system.constraints.keys()
    for component in system.components.values():
        if isinstance(component, Parameter | Signal) or (isinstance(component, Body) and not topology.constrained):
            continue
        if component.name in system.elements and component.name not in stateful:
            continue
        left_out = frozenset[str]()
        if isinstance(component, Body | Joint):
            left_out = MASS_FIELDS if isinstance(component, Body) else EFFORT_FIELDS
        yield from (law for field, law in component.expressions() if field not in left_out)


def _names_behind(topology: Topology, name: str) -> frozenset[str] | None:
    """The names in the law of a signal or parameter; None for a quantity, which may depend on everything."""
    system = topology.system
    if name == "t" or name in topology.inputs:
        return frozenset()
    if name in system.signals:
        law = system.signals[name].law
    elif name in system.parameters:
        law = system.parameters[name].value
    else:
        return None
    return law.names() if isinstance(law, Expression) else frozenset()
