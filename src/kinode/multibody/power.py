"""Power balance: where a system's energy comes from and goes to, as the power of everything that is no potential.

    d/dt (kinetic + potential energy) = sum of powers(snapshot)

The causes are, by name: the drive of a joint (its effort law, or what its prescribed motion needs), its damping and
friction, each element, less what its own potential stores, and each constraint with a law of time.  Springs in joints
and gravity are potentials and do not appear.  The energies of network parts are included, electric ones too.  The power
of a part is the rate of its stored energy less the power into it through its ports: positive for a source, negative for
a resistor.  Where the flow itself is a power, as heat is, the reference node is a cause too: what leaves through it
leaves the system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_number, rate, tidy
from kinode.algebra.spatial import cross, dot
from kinode.model.base.element import Element
from kinode.model.constraints.constraint import Constraint
from kinode.model.system import System
from kinode.multibody.loop_constraints import law_rates, loop_constraint_of
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


def find_causes(topology: Topology) -> tuple[str, ...]:
    """The names of all causes of a change of energy, in the order of ``powers``: joints, elements, constraints."""
    causes = []
    for name, joint in topology.system.joints.items():
        causes += [f"{name}.{effect.share}" for effect in joint.effects if not effect.stores]
    causes += [name for name, element in topology.system.elements.items() if not element.conservative]
    causes += find_outlets(topology.system)
    return (*causes, *(c.name for c in topology.constraints if c.depends_on_time))


def find_outlets(system: System) -> list[str]:
    """The reference nodes through which power enters or leaves: those of domains whose flow itself is a power."""
    return [node.name for node in system.nodes.values() if node.reference and not node.domain.product_is_power]


def has_potential(element: Element) -> bool:
    """Whether an element's class defines a potential."""
    return type(element).potential is not Element.potential


def powers(snapshot: Snapshot) -> list[Scalar]:
    """The power of each cause [W]."""
    system: System = snapshot.system
    values: list[Scalar] = []
    for cause in find_causes(snapshot.topology):
        owner, _, share = cause.rpartition(".")
        if cause in system.parts:
            values.append(part_power(snapshot, cause))
        elif cause in system.nodes and cause not in system.components:
            values.append(outlet_power(snapshot, cause))
        elif cause in system.elements:
            element = system.elements[cause]
            values.append(element_power(snapshot, element) + stored_power(snapshot, element))
        elif cause in system.constraints:
            values.append(constraint_power(snapshot, system.constraints[cause]))
        else:
            values.append(dot(snapshot.efforts.own_share(owner, share), snapshot.joint_state(owner)[1]))
    return values


def part_power(snapshot: Snapshot, part: str) -> Scalar:
    """The rate of a part's stored energy, less the power into it through its ports, plus its power on bodies [W]."""
    condensed = snapshot.condensed
    assert condensed is not None
    form = condensed.stored_rate(part)
    stored = _stored_rate(snapshot, part) if form is None else snapshot.network.number(form, f"rate of {part}.stored")
    component = snapshot.system.parts[part]  # what goes through a vector port is in its power already
    loads = 0.0 if component.vector_ports else element_power(snapshot, component)
    return stored - snapshot.network.quantity(part, "power") + loads


def outlet_power(snapshot: Snapshot, node: str) -> Scalar:
    """The power that a reference node gives: the flows into all parts there [W]."""
    total: Scalar = 0.0
    for part, port in snapshot.system.nodes[node].ports:
        total = total + snapshot.network.quantity(part, f"{port}.{snapshot.system.nodes[node].domain.flow}")
    return total


def _stored_rate(snapshot: Snapshot, part: str) -> Scalar:
    """The rate of a part's stored energy, by the rates of the whole state."""
    from kinode.multibody.snapshot import Snapshot

    layout = snapshot.topology.layout

    def stored(y: Array) -> Array:
        shifted = Snapshot(snapshot.topology, layout.point(y[0], y[1:], snapshot.p, snapshot.inputs))
        return tidy([shifted.network.quantity(part, "stored")])

    y = np.concatenate([[snapshot.t], snapshot.point.y])
    y_dot = np.concatenate([[1.0], snapshot.q_dot, snapshot.u_dot, snapshot.z_dot])
    stored_rate: Scalar = rate(stored, y, y_dot)[0]
    return stored_rate


def part_balance(snapshot: Snapshot, part: str) -> tuple[Scalar, Scalar]:
    """The power of a part in two ways: by its ports and stored energy, and as declared, supplied less lost [W]."""
    condensed, component = snapshot.condensed, snapshot.system.parts[part]
    assert condensed is not None
    formula = component.formula(component.balance_text())
    stated = condensed.evaluate(condensed.network.rows.expand(formula))
    return part_power(snapshot, part), snapshot.network.number(stated, f"{part}.lost")


def constraint_power(snapshot: Snapshot, constraint: Constraint) -> Scalar:
    """The power of a constraint that depends on time: lam . G u, where G u + c_t = 0 [W]."""
    lam = snapshot.constraints.scatter(snapshot.multipliers)[constraint.name]
    return -dot(lam, law_rates(snapshot.kinematics, [loop_constraint_of(snapshot.topology, constraint)])[0])


def element_power(snapshot: Snapshot, element: Element) -> Scalar:
    """The power of an element on bodies and joints: force times velocity, moment times angular velocity [W]."""
    total: Scalar = 0.0
    for load in element.wrenches(snapshot):
        w, v = snapshot.velocity(load.on)
        if load.at is not None:
            v = v + cross(w, load.at - snapshot.pose(load.on).p)
        total = total + dot(load.force, v) + dot(load.moment, w)
    for name, effort in element.efforts(snapshot).items():
        total = total + effort * snapshot.joint_state(name)[1][0]
    return total


def stored_power(snapshot: Snapshot, element: Element) -> Scalar:
    """The rate of an element's potential along the motion [W]."""
    if not has_potential(element):
        return 0.0
    from kinode.multibody.snapshot import Snapshot

    n = snapshot.topology.n_q

    def potential(y: Array) -> Array:
        shifted = Snapshot(snapshot.topology, snapshot.point.replaced(t=y[0], q=y[1 : n + 1], z=y[n + 1 :]))
        return tidy([element.potential(shifted)])

    y = np.concatenate([[snapshot.t], snapshot.q, snapshot.z])
    y_dot = np.concatenate([[1.0], snapshot.q_dot, snapshot.z_dot])
    potential_rate: Scalar = rate(potential, y, y_dot)[0]
    return float(potential_rate) if is_number(potential_rate) else potential_rate
