"""Rigid ends of joints where a state of rest is looked for: what they take is not known there, only where they are."""

from __future__ import annotations

from typing import Any

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ModelError
from kinode.kernels.state import State
from kinode.model.joints.end_stops import passed_end
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_events import STOP


def _rigid_ends(dynamics: Dynamics) -> list[Joint]:
    joints = (
        dynamics.system.joints[name] for name in dynamics.topology.layout.discrete_of if name in dynamics.system.joints
    )
    return [joint for joint in joints if joint.ends is not None and joint.ends.rigid]


def off_rigid_ends(dynamics: Dynamics, start: State) -> State:
    """The start with joints free of the rigid ends that they rest on, for what these take is not known here."""
    z, places = start.z.copy(), {c.name: c.index for c in dynamics.coordinates if c.role == "z"}
    for joint in _rigid_ends(dynamics):
        z[places[f"{joint.name}.{STOP}"]] = 0.0
    return State(start.t, start.q, start.u, z)


def check_rigid_ends(dynamics: Dynamics, state: State, p: Any) -> None:
    """Refuse what would rest beyond a rigid end: there is no force that pushes back by how deep it is."""
    values = dynamics.values(state)
    for joint in _rigid_ends(dynamics):
        q = values[f"{joint.name}.q"]
        end = passed_end(joint, dynamics.arguments.resolver(p), q)
        if end is not None:
            message = f"would rest at {q:g}, beyond its rigid end at {end:g}"
            raise ModelError(f"{message}: start there and hold it, or give the end a stiffness", component=joint.name)
