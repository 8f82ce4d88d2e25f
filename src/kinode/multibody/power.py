"""Where a system's mechanical energy comes from and goes to: the power of everything that is no potential.

    d/dt (kinetic + potential energy) = sum of powers(snapshot)

The causes are, by name: the drive of a joint (its effort law, or what its prescribed motion needs), its damping and
friction, each element, less what its own potential stores, and each constraint with a law of time.  Springs in joints
and gravity are potentials and do not appear.  The energies of parts count too, electric ones among them; a part is the
cause of what it stores beyond the power that it is given at its ports: a source of what it supplies, a resistor of what
it loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_number, rate, tidy
from kinode.algebra.spatial import cross, dot
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.element import Element
from kinode.model.constraints.constraint import Constraint
from kinode.model.system import System
from kinode.multibody.restraints.loop_constraints import law_rates, loop_constraint_of
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


def find_causes(topology: Topology) -> tuple[str, ...]:
    """All that can change the energy, in the order of ``powers``: what joints do, elements, constraints."""
    found = []
    for name, joint in topology.system.joints.items():
        if joint.driven or joint.effort is not None:
            found.append(f"{name}.drive")
        if joint.damping is not None:
            found.append(f"{name}.damping")
        if joint.friction is not None:
            found.append(f"{name}.friction")
        if joint.ends is not None:
            found.append(f"{name}.stop")
    found += [name for name, element in topology.system.elements.items() if not element.conservative]
    return (*found, *(c.name for c in topology.constraints if is_moved(c)))


def is_moved(constraint: Constraint) -> bool:
    """Whether a constraint has a law that may change with time, and so does work."""
    return any(isinstance(getattr(constraint, field), Expression) for field in constraint.timely)


def has_potential(element: Element) -> bool:
    """Whether an element's class knows a potential."""
    return type(element).potential is not Element.potential


def powers(snapshot: Snapshot) -> list[Scalar]:
    """The power of each cause [W]."""
    system: System = snapshot.system
    found: list[Scalar] = []
    for cause in find_causes(snapshot.topology):
        owner, _, share = cause.rpartition(".")
        if cause in system.parts:
            found.append(part_power(snapshot, cause))
        elif cause in system.elements:
            element = system.elements[cause]
            found.append(element_power(snapshot, element) + stored_power(snapshot, element))
        elif cause in system.constraints:
            found.append(constraint_power(snapshot, system.constraints[cause]))
        else:
            found.append(dot(snapshot.efforts.share(owner, share), snapshot.joint_state(owner)[1]))
    return found


def part_power(snapshot: Snapshot, part: str) -> Scalar:
    """The rate of what a part stores, less the power into it through its ports; with what it does to bodies."""
    condensed = snapshot.condensed
    assert condensed is not None
    form = condensed.stored_rate(part)
    stored = _growth(snapshot, part) if form is None else snapshot.network.number(form, f"rate of {part}.stored")
    loads = element_power(snapshot, snapshot.system.parts[part])
    return stored - snapshot.network.quantity(part, "power") + loads


def _growth(snapshot: Snapshot, part: str) -> Scalar:
    """The rate of what a part stores, by that of the whole state: a voltage beside a charge that is the state."""
    from kinode.multibody.snapshot import Snapshot

    layout = snapshot.topology.layout

    def stored(y: Array) -> Array:
        there = Snapshot(snapshot.topology, layout.point(y[0], y[1:], snapshot.p, snapshot.inputs))
        return tidy([there.network.quantity(part, "stored")])

    y = np.concatenate([[snapshot.t], snapshot.point.y])
    y_dot = np.concatenate([[1.0], snapshot.q_dot, snapshot.u_dot, snapshot.z_dot])
    found: Scalar = rate(stored, y, y_dot)[0]
    return found


def part_balance(snapshot: Snapshot, part: str) -> tuple[Scalar, Scalar]:
    """What a part adds to the energy, twice: by its ports and what it stores, and as stated, supplied less lost."""
    condensed, one = snapshot.condensed, snapshot.system.parts[part]
    assert condensed is not None
    stated = condensed.evaluate(condensed.network.rows.expand(one.formula(f"{one.supplied} - ({one.lost})")))
    return part_power(snapshot, part), snapshot.network.number(stated, f"{part}.lost")


def constraint_power(snapshot: Snapshot, constraint: Constraint) -> Scalar:
    """What a constraint does while a law moves it: lam . G u, where G u + c_t = 0."""
    lam = snapshot.constraints.scatter(snapshot.multipliers)[constraint.name]
    return -dot(lam, law_rates(snapshot.kinematics, loop_constraint_of(snapshot.topology, constraint)))


def element_power(snapshot: Snapshot, element: Element) -> Scalar:
    """What an element does on bodies and joints: force times velocity, moment times angular velocity."""
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
    """The rate of an element's potential along the motion."""
    if not has_potential(element):
        return 0.0
    from kinode.multibody.snapshot import Snapshot

    n = snapshot.topology.n_q

    def potential(y: Array) -> Array:
        there = Snapshot(snapshot.topology, snapshot.point.replaced(t=y[0], q=y[1 : n + 1], z=y[n + 1 :]))
        return tidy([element.potential(there)])

    y = np.concatenate([[snapshot.t], snapshot.q, snapshot.z])
    y_dot = np.concatenate([[1.0], snapshot.q_dot, snapshot.z_dot])
    found: Scalar = rate(potential, y, y_dot)[0]
    return float(found) if is_number(found) else found
