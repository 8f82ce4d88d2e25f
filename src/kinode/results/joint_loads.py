"""Loads in joints over time: reactions and whole wrenches on either body, about any point, in any axes.

Their summary over a run has the peak, the time of the peak, mean and rms of force and moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.reactions.joint_reactions import depends_on_loops, joint_wrenches, read_request
from kinode.dynamics.reactions.lost_values import is_redundant
from kinode.errors import ArgumentError
from kinode.kernels.kernel_options import ReactionOptions
from kinode.kernels.state import Wrench
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import unknown
from kinode.model.base.frames import given_axis
from kinode.results.drive_sizing import Drives
from kinode.results.run_quantities import IGNORE_OVERFLOW, Measure, measure

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


def reaction(
    run: RunQuantities, joint: str, part: str, on: Any, about: Any, axes: Any, *, whole: bool, hold: Any = None
) -> Wrench:
    """The reaction of a joint, or its whole wrench: force in N and moment in N*m, each (time, 3)."""
    record = find_joint(run, joint)
    body = None
    if on is not None:
        body = str(getattr(on, "name", on))
        if body not in (record.a.body, record.b.body):
            raise ArgumentError(f"on: {joint} joins {record.a.body} and {record.b.body}, not {body}")
    options = read_request(run.dynamics, part, hold, body, about, axes, [record.name], whole)
    return _all(run, options)[record.name]


def reactions(
    run: RunQuantities, joints: list[str], part: str, hold: Any = None, axes: Any = None
) -> dict[str, Wrench]:  # fmt: skip
    """The reactions of several joints, from one compiled function."""
    return _all(run, read_request(run.dynamics, part, hold, None, None, axes, joints, False))


def _all(run: RunQuantities, options: ReactionOptions) -> dict[str, Wrench]:
    """The requested wrenches, with shared loads where joints are redundant."""
    redundant = is_redundant(run.dynamics) and depends_on_loops(options)
    sharing = run.shared(options.part, options.support) if redundant else None
    return joint_wrenches(run.dynamics, run.states, options, sharing)


def find_joint(run: RunQuantities, name: Any) -> Any:
    """The joint of this name; ArgumentError with similar names if there is none."""
    key = getattr(name, "name", name)
    if key not in run.system.joints:
        raise ArgumentError(unknown("no joint is called", str(key), run.system.joints))
    return run.system.joints[key]


def whole_wrenches(run: RunQuantities, joints: list[str], frame: str) -> dict[str, Wrench]:
    """The whole wrenches of several joints on their children, about the origin of a frame and in its axes."""
    return _all(run, read_request(run.dynamics, "total", None, None, frame, frame, joints, True))


LOAD_ROUNDING = 1e-9  # relative to a joint's largest load: smaller values are shown as zero


@dataclass(frozen=True)
class JointLoads:
    """The loads of a joint over a run.

    Attributes
    ----------
    joint, kind, on : str
        The joint, its type, and the body that the load acts on.
    force, moment : Measure
        Magnitudes, N and N*m.
    axial, radial : float or None
        Peaks along and across its axis, N, if it has one.
    effort : Measure or None
        Of a joint with one freedom, in ``effort_unit``: all that reaches the links along the freedom.
    drive : Measure or None
        What its drive gives at the joint, rotor and gear losses included, if it has one.
    unique : bool
        Whether the reactions are unique (False in redundant loops, and where a load is left out).
    shared : str
        How the load of a redundant loop was shared, as in ``Wrench``.
    left_out : tuple of str
        Loads that are not in it: ("tooth force",) at a gear whose teeth are not given.
    """

    joint: str
    kind: str
    on: str
    force: Measure
    moment: Measure
    axial: float | None
    radial: float | None
    effort: Measure | None
    effort_unit: str = ""
    unique: bool = True
    left_out: tuple[str, ...] = ()
    drive: Measure | None = None
    shared: str = ""

    @property
    def driving(self) -> Measure | None:
        """What its drive gives, else its effort."""
        return self.effort if self.drive is None else self.drive


@IGNORE_OVERFLOW
def find_wrenches(run: RunQuantities) -> dict[str, Wrench]:
    """The reactions of all joints except free ones, from one compiled function."""
    joints = [name for name, joint in run.system.joints.items() if joint.kind != "free"]
    return reactions(run, joints, "total") if joints else {}


@IGNORE_OVERFLOW
def compute_parts(run: RunQuantities, wrenches: dict[str, Wrench]) -> dict[str, tuple[float, float]]:
    """Peaks of the static and the kinetic share of each joint's force.

    Empty if the support of a loop is not known, and for large systems, whose static shares take long to compile.
    """
    if not wrenches or is_large(run.dynamics.topology):
        return {}
    try:
        static = reactions(run, list(wrenches), "static")
    except ArgumentError:
        return {}
    peaks = {}
    for name, wrench in wrenches.items():
        forces = (static[name].force, wrench.force - static[name].force)
        of_static, of_kinetic = (measure(run.t, np.linalg.norm(_clean(x, wrench), axis=1)).peak for x in forces)
        peaks[name] = (of_static, of_kinetic)
    return peaks


@IGNORE_OVERFLOW
def compute_loads(run: RunQuantities, wrenches: dict[str, Wrench] | None = None) -> list[JointLoads]:
    """The loads of all joints except free ones, in order of declaration."""
    resolve = run.dynamics.arguments.resolver(run.p)
    wrenches = find_wrenches(run) if wrenches is None else wrenches
    drives, single = Drives(run.system), [name for name in wrenches if run.system.joints[name].n_u == 1]
    driven = [name for name in single if drives.is_driven(name)]
    efforts = run.evaluate([*(f"{name}.effort" for name in single), *(f"{name}.effort.drive" for name in driven)])
    loads = []
    for name, wrench in wrenches.items():
        joint = run.system.joints[name]
        axis = given_axis(joint, resolve)
        axial = radial = None
        if axis is not None:
            along = wrench.force @ axis
            across = wrench.force - along[:, None] * axis
            axial, radial = (measure(run.t, _clean(x, wrench)).peak for x in (along, np.linalg.norm(across, axis=1)))
        values = efforts.get(f"{name}.effort")
        effort = None if values is None else measure(run.t, values)
        unit = "" if values is None else str(run.units(f"{name}.effort"))
        parts = [_clean(x, wrench) for x in (wrench.force, wrench.moment)]
        force, moment = (measure(run.t, np.linalg.norm(x, axis=1)) for x in parts)
        given = measure(run.t, efforts[f"{name}.effort.drive"]) if name in driven else None
        loads.append(
            JointLoads(
                name,
                joint.kind,
                wrench.on,
                force,
                moment,
                axial,
                radial,
                effort,
                unit,
                wrench.unique,
                wrench.left_out,
                given,
                wrench.shared,
            )
        )
    return loads


def describe_loads(loads: Sequence[JointLoads]) -> list[str]:
    """Sentences on loads that are not unique because joints are redundant, and on what is left out of them."""
    names = ", ".join(x.joint for x in loads if x.shared)
    shared = (
        f"Not unique in every component: {names}. Joints of their loops are redundant, and one of the ways to share "
        "the load is shown."
    )
    left_out = describe_left_out({x.joint: x.left_out for x in loads})
    return [words for words in (shared if names else "", left_out) if words]


def describe_left_out(left_out: Mapping[str, tuple[str, ...]]) -> str:
    """A sentence on loads that are left out of the reactions of joints; empty if none is."""
    words = sorted({word for each in left_out.values() for word in each})
    if not words:
        return ""
    names = ", ".join(name for name, each in left_out.items() if each)
    return (
        f"Without {' and '.join(words)}: {names}. Their gears have no pressure_angle, so that it is not known where "
        "the force acts."
    )


def _clean(values: Array, wrench: Wrench) -> Array:
    """The values; zeros if they are rounding errors."""
    return values * 0.0 if is_negligible(values, wrench) else values


def is_negligible(values: Array, wrench: Wrench) -> bool:
    """Whether a force or moment is a rounding error compared to the largest load of the joint."""
    largest = max(float(np.abs(x).max(initial=0.0)) for x in (wrench.force, wrench.moment))
    return not float(np.abs(values).max(initial=0.0)) > LOAD_ROUNDING * largest
