"""What stops and friction mean for an equilibrium.

The contact forces of rigid end stops are unknown, only their positions known.
"""

from __future__ import annotations

from typing import Any

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ModelError
from kinode.kernels.state import State
from kinode.model.joints.end_stops import passed_end
from kinode.model.joints.joint import Joint
from kinode.model.joints.joint_events import STOP


def _rigid_ends(dynamics: Dynamics) -> list[Joint]:
    """The joints with rigid end stops."""
    with_modes = (
        dynamics.system.joints[name] for name in dynamics.topology.layout.discrete_of if name in dynamics.system.joints
    )
    return [joint for joint in with_modes if joint.ends is not None and joint.ends.rigid]


def off_rigid_ends(dynamics: Dynamics, start: State) -> State:
    """The start with no joint in contact with a rigid end: the search does not know contact forces."""
    z, z_index = start.z.copy(), {c.name: c.index for c in dynamics.coordinates if c.role == "z"}
    for joint in _rigid_ends(dynamics):
        z[z_index[f"{joint.name}.{STOP}"]] = 0.0
    return State(start.t, start.q, start.u, z)


def check_rigid_ends(dynamics: Dynamics, state: State, p: Any) -> None:
    """Refuse an equilibrium beyond a rigid end, which has no stiffness to push back with."""
    values = dynamics.values(state)
    for joint in _rigid_ends(dynamics):
        q = values[f"{joint.name}.q"]
        end = passed_end(joint, dynamics.arguments.resolver(p), q)
        if end is not None:
            message = f"would rest at {q:g}, beyond its rigid end at {end:g}"
            raise ModelError(f"{message}: start there and hold it, or give the end a stiffness", component=joint.name)


def find_sticking(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> tuple[str, ...]:
    """The components whose friction could keep a joint at rest: no stops, and no released brakes."""
    locks = dynamics.snapshot(state, p, inputs).locking.locks if dynamics.topology.layout.discrete_of else []
    frictional = (lock for lock in locks if lock.part != "stop" and (lock.takes is None or float(lock.takes(1.0)) > 0))
    return tuple(dict.fromkeys(lock.owner for lock in frictional))
