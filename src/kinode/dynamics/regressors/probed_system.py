"""A system whose bodies carry probes: bodies fixed to them, whose mass, mass moment and inertia are parameters.

The efforts of inverse dynamics are linear in these numbers.  Their derivatives by them are the regressor, whatever the
probes weigh.  At a mass of 1 kg in the origin, the derivative by the mass center is that by the mass moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.derivative_calls.prepared_derivatives import DerivativeFunction
    from kinode.model.system import System

NUMBERS = (
    ("mass", "kg"),
    ("mass_moment.x", "kg*m"), ("mass_moment.y", "kg*m"), ("mass_moment.z", "kg*m"),
    ("inertia.xx", "kg*m^2"), ("inertia.yy", "kg*m^2"), ("inertia.zz", "kg*m^2"),
    ("inertia.xy", "kg*m^2"), ("inertia.xz", "kg*m^2"), ("inertia.yz", "kg*m^2"),
)  # fmt: skip
"""The ten inertial numbers of a body with their units: mass, mass moment and inertia, about its origin, in its axes."""
_FIELDS = ("1 kg", *("0 m",) * 3, *("0 kg*m^2",) * 6)


class ProbedSystem:
    """The derivatives of efforts by the inertial numbers of all bodies that move."""

    def __init__(self, dynamics: Dynamics) -> None:
        from kinode.dynamics.compiled_system import Dynamics as CompiledSystem

        self.own = dynamics
        node_of = dynamics.topology.tree.node_of
        self.bodies = tuple(body for body in dynamics.system.bodies if node_of[body] != node_of["world"])
        system, names = _add_probes(dynamics.system, self.bodies)
        self.dynamics = CompiledSystem(system, rows=dynamics.start.known_rows)
        if self.dynamics.n_q != dynamics.n_q or self.dynamics.n_u != dynamics.n_u:
            raise ArgumentError(f"regressor: {dynamics.system.name} moves otherwise if its bodies carry others")
        self.function: DerivativeFunction = self.dynamics.derivatives_of("effort", by=names)

    def evaluate(self, t: Any, q: Any, u: Any, u_dot: Any, z: Any, p: Any, inputs: Any) -> Array:
        """A matrix with a row for each speed and ten columns for each body, for one state or a batch."""
        same = self.dynamics.n_z == self.own.n_z
        return self.function.evaluate(t, q, u, u_dot, z if same else None, self._parameters(p), inputs, None)

    def _parameters(self, p: Any) -> Array | None:
        """The parameters of the system, and the numbers of the probes."""
        if p is None:
            return None
        own, places = self.own.arguments.read_parameters(p), list(self.dynamics.topology.parameters)
        values = np.broadcast_to(self.dynamics.parameters, (*own.shape[:-1], len(places))).copy()
        values[..., [places.index(name) for name in self.own.topology.parameters]] = own
        return values


def _add_probes(system: System, bodies: tuple[str, ...]) -> tuple[System, tuple[str, ...]]:
    """A copy of a system with a probe on each body, without friction that depends on reactions; the new parameters."""
    twin, stem, names = system.copy(), "probe", list[str]()
    while any(name.startswith(stem) for name in system.components):
        stem += "_"
    for name, joint in system.declared_joints.items():
        if joint.friction is not None:
            twin.change(name, friction=None)
    for k, body in enumerate(bodies):
        fields = [twin.parameter(f"{stem}{k}_{j}", value) for j, value in enumerate(_FIELDS)]
        probe = twin.body(f"{stem}{k}", mass=fields[0], com=fields[1:4], inertia=fields[4:], about="origin")
        twin.fixed(f"{stem}{k}_joint", twin.bodies[body], probe)
        names += [f"{stem}{k}_{j}" for j in range(len(_FIELDS))]
    return twin, tuple(names)
