"""All kinds of elements that come with kinode, in the order in which schema and documentation list them."""

from __future__ import annotations

from kinode.model.base.element import ELEMENTS
from kinode.model.elements import applied_loads, brakes, lugre, spring
from kinode.model.environment import aerodynamics, earth, thrust
from kinode.model.network import (
    backlash_gear,
    direction_ports,
    electrical,
    friction_parts,
    motors,
    rotational,
    switches,
    translational,
)
from kinode.model.signals import (
    continuous,
    linear_systems,
    pid,
    python_controller,
    relay,
    sampled_controllers,
    sampling,
)

MODULES = (
    spring, applied_loads, continuous, linear_systems, sampling, python_controller, brakes, lugre, earth, electrical,
    aerodynamics, thrust, direction_ports, rotational, backlash_gear, motors, pid, relay, friction_parts,
    sampled_controllers, translational, switches,
)  # fmt: skip


def load_builtin_kinds() -> None:
    """Put them in order, whichever were imported first; those of plug-ins come last."""
    order = {module.__name__: k for k, module in enumerate(MODULES)}
    known = sorted(ELEMENTS.known.items(), key=lambda item: order.get(item[1].__module__, len(order)))
    ELEMENTS.known = dict(known)
