"""What every joint carries over a run: peak, mean and rms of force and moment, and when the peak comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.codegen.records import Wrench
from kinode.codegen.rolled import is_large
from kinode.errors import ArgumentError
from kinode.results.measures import Measure, measure
from kinode.views.camera import given_axis

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory


@dataclass(frozen=True)
class JointLoads:
    """What a joint carries; ``axial`` and ``radial`` are the peaks along and across its axis, where it has one."""

    joint: str
    kind: str
    on: str
    force: Measure
    moment: Measure
    axial: float | None
    radial: float | None
    effort: Measure | None
    effort_unit: str = ""
    unique: bool = True  # whether no other reactions balance as well


def find_wrenches(run: Trajectory) -> dict[str, Wrench]:
    """The reactions of all joints that can carry any, from one compiled function."""
    joints = [name for name, joint in run.system.joints.items() if joint.kind != "free"]
    given: dict[str, Any] = dict(run.arguments)
    return run.dynamics.reactions(joints=joints, **given) if joints else {}


def compute_parts(run: Trajectory, wrenches: dict[str, Wrench]) -> dict[str, tuple[float, float]]:
    """Peaks of the static and the kinetic part of each joint's force; none where nobody says who holds a loop.

    Nor of large trees, whose static parts would take long to compile for two columns.
    """
    if not wrenches or is_large(run.dynamics.topology):
        return {}
    given: dict[str, Any] = dict(run.arguments)
    try:
        static = run.dynamics.reactions(joints=list(wrenches), part="static", **given)
    except ArgumentError:
        return {}
    forces = {name: (static[name].force, wrench.force - static[name].force) for name, wrench in wrenches.items()}
    return {
        name: (measure(run.t, np.linalg.norm(one, axis=1)).peak, measure(run.t, np.linalg.norm(two, axis=1)).peak)
        for name, (one, two) in forces.items()
    }


def compute_loads(run: Trajectory, wrenches: dict[str, Wrench] | None = None) -> list[JointLoads]:
    """The loads of every joint that can carry any, in order of declaration."""
    resolve = run.dynamics._resolver(run.p)
    wrenches = find_wrenches(run) if wrenches is None else wrenches
    efforts = run.evaluate(f"{name}.effort" for name in wrenches if run.system.joints[name].n_u == 1)
    found = []
    for name, wrench in wrenches.items():
        joint = run.system.joints[name]
        axis = given_axis(joint, resolve)
        axial = radial = None
        if axis is not None:
            along = wrench.force @ axis
            axial = measure(run.t, along).peak
            radial = measure(run.t, np.linalg.norm(wrench.force - along[:, None] * axis, axis=1)).peak
        values = efforts.get(f"{name}.effort")
        effort = None if values is None else measure(run.t, values)
        unit = "" if values is None else str(run.units(f"{name}.effort"))
        parts = [x * 0.0 if is_zero(x, wrench) else x for x in (wrench.force, wrench.moment)]
        force, moment = (measure(run.t, np.linalg.norm(x, axis=1)) for x in parts)
        found.append(JointLoads(name, joint.kind, wrench.on, force, moment, axial, radial, effort, unit, wrench.unique))
    return found


def describe_sharing(loads: Sequence[JointLoads]) -> str:
    """A sentence on loads of which redundant joints allow others as well; empty where there are none."""
    names = [x.joint for x in loads if not x.unique]
    if not names:
        return ""
    return (
        f"Not unique in every component: {', '.join(names)}. Joints of their loops are redundant, and one "
        "of the ways to share the load is shown."
    )


def is_zero(values: Array, wrench: Wrench) -> bool:
    """Whether a force or moment is nothing but rounding beside the whole load."""
    most = max(float(np.abs(x).max(initial=0.0)) for x in (wrench.force, wrench.moment))
    return not float(np.abs(values).max(initial=0.0)) > 1e-11 * most
