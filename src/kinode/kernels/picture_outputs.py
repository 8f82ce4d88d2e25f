"""The result of the kernel ``pictures``: poses, loads and named quantities of one instant, for views that move.

One kernel has them all, so that kinematics and reactions are computed once, and a run is evaluated by one call.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.kernels.kernel_options import PictureOptions
from kinode.kernels.kernel_outputs import evaluate
from kinode.model.base.frames import Frame
from kinode.model.quantity_names import find_quantity
from kinode.multibody.snapshot import Snapshot


def pictures(snapshot: Snapshot, options: PictureOptions) -> list[Scalar]:
    """Position and quaternion of each body; points; loads of each part; rotations; quantities by name; doubt.

    Loads have force, then moment, in world axes, of joints first, then of constraints; a point is where each acts.
    """
    system, outputs = snapshot.system, list[Scalar]()
    for body in system.bodies:
        outputs += evaluate(snapshot, (f"{body}.position", f"{body}.quaternion"))
    for joint in options.joints:
        outputs += evaluate(snapshot, (f"{joint}.child.position",))
    for name, body in options.constraints:
        outputs += [*snapshot.pose(system.constraints[name].places(system)[body]).p]
    for part in options.parts:
        for joint in options.joints:
            moment, force = snapshot.reaction(joint, part, hold=options.support, expressed_in=Frame("world"))
            outputs += [*force, *moment]
        for name, body in options.constraints:
            multipliers = snapshot.holding(name, part, options.support)
            for word in ("force", "moment"):
                outputs += [*_constraint_load(snapshot, f"{name}.on.{body}.{word}", multipliers)]
    for joint in options.joints if options.rotations else ():
        outputs += evaluate(snapshot, (f"{joint}.parent.rotation",))
    outputs += evaluate(snapshot, options.names)
    return outputs if options.support is None else [*outputs, snapshot.statics(options.support).doubt]


def _constraint_load(snapshot: Snapshot, name: str, multipliers: Array) -> Array:
    """The force or moment of a constraint on a body, which is linear in its multipliers."""
    units = np.array(snapshot.unit_wrenches(find_quantity(snapshot.system, name)), dtype=object)
    load: Array = multipliers @ units.reshape(len(multipliers), 3)
    return load
