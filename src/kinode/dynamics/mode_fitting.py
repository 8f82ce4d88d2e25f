"""The modes of a state that was given without them: by the signs of speeds, then changed until all fit.

The rules are those of the integrator loops (ode/loops/event_handling.py): a root is violated where it is clearly
negative, or zero and falling; the worst of them ends its mode.  Nothing jumps here: speeds are as they were given.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import Modes, added_loads, find_row
from kinode.model.base.events import TOLERANCE, EventTable, RootEntry
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import Topology

SETTLED, ROOTS, LOADED_ROOTS, JUMP = (Kernel(name) for name in ("settled", "roots", "loaded_roots", "jump"))
TRIES, BY_WORST = 40, 12
SOON = 1e-12  # seconds: where accelerations are given, what rests moves the way that they will move it


def with_modes(kernels: Kernels, kernel: Kernel, point: EvaluationPoint, x: Array) -> EvaluationPoint:
    """The point of a call without z, with the modes that fit; of a batch for each row."""
    if not needs_modes(kernels.topology, kernel):
        return point
    count = len(x) if x.ndim == 2 else point.n_rows
    if count is None:
        return point.replaced(z=_fit(kernels, kernel, point, x))
    rows = [_fit(kernels, kernel, point.row(k), x[k] if x.ndim == 2 else x) for k in range(count)]
    return point.replaced(z=np.array(rows).reshape(count, kernels.topology.n_z))


def needs_modes(topology: Topology, kernel: Kernel) -> bool:
    """Whether a call without z has modes to be fitted."""
    return topology.events is not None and find_row(kernel).modes in (Modes.FITTED, Modes.BY_ACCELERATION)


def check_modes(topology: Topology, kernel: Kernel, z: Array) -> None:
    """Refuse values of modes that are none."""
    if topology.events is not None and find_row(kernel).modes is not Modes.UNUSED:
        topology.events.check_modes(z)


def _fit(kernels: Kernels, kernel: Kernel, point: EvaluationPoint, x: Array) -> Array:
    """z with modes, for one state."""
    row = find_row(kernel)
    if row.modes is Modes.BY_ACCELERATION:
        return kernels.call(SETTLED, point.replaced(u=point.u + SOON * x))
    point = point.replaced(z=kernels.call(SETTLED, point))
    table = kernels.topology.events
    assert table is not None
    m = len(table.roots)
    for tries in range(TRIES if m else 0):
        # loads that are added bear on what can be held
        values = kernels.call(LOADED_ROOTS, point, x) if row.given is added_loads else kernels.call(ROOTS, point)
        k = _violated(table, point.z, values[:m], values[m:], tries)
        if k is None:
            break
        y = kernels.call(JUMP, point, np.eye(m)[k])
        point = point.replaced(z=kernels.topology.layout.split(y)[2])
    return point.z


def _violated(table: EventTable, z: Array, g: Array, rates: Array, tries: int) -> int | None:
    """The event function that is violated most, or after some tries the first."""
    found, worst = None, 0.0
    for k, entry in enumerate(table.roots):
        if entry.at < 0 or z[entry.at] != entry.root.value:
            continue
        bad = 0.0
        if g[k] < -TOLERANCE:
            bad = -g[k]
        elif g[k] <= TOLERANCE and rates[k] < 0.0:
            bad = -TOLERANCE * rates[k] / (1.0 - rates[k])
        if bad > 0.0 and (found is None or (tries < BY_WORST and bad > worst)):
            found, worst = k, bad
    return found


def find_misfit(kernels: Kernels, point: EvaluationPoint) -> RootEntry | None:
    """The mode that a state contradicts most: a diode that should conduct, a gear beyond its play; None if all fit.

    Only what the state tells by itself is looked at: friction and rigid ends depend on what presses.
    """
    table = kernels.topology.events
    if table is None or not table.roots:
        return None
    g = kernels.call(ROOTS, point)[: len(table.roots)]
    joints = kernels.topology.system.joints
    rigid = {name for name, joint in joints.items() if joint.ends is not None and joint.ends.rigid}
    told = (
        (float(x), entry)
        for x, entry in zip(g, table.roots, strict=True)
        if entry.root.by_state and entry.at >= 0 and point.z[entry.at] == entry.root.value and entry.owner not in rigid
    )
    worst = min(told, key=lambda one: one[0], default=None)
    return worst[1] if worst is not None and worst[0] < -TOLERANCE else None


def with_mode(point: EvaluationPoint, entry: RootEntry) -> EvaluationPoint:
    """The point with the mode that begins where an event function of another mode ends."""
    z = point.z.copy()
    z[entry.at] = entry.root.then
    return point.replaced(z=z)


def fit_modes(kernels: Kernels, point: EvaluationPoint) -> EvaluationPoint:
    """The point with modes that do not contradict it."""
    for _ in range(TRIES):
        entry = find_misfit(kernels, point)
        if entry is None:
            break
        point = with_mode(point, entry)
    return point
