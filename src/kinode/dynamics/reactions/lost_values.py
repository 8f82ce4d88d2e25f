"""Loads and frames that have no value of their own: not unique, left out by the model, or not defined at a state.

Equilibrium alone may not determine loads of constraints with redundant rows.

Reactions leave out loads of which the model does not say where they act: forces of teeth, belts and chains.  A gear or
rack without ``pressure_angle`` couples two joints; a network's gear or pinion acts on joints alike.  Its efforts along
them are right, and so is the motion, unless friction depends on the load of their bearings.  The reactions of the
joints that would take its force are marked, and if reactions are shared in redundant loops, those of all joints of the
loops that have one of these.  A motor geared to a joint with prescribed motion gives nothing: what the motion needs is
the effort of that joint, and the model does not say that it comes through the gear.  The motor's efforts say that they
are without it.

A frame along a velocity that is zero, or along a line without length, is not defined.  Compiled code gives numbers that
are not finite there; the frame is found by evaluating it once more in Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.model.base.frames import Frame
from kinode.model.base.observers.moving_frames import standing
from kinode.model.constraints.constraint import find_transmissions
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.quantities import ACTED_ON, JOINT_WRENCHES, POWERS, QuantityName
from kinode.multibody.loop_statics import find_loops

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.state_batch import StateBatch
    from kinode.multibody.snapshot import Snapshot
    from kinode.structure.topology import Topology


def is_redundant(dynamics: Dynamics) -> bool:
    """Whether constraint rows are redundant, so that reactions may not be unique."""
    closure = dynamics.closure if dynamics.topology.constrained else None
    return closure is not None and len(closure.rows) < closure.total


def is_shared(dynamics: Dynamics, name: QuantityName) -> bool:
    """Whether a quantity by name depends on the distribution of redundant reactions."""
    if not is_redundant(dynamics) or not name.is_load:
        return False
    if name.quantity not in ACTED_ON:
        return True
    return dynamics.system.joints[name.owner].driven or name.owner in dynamics.topology.tied


TOOTH_FORCE = ("tooth force",)
MOTOR_EFFORTS = frozenset({"effort", "effort.drive", "effort.gear", *POWERS})


def find_left_out(topology: Topology) -> dict[str, tuple[str, ...]]:
    """What is left out of the reactions of joints, by joint; joints whose reactions are complete have no entry."""
    joints = set(topology.joints_without_teeth)
    if not joints:
        return {}
    if topology.rows is not None and len(topology.rows) < len(topology.row_units):
        loops = find_loops(topology)
        while more := set[str]().union(*(loop for loop in loops if loop & joints)) - joints:
            joints |= more
    return {name: TOOTH_FORCE for name in topology.system.joints if name in joints}


def left_out_of(topology: Topology, name: QuantityName) -> tuple[str, ...]:
    """What is left out of a quantity: of wrenches of joints, of friction by them, of forces of gears, of motors."""
    joint, constraint = topology.system.joints.get(name.owner), topology.system.constraints.get(name.owner)
    if joint is not None and name.quantity in MOTOR_EFFORTS:
        return tuple(f"effort of {load}" for load in _prescribed_loads(topology, name.owner))
    if joint is not None:
        friction = joint.friction
        pressed = friction is not None and (friction.coefficient != 0.0 or friction.static_coefficient is not None)
        if name.quantity in JOINT_WRENCHES or (pressed and name.quantity == "effort.friction"):
            return find_left_out(topology).get(name.owner, ())
    if isinstance(constraint, CoordinateCoupling) and name.quantity.startswith("on."):
        return TOOTH_FORCE if constraint.pressure_angle is None else ()
    return ()


def _prescribed_loads(topology: Topology, motor: str) -> tuple[str, ...]:
    """The joints with prescribed motion that a joint would turn through its gears."""
    gears, joints = find_transmissions(topology.system), topology.system.joints
    turned = [motor]
    for name in turned:
        if not joints[name].driven:
            turned += [gear.load for gear in gears if gear.motor == name and gear.load not in turned]
    return tuple(name for name in turned[1:] if joints[name].driven)


def check_frames(
    dynamics: Dynamics, names: Sequence[QuantityName], values: Mapping[str, Array], states: StateBatch
) -> None:
    """Refuse values that are not finite because a frame that they are seen from is not defined."""
    system = dynamics.system
    if not system.frames:
        return
    for name in names:
        value = values[name.text]
        rows = value.reshape((*value.shape[: value.ndim - len(name.size)], -1))
        check_seen(dynamics, [f for f in (name.frame, name.axes) if f is not None], rows, states)


def check_seen(dynamics: Dynamics, seen_from: Sequence[Frame], values: Array, states: StateBatch) -> None:
    """Refuse values (state, ...) that are not finite because one of some frames is not defined."""
    frames = [name for frame in seen_from for name in standing(dynamics.system, frame)]
    if not frames or np.isfinite(values).all():
        return
    for k in np.flatnonzero(~np.isfinite(np.atleast_2d(values)).all(axis=1)):
        snapshot = snapshot_of(dynamics, states, int(k))
        lost = find_lost(snapshot, frames)
        if lost is not None:
            raise ModelError(f"at t = {float(snapshot.t):.6g} s {lost[1]}", component=lost[0])


def find_lost(snapshot: Snapshot, frames: Sequence[str]) -> tuple[str, str] | None:
    """The first of some frames that is not defined at a state of plain numbers, and why."""
    for name in reversed(frames):
        try:
            words = snapshot.system.frames[name].undefined(snapshot)
        except (ArithmeticError, ValueError):
            words = ""
        if words:
            return name, words
    return None


def snapshot_of(dynamics: Dynamics, states: StateBatch, row: int) -> Snapshot:
    """One state of a batch."""
    from kinode.multibody.snapshot import Snapshot  # a frame is lost seldom

    def pick(x: Array, size: int) -> Array:
        return x[row] if np.ndim(x) > size else x

    t, q, u, z = pick(states.t, 0), pick(states.q, 1), pick(states.u, 1), pick(states.z, 1)
    point = states.replaced(t=float(t), q=q, u=u, z=z, p=pick(states.p, 1), inputs=pick(states.inputs, 1))
    return Snapshot(dynamics.topology, point)


def lost_frame(snapshot: Snapshot) -> str | None:
    """A frame of the model that is not defined at a state of plain numbers, in words."""
    lost = find_lost(snapshot, list(snapshot.system.frames))
    return None if lost is None else f"{lost[0]}: {lost[1]}"
